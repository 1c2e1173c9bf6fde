"""An MCP server attends to the schedules of mental models, as the REST server does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.mcp import sdk
from perdure.surfaces.mcp.http import create_app
from perdure.surfaces.mcp.server import run_stdio


def test_a_server_over_http_attends_to_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.surfaces.schedules.SCHEDULE_SECONDS", 0.02)
    asked: list[object] = []
    with Perdure.open(
        tmp_path / "m.db", embedder="none", reranker="none", tagger="rules", require_keys=False
    ) as engine:
        monkeypatch.setattr(engine.models, "refresh_due", lambda: asked.append(1))
        with TestClient(create_app(engine, engine.settings)):
            deadline = time.monotonic() + 10
            while not asked and time.monotonic() < deadline:
                time.sleep(0.02)
    assert asked


def test_a_server_over_stdio_attends_to_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.surfaces.schedules.SCHEDULE_SECONDS", 0.02)
    asked: list[object] = []

    def due() -> None:
        asked.append(1)
        raise RuntimeError("a schedule that fails is looked at again later")

    with Perdure.open(
        tmp_path / "m.db", embedder="none", reranker="none", tagger="rules", require_keys=False
    ) as engine:
        monkeypatch.setattr(engine.models, "refresh_due", due)
        monkeypatch.setattr(sdk._stdio, "stdio_server", _Client(asked))
        run_stdio(engine, None)
    assert len(asked) >= 2


class _Client:
    """A client that goes away once schedules were looked at twice."""

    def __init__(self, asked: list[object]) -> None:
        self._asked = asked

    def __call__(self) -> _Client:
        return self

    async def __aenter__(self) -> tuple[object, object]:
        import anyio

        sender, read = anyio.create_memory_object_stream[object](1)
        write, receiver = anyio.create_memory_object_stream[object](1)
        self._open = (sender, receiver)
        with anyio.fail_after(10):
            while len(self._asked) < 2:
                await anyio.sleep(0.01)
        await sender.aclose()
        return read, write

    async def __aexit__(self, *_: object) -> None:
        for stream in self._open:
            await stream.aclose()
