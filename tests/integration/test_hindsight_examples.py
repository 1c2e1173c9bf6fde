"""Thirteen scripts after Hindsight's documentation, with its published Python client, against `perdure serve` as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.test_cli_serve import started

EXAMPLES = sorted((Path(__file__).parent / "hindsight_examples").glob("example_*.py"))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("hindsight_client")
    with started(tmp_path_factory.mktemp("examples"), "serve", "--open") as (_, address):
        yield address


def test_there_are_thirteen() -> None:
    assert len(EXAMPLES) == 13


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_runs_to_its_end(url: str, script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "HINDSIGHT_API_URL": url},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("passed\n")
