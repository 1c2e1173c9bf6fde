"""A REST server in a thread, for tests that need real HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from perdure import Perdure
from perdure.settings import Settings
from perdure.surfaces.rest.app import make_server

QUICK: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "require_keys": False}


def open_quick(folder: Path, **overrides: Any) -> Perdure:
    """An engine without model files."""
    return Perdure.open(folder / "memory.db", **{**QUICK, **overrides})


@contextmanager
def running(
    engine: Perdure, *, extend: Callable[[FastAPI], None] | None = None, **overrides: Any
) -> Iterator[str]:
    """The base URL of a server over the engine, on a free port."""
    settings: Settings = engine.settings.model_copy(update={"port": 0, **overrides})
    server = make_server(engine, settings, extend)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=40)
        assert not thread.is_alive(), "the server did not stop"


def wait_for(client: Any, bank: str, operation_id: str) -> dict[str, Any]:
    """The operation when it has ended."""
    for _ in range(600):
        found: dict[str, Any] = client.get(f"/v1/default/banks/{bank}/operations/{operation_id}").json()
        if found["status"] not in ("pending", "processing"):
            return found
        time.sleep(0.05)
    raise AssertionError(f"operation {operation_id} did not end")
