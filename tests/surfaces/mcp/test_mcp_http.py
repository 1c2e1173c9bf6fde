"""A real MCP client over streamable HTTP on the loopback address."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from perdure import Perdure, Settings, __version__
from perdure.forget.options import Target
from perdure.surfaces.keys import create_key, revoke_key
from perdure.surfaces.mcp.http import mount
from perdure.surfaces.mcp.tools import Tools
from perdure.surfaces.rest.app import create_app
from tests.surfaces.mcp.mcp_checks import (
    KIB_2,
    check_conversation,
    check_errors,
    check_prompts,
    check_tools,
    check_unknown_bank,
)
from tests.surfaces.mcp.mcp_client import MODES
from tests.surfaces.mcp.mcp_client import connect_http as connected

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
def serving(app: Any) -> Iterator[str]:
    """The app on a port of its own, until the end of the block."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        taken.close()


def app_with_mcp(engine: Perdure, settings: Settings | None = None) -> Any:
    app = create_app(engine, settings)
    mount(app)
    return app


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(
        tmp_path / "memory.db",
        embedder="hashing",
        reranker="none",
        tagger="rules",
        tokens="approximate",
        require_keys=False,
    ) as opened:
        yield opened


def at(engine: Perdure, host: str, **changes: Any) -> Settings:
    return engine.settings.model_copy(update={"host": host, **changes})


@pytest.mark.parametrize("mode", MODES)
def test_a_client_over_http_chooses_the_bank(engine: Perdure, mode: str) -> None:
    async def talk(url: str) -> None:
        async with connected(f"{url}/mcp", mode=mode) as session:
            await check_tools(session, has_bank=True)
            await check_prompts(session)
            await check_conversation(session, {"bank": "work"})
            await check_errors(session)
            await check_unknown_bank(session)

    with serving(app_with_mcp(engine)) as url:
        asyncio.run(talk(url))


@pytest.mark.parametrize("mode", MODES)
def test_a_bank_has_an_endpoint_of_its_own(engine: Perdure, mode: str) -> None:
    async def talk(url: str) -> None:
        async with (
            connected(f"{url}/mcp/home", mode=mode) as home,
            connected(f"{url}/mcp/work%20notes", mode=mode) as work,
        ):
            await check_tools(home, has_bank=False)
            await check_conversation(home, {})
            await home.call_tool("retain", {"content": "Maya plays the cello."})
            found = await work.call_tool("recall", {"query": "Who plays the cello?"})
            assert found.data["bank"] == "work notes"
            assert found.data["memories"] == []

    with serving(app_with_mcp(engine)) as url:
        asyncio.run(talk(url))
    assert [bank.id for bank in engine.banks.list()] == ["home"]


def test_many_calls_at_once_do_not_wait_for_each_other_in_line(engine: Perdure) -> None:
    """Two tools that each wait for the other can only end when the event loop runs them side by side."""
    meeting = threading.Barrier(2, timeout=20)
    original = engine.recall

    def recall(*args: Any, **options: Any) -> Any:
        meeting.wait()
        return original(*args, **options)

    engine.recall = recall  # type: ignore[method-assign]

    async def talk(url: str) -> None:
        async with connected(f"{url}/mcp") as one, connected(f"{url}/mcp") as other:
            results = await asyncio.gather(
                *(session.call_tool("recall", {"query": "cello"}) for session in (one, other))
            )
            assert not any(result.is_error for result in results)

    with serving(app_with_mcp(engine)) as url:
        asyncio.run(talk(url))


@pytest.mark.parametrize("mode", MODES)
def test_keys_open_only_their_banks_and_scopes(engine: Perdure, mode: str) -> None:
    _, reader = create_key(engine, banks=["work"], scopes=["read"])
    _, writer = create_key(engine, banks=["work"], scopes=["read", "write"])

    async def talk(url: str) -> None:
        async with connected(f"{url}/mcp", writer, mode) as session:
            done = await session.call_tool("retain", {"content": "Maya plays the cello."})
            assert done.data["bank"] == "work"
            stranger = await session.call_tool("recall", {"query": "cello", "bank": "home"})
            assert stranger.is_error
            assert "unauthorised" in stranger.text
        async with connected(f"{url}/mcp", reader, mode) as session:
            found = await session.call_tool("recall", {"query": "Who plays the cello?", "bank": "work"})
            assert len(found.data["memories"]) == 1
            for tool, arguments in (
                ("retain", {"content": "x"}),
                ("forget", {"document": "x"}),
                ("correct", {"fact": "x"}),
            ):
                refused = await session.call_tool(tool, {**arguments, "bank": "work"})
                assert refused.is_error
                assert "no write access" in refused.text
        async with connected(f"{url}/mcp/home", writer, mode) as session:
            assert (await session.call_tool("recall", {"query": "cello"})).is_error

    with serving(app_with_mcp(engine)) as url:
        asyncio.run(talk(url))


def test_without_a_valid_key_nobody_gets_in(engine: Perdure) -> None:
    key, secret = create_key(engine)
    with serving(app_with_mcp(engine, at(engine, "0.0.0.0"))) as url, httpx.Client(base_url=url) as http:
        for authorization in ("", "Bearer pdr_x_y", f"Basic {secret}", f"Bearer {secret}x"):
            refused = http.post("/mcp", json=HELLO, headers={**ACCEPT, "Authorization": authorization})
            assert refused.status_code == 401
            assert refused.json()["error"]["code"] == "unauthorised"
            assert refused.headers["www-authenticate"] == "Bearer"
        headers = {**ACCEPT, "Authorization": f"Bearer {secret}"}
        assert http.post("/mcp", json=HELLO, headers=headers).status_code == 200
        revoke_key(engine, key.id)
        deadline = time.monotonic() + 10
        while http.post("/mcp", json=HELLO, headers=headers).status_code == 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_the_server_tells_its_name_version_and_instructions(engine: Perdure) -> None:
    with serving(app_with_mcp(engine)) as url:
        told = httpx.post(f"{url}/mcp", json=HELLO, headers=ACCEPT).json()["result"]
    assert told["serverInfo"] == {"name": "perdure", "version": __version__}
    assert "tools" in told["capabilities"]
    assert "Long-term memory" in told["instructions"]
    assert "call `recall` before" in told["instructions"]
    assert len(told["instructions"].encode()) < KIB_2


def test_mcp_lives_inside_the_rest_app(engine: Perdure) -> None:
    async def talk(url: str) -> None:
        async with connected(f"{url}/mcp/work") as session:
            await check_conversation(session, {})

    with serving(app_with_mcp(engine)) as url:
        asyncio.run(talk(url))
        assert httpx.get(f"{url}/health").status_code == 200


def test_a_person_is_forgotten_by_name(engine: Perdure) -> None:
    engine.retain("default", "Maya lives in Lisbon.")
    engine.retain("default", "Tomás plays the cello.")
    assert Tools(engine).forget(Target(entity_id="maya")).data.forgotten_facts == 1
    assert [fact.text for fact in engine.facts.list("default").facts] == ["Tomás plays the cello."]
