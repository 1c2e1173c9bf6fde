"""The published TypeScript client of Hindsight, installed from npm, against a running server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from perdure.surfaces.keys import create_key
from tests.support.rest_server import open_quick, running

SOURCE = Path(__file__).parent / "js"


def test_the_npm_client(tmp_path: Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path / "js"
    shutil.copytree(SOURCE, folder)
    installed = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--silent"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install the client: {installed.stderr[-300:]}")
    with open_quick(tmp_path, require_keys=True) as engine:
        _, key = create_key(engine, scopes=["admin"])
        with running(engine) as url:
            done = subprocess.run(
                [node, "--test", "client.test.mjs"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
                env={**os.environ, "PERDURE_TEST_URL": url, "PERDURE_TEST_KEY": key},
            )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
