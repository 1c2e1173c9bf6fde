"""What any MCP client may expect of the server, whatever the transport."""

from __future__ import annotations

from typing import Any

from mcp import ClientSession

TOOLS = {"retain", "recall", "reflect", "context", "forget"}


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def check_conversation(session: ClientSession, bank: dict[str, str]) -> None:
    """Remember, recall, answer and forget, as an agent would; `bank` is the argument that names the bank."""
    retained = await session.call_tool(
        "retain", {"content": "Maya plays the cello in Lisbon.", "timestamp": "2024-05-02", **bank}
    )
    assert not retained.isError
    assert retained.structuredContent is not None
    (fact_id,) = retained.structuredContent["fact_ids"]
    assert "cello" in text_of(retained)

    recalled = await session.call_tool("recall", {"query": "Who plays the cello?", **bank})
    assert not recalled.isError
    assert recalled.structuredContent is not None
    assert [memory["id"] for memory in recalled.structuredContent["memories"]] == [fact_id]
    assert text_of(recalled).startswith("<recalled_memory>")
    assert fact_id not in text_of(recalled)
    with_ids = await session.call_tool("recall", {"query": "Who plays the cello?", "with_ids": True, **bank})
    assert fact_id in text_of(with_ids)

    answer = await session.call_tool("reflect", {"query": "Who plays the cello?", **bank})
    assert answer.structuredContent is not None
    assert "[1]" in answer.structuredContent["text"]
    context = await session.call_tool("context", {"query": "Who plays the cello?", **bank})
    assert context.structuredContent is not None
    assert context.structuredContent["context"] == text_of(context)

    nothing = {"query": "Which lattice did quantum chromodynamics need?", **bank}
    silent = await session.call_tool("recall", nothing)
    assert silent.structuredContent is not None
    assert silent.structuredContent["abstained"] is True
    assert "below the floor" in text_of(silent)
    searched = await session.call_tool("recall", {**nothing, "precision": "search"})
    assert searched.structuredContent is not None
    assert [memory["id"] for memory in searched.structuredContent["memories"]] == [fact_id]
    bare = await session.call_tool("context", nothing)
    assert bare.structuredContent is not None
    assert (bare.structuredContent["context"], bare.structuredContent["abstained"]) == ("", True)

    forgotten = await session.call_tool("forget", {"fact_id": fact_id, **bank})
    assert forgotten.structuredContent is not None
    assert forgotten.structuredContent["forgotten_facts"] == 1
    empty = await session.call_tool("recall", {"query": "Who plays the cello?", **bank})
    assert empty.structuredContent is not None
    assert empty.structuredContent["memories"] == []


async def check_tools(session: ClientSession, has_bank: bool) -> None:
    """Names, titles, hints, schemas and descriptions."""
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.title
        assert tool.outputSchema
        assert tool.description
        assert len(tool.description) < 400
        assert ("bank" in tool.inputSchema["properties"]) is has_bank
        assert "ctx" not in tool.inputSchema["properties"]
        assert all("description" in field for field in tool.inputSchema["properties"].values())
    for name in ("recall", "reflect", "context"):
        assert tools[name].annotations.readOnlyHint is True  # type: ignore[union-attr]
    assert tools["forget"].annotations.destructiveHint is True  # type: ignore[union-attr]
    assert tools["retain"].annotations.destructiveHint is False  # type: ignore[union-attr]


async def check_unknown_bank(session: ClientSession) -> None:
    """A misspelt bank is an error; the default one is only empty."""
    for name in ("recall", "reflect", "context"):
        result = await session.call_tool(name, {"query": "Who plays the cello?", "bank": "wrok"})
        assert result.isError, name
        assert text_of(result).startswith("not_found: bank 'wrok'")
        assert not (await session.call_tool(name, {"query": "Who plays the oboe?"})).isError


async def check_errors(session: ClientSession) -> None:
    """Wrong calls are errors of the tool that name the field, and the session lives on."""
    for name, arguments, said in (
        ("recall", {"query": "   "}, "query"),
        ("recall", {"query": "x", "since": "whenever"}, "since"),
        ("recall", {"query": "x", "types": ["rumour"]}, "types"),
        ("recall", {}, "query"),
        ("retain", {"content": ""}, "content"),
        ("retain", {"content": "x", "timestamp": "whenever"}, "timestamp"),
        ("forget", {}, "fact_id, document_id: expected exactly one of them"),
        ("forget", {"fact_id": "nothing"}, "not_found"),
        ("forget", {"document_id": "nothing"}, "not_found"),
        ("recall", {"query": "why " * 10_000}, "query"),
        ("recall", {"query": "x", "max_tokens": -1}, "max_tokens"),
        ("retain", {"content": "Maya plays. " * 20_000}, "content: expected at most"),
        (
            "recall",
            {"query": "x", "since": "2025-01-01", "until": "2024-01-01"},
            "since: expected a date not after until",
        ),
        ("recall", {"query": "x", "max_token": 5}, "max_token: expected one of"),
        ("retain", {"content": 5}, "content: Input should be a valid string"),
        ("retain", {"content": "x", "document_id": ""}, "document_id"),
        ("retain", {"content": "x", "bank": ""}, "bank: expected"),
        ("dream", {}, "tool 'dream' does not exist"),
    ):
        result = await session.call_tool(name, arguments)
        assert result.isError, (name, arguments)
        assert said in text_of(result), (name, arguments, text_of(result))
        assert text_of(result).startswith(("invalid_input: ", "not_found: ")), text_of(result)
    assert len((await session.list_tools()).tools) == len(TOOLS)
