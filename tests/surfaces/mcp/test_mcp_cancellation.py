"""Nobody waits for a client that left: a reflect under way is called off, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from perdure import Perdure
from perdure.errors import Cancelled
from tests.surfaces.mcp.mcp_client import LEGACY, MODERN, MODES
from tests.surfaces.mcp.test_mcp_http import ACCEPT, HELLO, app_with_mcp, serving
from tests.surfaces.mcp.test_mcp_resources import QUICK

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}


def reflect_call(mode: str, tool: str = "reflect") -> dict[str, Any]:
    params: dict[str, Any] = {"name": tool, "arguments": {"query": "Who plays the cello?"}}
    meta = {"_meta": ENVELOPE} if mode == MODERN else {}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {**params, **meta}}


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


@contextmanager
def asked_over_stdio(folder: Path, mode: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A server whose reflect is under way, and the file that tells how it is."""
    told = folder / "told"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.surfaces.mcp.stdio_worker", str(folder / "memory.db"), str(told)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    opening = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}] if mode == LEGACY else []
    try:
        tell(server, *opening, reflect_call(mode))
        assert wait_until(told.exists, 90), "reflect did not begin"
        yield server, told
    finally:
        server.kill()
        server.__exit__(None, None, None)


def tell(server: subprocess.Popen[str], *messages: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
    server.stdin.flush()


@pytest.mark.parametrize("mode", MODES)
def test_a_client_over_stdio_calls_a_reflect_off(tmp_path: Path, mode: str) -> None:
    with asked_over_stdio(tmp_path, mode) as (server, told):
        params = {"requestId": 2, "reason": "no longer needed"}
        meta = {"_meta": ENVELOPE} if mode == MODERN else {}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {**params, **meta}}
        tell(server, cancel)
        assert wait_until(lambda: told.read_text() == "cancelled")
        assert server.poll() is None


class Endless:
    """A reflect that goes on until it is called off."""

    def __init__(self, engine: Perdure) -> None:
        self.begun, self.cancelled = threading.Event(), threading.Event()
        engine.reflect = self  # type: ignore[method-assign]

    def __call__(self, *_: Any, cancelled: Callable[[], bool], **__: Any) -> Any:
        self.begun.set()
        if wait_until(cancelled):
            self.cancelled.set()
        raise Cancelled("the client left")


@pytest.mark.parametrize("path", ["/mcp/b", "/hindsight/mcp/b"])
@pytest.mark.parametrize("mode", MODES)
def test_a_client_over_http_that_leaves_calls_its_reflect_off(tmp_path: Path, mode: str, path: str) -> None:
    headers = dict(ACCEPT)
    if mode == MODERN:
        headers |= {"Mcp-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "reflect"}

    async def leave(url: str, endless: Endless) -> None:
        async with httpx.AsyncClient(timeout=60) as http:
            asking = asyncio.create_task(http.post(f"{url}{path}", json=reflect_call(mode), headers=headers))
            assert await asyncio.to_thread(endless.begun.wait, 30), await asking
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        assert await asyncio.to_thread(endless.cancelled.wait, 30)

    with Perdure.open(tmp_path / "memory.db", **QUICK) as engine:  # type: ignore[arg-type]
        endless = Endless(engine)
        with serving(app_with_mcp(engine)) as url:
            asyncio.run(leave(url, endless))
