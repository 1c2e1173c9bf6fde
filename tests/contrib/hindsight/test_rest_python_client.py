"""The published Python client of Hindsight, installed from PyPI, against a running server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.surfaces.keys import create_key
from tests.support.rest_server import open_quick, running

SESSION = Path(__file__).parent / "hindsight_python_client.py"


def test_the_python_client(tmp_path: Path) -> None:
    pytest.importorskip("hindsight_client")
    with open_quick(tmp_path, require_keys=True) as engine:
        _, key = create_key(engine, scopes=["admin"])
        with running(engine) as url:
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-c",
                    os.devnull,
                    "-p",
                    "no:cacheprovider",
                    str(SESSION),
                ],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
                env={**os.environ, "PERDURE_TEST_URL": url, "PERDURE_TEST_KEY": key},
            )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
