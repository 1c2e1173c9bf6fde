"""What any MCP client may expect of the server, whatever the transport."""

from __future__ import annotations

import pytest

from tests.surfaces.mcp.mcp_client import ProtocolError, Session

TOOLS = ["recall", "retain", "reflect", "recent", "correct", "forget"]
KIB_2 = 2048
"""Claude Code cuts descriptions and instructions there."""


async def check_conversation(session: Session, bank: dict[str, str]) -> None:
    """Remember, recall, answer, correct and forget, as an agent would; `bank` is the argument that names the bank."""
    said = {
        "content": "Maya plays the cello in Lisbon.",
        "timestamp": "2024-05-02",
        "tags": '["music"]',
        **bank,
    }
    retained = await session.call_tool("retain", said)
    assert not retained.is_error, retained.text
    (fact_id,) = retained.data["fact_ids"]
    assert "cello" in retained.text

    recalled = await session.call_tool("recall", {"query": "Who plays the cello?", "tags": ["music"], **bank})
    assert not recalled.is_error, recalled.text
    assert [memory["id"] for memory in recalled.data["memories"]] == [fact_id]
    assert recalled.text.startswith("<recalled_memory>")
    assert f"evidence: {recalled.data['evidence']}" in recalled.text
    assert fact_id not in recalled.text
    with_ids = await session.call_tool("recall", {"query": "Who plays the cello?", "with_ids": True, **bank})
    assert fact_id in with_ids.text

    answer = await session.call_tool("reflect", {"query": "Who plays the cello?", **bank})
    assert "[1]" in answer.data["text"]

    nothing = {"query": "Which lattice did quantum chromodynamics need?", **bank}
    silent = await session.call_tool("recall", nothing)
    assert silent.data["abstained"] is True
    assert "below the floor" in silent.text
    searched = await session.call_tool("recall", {**nothing, "precision": "search"})
    assert [memory["id"] for memory in searched.data["memories"]] == [fact_id]

    recent = await session.call_tool("recent", {"about": "maya", **bank})
    assert [memory["id"] for memory in recent.data["memories"]] == [fact_id]
    assert "Maya plays the cello in Lisbon." in recent.text.splitlines()[2]
    assert fact_id in (await session.call_tool("recent", {"with_ids": True, **bank})).text
    assert (await session.call_tool("recent", {"tags": ["music"], **bank})).data["total"] == 1
    assert (await session.call_tool("recent", {"types": ["opinion"], **bank})).data["total"] == 0
    for until, total in (("2024-05-01", 0), ("2024-05-02", 1)):
        timeline = await session.call_tool("recent", {"since": "2024-05-01", "until": until, **bank})
        assert timeline.data["total"] == total

    mended = await session.call_tool("correct", {"fact": fact_id, "text": "Maya plays the viola.", **bank})
    assert not mended.is_error, mended.text
    assert "- now: Maya plays the viola." in mended.text
    fact_id = mended.data["new_fact_id"]
    viola = await session.call_tool("recall", {"query": "Who plays the viola?", **bank})
    assert [memory["id"] for memory in viola.data["memories"]] == [fact_id]
    oboe = {"query": "Who plays the oboe?", **bank}
    await session.call_tool("retain", {"content": "Ruben plays the oboe.", **bank})
    wrong = (await session.call_tool("recall", oboe)).data["memories"][0]["id"]
    declared = await session.call_tool("correct", {"fact": wrong, "reason": "a mix-up", **bank})
    assert declared.data.get("new_fact_id") is None
    memories = (await session.call_tool("recall", {**oboe, "precision": "search"})).data["memories"]
    assert [memory["id"] for memory in memories] == [fact_id]

    await check_lines(session, bank)
    forgotten = await session.call_tool("forget", {"fact": fact_id, **bank})
    assert forgotten.data["forgotten_facts"] == 2  # with its earlier wording
    empty = await session.call_tool("recall", {"query": "Who plays the viola?", **bank})
    assert empty.data["memories"] == []


async def check_lines(session: Session, bank: dict[str, str]) -> None:
    """A fact is named by its line as it was told, whatever stands around its words, and never by a part of them."""
    said = {"content": "Noor keeps bees.", "timestamp": "2023-07-01", **bank}
    (noor,) = (await session.call_tool("retain", said)).data["fact_ids"]
    told = await session.call_tool("recall", {"query": "Who keeps bees?", **bank})
    (line,) = [one for one in told.text.splitlines() if "bees" in one]
    assert line != "Noor keeps bees."
    part = await session.call_tool("correct", {"fact": "Noor keeps", "text": "Noor keeps goats.", **bank})
    assert part.text.startswith("invalid_input: fact: ")
    mended = await session.call_tool("correct", {"fact": line, "text": "Noor keeps goats.", **bank})
    assert not mended.is_error, mended.text
    assert mended.data["fact_id"] == noor
    gone = await session.call_tool("forget", {"fact": "noor keeps  goats", **bank})
    assert gone.data["forgotten_facts"] == 2  # with its earlier wording


