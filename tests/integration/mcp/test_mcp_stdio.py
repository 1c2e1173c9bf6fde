"""A real MCP client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.integration.mcp.mcp_checks import check_conversation, check_errors, check_tools

QUICK = {
    "PERDURE_EMBEDDER": "hashing",
    "PERDURE_RERANKER": "none",
    "PERDURE_TAGGER": "rules",
    "PERDURE_TOKENS": "approximate",
}


@asynccontextmanager
async def connected(folder: Path, *options: str) -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "perdure.surfaces.cli.main", "mcp", "--database", str(folder / "memory.db"), *options],
        env={**os.environ, **QUICK},
        cwd=folder,
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


def test_a_client_over_stdio_chooses_the_bank(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path) as session:
            await check_tools(session, has_bank=True)
            await check_conversation(session, {"bank": "work"})
            await check_errors(session)

    asyncio.run(talk())


def test_a_server_for_one_bank_hides_the_argument_and_keeps_to_it(tmp_path: Path) -> None:
    async def talk() -> None:
        async with connected(tmp_path, "--bank", "solo") as session:
            await check_tools(session, has_bank=False)
            await check_conversation(session, {})
            retained = await session.call_tool("retain", {"content": "Ruben plays the oboe.", "bank": "other"})
            assert retained.isError or (retained.structuredContent or {})["bank"] == "solo"

    asyncio.run(talk())
