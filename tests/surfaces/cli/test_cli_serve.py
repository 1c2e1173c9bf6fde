"""`perdure serve` as a user starts and stops it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.surfaces.cli.conftest import QUICK

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@contextmanager
def started(folder: Path, *args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process and its address; killed at the end if it still runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "perdure.surfaces.cli.main", *args, "--port", str(port)],
        cwd=folder, env={**os.environ, **QUICK}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        _await(process, url)
        yield process, url
    finally:
        process.kill()
        process.communicate()


def _await(process: subprocess.Popen[str], url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(url)
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError(
        f"not serving: {process.communicate()[1] if process.poll() is not None else 'too slow'}"
    )


def test_serve_answers_rest_and_mcp_and_ends_when_told(tmp_path: Path) -> None:
    with started(tmp_path, "serve", "--open", "--json") as (process, url):
        assert httpx.get(f"{url}/health").status_code == 200
        hello = httpx.post(f"{url}/mcp/work", json=HELLO, headers=ACCEPT)
        assert hello.json()["result"]["serverInfo"]["name"] == "perdure"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert json.loads(out)["mcp"] == f"{url}/mcp"
    assert process.returncode in (0, 130)
    assert "Traceback" not in err


def test_a_server_that_is_terminated_closes_its_database(tmp_path: Path) -> None:
    with started(tmp_path, "serve", "--open") as (process, url):
        said = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "retain", "arguments": {"content": "Maya plays the cello."}}}  # fmt: skip
        assert httpx.post(f"{url}/mcp", json=said, headers=ACCEPT, timeout=30).status_code == 200
        assert (tmp_path / "perdure.db-wal").exists()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "Traceback" not in err
    assert not (tmp_path / "perdure.db-wal").exists()


def test_a_public_address_needs_a_key(cli: Any) -> None:
    ran = cli("serve", "--host", "0.0.0.0")
    assert ran.code == 1
    assert "perdure keys create" in ran.err
