"""Schemathesis over the served OpenAPI: whatever is sent, the server does not fail and answers as it says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.rest_server import open_quick, running

pytest.importorskip("schemathesis")
PROGRAM = Path(sys.executable).parent / "schemathesis"
CHECKS = "not_a_server_error,response_schema_conformance,status_code_conformance,content_type_conformance"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with open_quick(tmp_path) as engine:
        engine.retain("0", "Judy Marsh grows roses.", document_id="0", tags=["0"])
        with running(engine) as url:
            yield url


def fuzz(url: str, folder: Path, *options: str) -> None:
    command = [str(PROGRAM), "run", f"{url}/openapi.json", "--checks", CHECKS, "--no-color", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_no_request_breaks_the_server(url: str, tmp_path: Path) -> None:
    fuzz(url, tmp_path, "--phases", "fuzzing", "--max-examples", "5", "--seed", "1")


@pytest.mark.long
def test_no_request_breaks_the_server_with_many_examples(url: str, tmp_path: Path) -> None:
    fuzz(url, tmp_path, "--max-examples", "100")
