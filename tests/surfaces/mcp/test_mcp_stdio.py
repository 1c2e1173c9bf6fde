"""A real MCP client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.surfaces.mcp.mcp_checks import (
    check_conversation,
    check_errors,
    check_prompts,
    check_tools,
    check_unknown_bank,
)
from tests.surfaces.mcp.mcp_client import LEGACY, MODES, Session, connect_stdio

QUICK = {
    "PERDURE_EMBEDDER": "hashing",
    "PERDURE_RERANKER": "none",
    "PERDURE_TAGGER": "rules",
    "PERDURE_TOKENS": "approximate",
}


@asynccontextmanager
async def connected(
    folder: Path, *options: str, mode: str = LEGACY, environment: dict[str, str] | None = None
) -> AsyncIterator[Session]:
    command = ["-m", "perdure.surfaces.cli.main", "mcp", "--database", str(folder / "memory.db"), *options]
    variables = {**os.environ, **QUICK, "CLAUDE_PROJECT_DIR": "", **(environment or {})}
    async with connect_stdio(sys.executable, command, mode, env=variables, cwd=folder) as session:
        yield session


@pytest.mark.parametrize("mode", MODES)
def test_a_client_over_stdio_chooses_the_bank(tmp_path: Path, mode: str) -> None:
    async def talk() -> None:
        async with connected(tmp_path, mode=mode) as session:
            await check_tools(session, has_bank=True)
            await check_prompts(session)
            await check_conversation(session, {"bank": "work"})
            await check_errors(session)
            await check_unknown_bank(session)

    asyncio.run(talk())


def test_what_is_no_message_does_not_end_the_server(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lone = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"retain","arguments":{"content":"\\ud800"}}}'
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "not JSON at all",
        lone,
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "no/such/method"}),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}),
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "perdure.surfaces.cli.main", "mcp", "--database", str(tmp_path / "memory.db")],
        env={**os.environ, **QUICK}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("\n".join(lines) + "\n")
        server.stdin.flush()
        answered: dict[int, dict[str, object]] = {}
        while 4 not in answered:
            line = server.stdout.readline()
            assert line, "the server ended"
            message = json.loads(line)
            if message.get("id") is not None:
                answered[message["id"]] = message
        server.stdin.close()
        assert server.wait(timeout=30) == 0
    assert "error" in answered[3]
    assert "tools" in answered[4]["result"]  # type: ignore[operator]


@pytest.mark.parametrize("mode", MODES)
def test_a_server_for_one_bank_hides_the_argument_and_keeps_to_it(tmp_path: Path, mode: str) -> None:
    async def talk() -> None:
        async with connected(tmp_path, "--bank", "solo", mode=mode) as session:
            await check_tools(session, has_bank=False)
            await check_conversation(session, {})
            retained = await session.call_tool(
                "retain", {"content": "Ruben plays the oboe.", "bank": "other"}
            )
            assert retained.is_error
            assert retained.text.startswith("invalid_input: bank: expected one of")
            await session.call_tool("retain", {"content": "Ruben plays the oboe."})
            tagged = await session.call_tool("recall", {"query": "Who plays the oboe?", "tags": ["music"]})
            assert tagged.data["memories"] == []

    asyncio.run(talk())