async def check_tools(session: Session, has_bank: bool) -> None:
    """Names in order, titles, hints, schemas and descriptions."""
    tools = await session.list_tools()
    assert list(tools) == TOOLS
    for tool in tools.values():
        assert tool["title"]
        assert tool["outputSchema"]
        assert 80 < len(tool["description"].encode()) < KIB_2
        fields = tool["inputSchema"]["properties"]
        assert ("bank" in fields) is has_bank
        assert all("description" in field for field in fields.values())
        assert tool["annotations"]["openWorldHint"] is False
    reading = {name for name, tool in tools.items() if tool["annotations"]["readOnlyHint"]}
    assert reading == {"recall", "reflect", "recent"}
    assert tools["forget"]["annotations"]["destructiveHint"] is True
    assert tools["retain"]["annotations"]["destructiveHint"] is False
    loaded = {name for name, tool in tools.items() if tool.get("_meta", {}).get("anthropic/alwaysLoad")}
    assert loaded == {"recall", "retain"}


async def check_prompts(session: Session) -> None:
    """What a user picks from a menu has what memory holds in it, fenced."""
    prompts = await session.list_prompts()
    assert set(prompts) == {"about_me", "about", "remember_session"}
    assert prompts["about"]["arguments"][0]["required"] is True
    assert "`retain`" in await session.get_prompt("remember_session")
    for name, arguments, field in (
        ("about", None, "topic"), ("about", {"topic": " "}, "topic"), ("about_me", {"topic": "x"}, "topic"), ("dream", None, "dream"),
    ):  # fmt: skip
        with pytest.raises(ProtocolError, match=field):
            await session.get_prompt(name, arguments)


async def check_unknown_bank(session: Session) -> None:
    """A misspelt bank is an error; the default one is only empty."""
    for name in ("recall", "reflect"):
        result = await session.call_tool(name, {"query": "Who plays the cello?", "bank": "wrok"})
        assert result.is_error, name
        assert result.text.startswith("not_found: bank 'wrok'")
        assert not (await session.call_tool(name, {"query": "Who plays the oboe?"})).is_error


async def check_errors(session: Session) -> None:
    """Wrong calls are errors of the tool that name the field, and the session lives on."""
    for name, arguments, said in (
        ("recall", {"query": "   "}, "query"),
        ("recall", {"query": "x", "since": "whenever"}, "since"),
        ("recall", {"query": "x", "types": ["rumour"]}, "types"),
        ("recall", {}, "query"),
        ("retain", {"content": ""}, "content"),
        ("retain", {"content": "x", "timestamp": "whenever"}, "timestamp"),
        ("forget", {}, "forget: expected exactly one of"),
        ("forget", {"document": "x", "fact": "y"}, "forget: expected exactly one of"),
        ("forget", {"fact": "nobody ever said this"}, "fact: expected the whole line of a fact"),
        ("forget", {"document": "nothing"}, "not_found"),
        ("forget", {"entity": "nobody at all"}, "not_found"),
        ("forget", {"everything": True}, "everything: expected one of"),
        ("recall", {"query": "why " * 10_000}, "query"),
        ("recall", {"query": "x", "max_tokens": -1}, "max_tokens"),
        ("retain", {"content": "Maya plays. " * 20_000}, "content: expected at most"),
        (
            "recall",
            {"query": "x", "since": "2025-01-01", "until": "2024-01-01"},
            "since: expected a date not after until",
        ),
        ("recall", {"query": "x", "max_token": 5}, "max_token: expected one of"),
        ("retain", {"content": 5}, "content: expected a valid string"),
        ("retain", {"content": "x", "document_id": ""}, "document_id"),
        ("retain", {"content": "x", "bank": ""}, "bank: expected"),
        ("recent", {"limit": -1}, "limit: expected greater than or equal to 0"),
        ("recent", {"limit": 101}, "limit: expected at most 100"),
        ("recent", {"about": "nobody at all"}, "entity 'nobody at all'"),
        ("recent", {"since": "whenever"}, "since"),
        ("correct", {"text": "x"}, "fact: expected a value"),
        ("correct", {"fact": " ", "text": "x"}, "fact: expected the whole line of a fact"),
        ("correct", {"fact": "nothing", "text": "x", "reason": "y"}, "reason: expected no text"),
        ("recall", {"query": "x", "tags": [5]}, "tags"),
    ):
        result = await session.call_tool(name, arguments)
        assert result.is_error, (name, arguments)
        assert said in result.text, (name, arguments, result.text)
        assert result.text.startswith(("invalid_input: ", "not_found: ")), result.text
    assert list(await session.list_tools()) == TOOLS
    with pytest.raises(ProtocolError, match="tool 'dream' does not exist"):
        await session.call_tool("dream", {})
