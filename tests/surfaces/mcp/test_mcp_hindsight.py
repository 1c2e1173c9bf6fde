"""Hindsight's MCP tools at /hindsight/mcp, called by a real client; names and shapes are those of Hindsight 1.1.0."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.domain.audit import Transport
from perdure.surfaces.keys import create_key
from perdure.surfaces.mcp.http import mount
from perdure.surfaces.rest.app import create_app
from tests.surfaces.mcp.mcp_client import MODES, ProtocolError, Session, connect_http
from tests.surfaces.mcp.test_mcp_http import serving
from tests.surfaces.mcp.test_mcp_resources import QUICK

BANK_TOOLS = set(
    "retain sync_retain recall reflect list_mental_models get_mental_model create_mental_model update_mental_model "
    "delete_mental_model refresh_mental_model clear_mental_model list_directives create_directive delete_directive "
    "list_memories get_memory update_memory invalidate_memory list_documents get_document delete_document list_operations "
    "get_operation cancel_operation list_tags get_bank update_bank delete_bank clear_memories get_knowledge_base_tree "
    "search_knowledge_base get_knowledge_page create_knowledge_folder create_knowledge_page update_knowledge_node "
    "delete_knowledge_node".split()
)
ALL_TOOLS = BANK_TOOLS | {"list_banks", "create_bank", "get_bank_stats"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "memory.db", **QUICK) as opened:  # type: ignore[arg-type]
        yield opened


@pytest.fixture
def url(engine: Perdure) -> Iterator[str]:
    app = create_app(engine)
    mount(app)
    with serving(app) as address:
        yield f"{address}/hindsight/mcp"


async def told(session: Session, tool: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, answer.text
    assert "error" not in answer.data, answer.text
    return answer.data


@pytest.mark.parametrize("mode", MODES)
def test_the_endpoint_of_all_banks_has_the_names_of_hindsight(url: str, mode: str) -> None:
    async def talk() -> None:
        async with connect_http(f"{url}/", mode=mode) as session:
            tools = await session.list_tools()
            assert set(tools) == ALL_TOOLS
            for name, tool in tools.items():
                assert ("bank_id" in tool["inputSchema"].get("properties", {})) is (name != "list_banks")
                assert len(tool["description"].encode()) < 2048
            created = await told(session, "create_bank", bank_id="b", name="Bees", mission="Keep bees")
            assert (created["bank_id"], created["name"], created["mission"]) == ("b", "Bees", "Keep bees")
            assert "disposition" in created
            stored = await told(
                session, "sync_retain", content="Maya keeps bees in Lisbon.", bank_id="b", reasoning="x"
            )
            assert stored["status"] == "completed"
            (memory_id,) = stored["memory_ids"]
            later = await told(
                session, "retain", content="Ruben plays the oboe.", tags='["music"]', bank_id="b"
            )
            assert later["status"] == "accepted"
            banks = await told(session, "list_banks")
            assert [(bank["bank_id"], bank["name"]) for bank in banks["banks"]] == [("b", "Bees")]
            recalled = await told(session, "recall", query="Who keeps bees?", bank_id="b")
            assert recalled["results"][0]["id"] == memory_id
            assert (await told(session, "get_bank_stats", bank_id="b"))["bank_id"] == "b"

    asyncio.run(talk())


def test_every_tool_of_a_bank_answers(engine: Perdure, url: str) -> None:
    async def talk() -> None:
        async with connect_http(f"{url}/b") as session:
            tools = await session.list_tools()
            assert set(tools) == BANK_TOOLS
            assert all("bank_id" not in tool["inputSchema"].get("properties", {}) for tool in tools.values())
            said = {"content": "Maya keeps bees in Lisbon.", "document_id": "notes/one", "tags": ["bees"]}
            (memory_id,) = (await told(session, "sync_retain", **said))["memory_ids"]
            operation = (await told(session, "retain", content="Maya sings."))["operation_id"]
            assert (await told(session, "get_operation", operation_id=operation))["operation_id"] == operation
            await asyncio.to_thread(engine.operations.get, "b", operation, wait=30)
            assert (await told(session, "list_operations"))["operations"][0]["id"] == operation
            assert (await told(session, "recall", query="Who keeps bees?", include_entities=True))["results"]
            answer = await told(session, "reflect", query="Who keeps bees?", include_based_on=True)
            assert answer["based_on"]["memories"]
            assert (await told(session, "get_memory", memory_id=memory_id))["id"] == memory_id
            assert (await told(session, "list_memories", q="bees"))["total"] == 1
            assert (await told(session, "list_tags"))["items"] == [{"tag": "bees", "count": 1}]
            assert (await told(session, "list_documents", q="notes"))["items"][0]["id"] == "notes/one"
            document = await told(session, "get_document", document_id="notes/one")
            assert document["original_text"] == said["content"]
            gone = await told(session, "invalidate_memory", memory_id=memory_id, reason="a mix-up")
            assert gone["state"] == "invalidated"
            assert (await told(session, "invalidate_memory", memory_id=memory_id, restore=True))[
                "state"
            ] == "valid"
            changed = await told(
                session, "update_memory", memory_id=memory_id, text="Maya keeps goats in Lisbon."
            )
            assert changed["text"] == "Maya keeps goats in Lisbon."
            await check_models(session)
            await check_knowledge(session)
            rule = await told(session, "create_directive", name="short", content="Answer shortly.")
            assert [one["id"] for one in (await told(session, "list_directives"))["items"]] == [rule["id"]]
            await told(session, "delete_directive", directive_id=rule["id"])
            assert (await told(session, "update_bank", name="Goats"))["name"] == "Goats"
            assert (await told(session, "get_bank"))["name"] == "Goats"
            assert (await told(session, "delete_document", document_id="notes/one"))["status"] == "deleted"
            assert (await told(session, "clear_memories"))["status"] == "cleared"
            assert (await told(session, "delete_bank"))["status"] == "deleted"

    asyncio.run(talk())
    assert engine.banks.list() == []


async def check_models(session: Session) -> None:
    created = await told(
        session,
        "create_mental_model",
        name="Animals",
        source_query="Which animals?",
        mental_model_id="animals",
    )
    assert (created["mental_model_id"], created["status"]) == ("animals", "created")
    assert [model["id"] for model in (await told(session, "list_mental_models"))["items"]] == ["animals"]
    assert (await told(session, "update_mental_model", mental_model_id="animals", name="Beasts"))[
        "name"
    ] == "Beasts"
    queued = await told(session, "refresh_mental_model", mental_model_id="animals")
    assert queued["status"] == "queued"
    assert (await told(session, "clear_mental_model", mental_model_id="animals"))["status"] == "cleared"
    assert (await told(session, "get_mental_model", mental_model_id="animals", detail="metadata"))[
        "id"
    ] == "animals"
    assert (await told(session, "delete_mental_model", mental_model_id="animals"))["status"] == "deleted"


async def check_knowledge(session: Session) -> None:
    folder = await told(session, "create_knowledge_folder", name="Farm")
    page = await told(
        session, "create_knowledge_page", name="Goats", source_query="Which goats?", parent_id=folder["id"]
    )
    tree = await told(session, "get_knowledge_base_tree")
    assert [root["name"] for root in tree["roots"]] == ["Farm"]
    assert "markdown" in await told(session, "get_knowledge_page", page_id=page["page_id"])
    assert "results" in await told(session, "search_knowledge_base", query="goats")
    moved = await told(
        session, "update_knowledge_node", node_id=page["page_id"], name="All goats", parent_id=""
    )
    assert moved["name"] == "All goats"
    for node in (page["page_id"], folder["id"]):
        assert (await told(session, "delete_knowledge_node", node_id=node))["status"] == "deleted"
    cancelled = await session.call_tool("cancel_operation", {"operation_id": "none"})
    assert "does not exist" in cancelled.data["error"]


def test_errors_name_the_field_and_keep_the_shape(url: str) -> None:
    async def talk() -> None:
        async with connect_http(f"{url}/b") as session:
            missing = await session.call_tool("get_memory", {"memory_id": "nothing"})
            assert "'nothing'" in missing.data["error"]
            empty = await session.call_tool("recall", {"query": " "})
            assert "query" in empty.data["error"]
            assert empty.data["results"] == []
            unsaid = await session.call_tool("sync_retain", {"content": ""})
            assert unsaid.data["status"] == "error"
            for name, arguments, said in (
                ("recall", {}, "query: expected a value"),
                ("recall", {"query": "x", "budget": "huge"}, "budget"),
                ("get_memory", {"memory_id": "x/history"}, "without slashes"),
            ):
                wrong = await session.call_tool(name, arguments)
                assert wrong.is_error
                assert said in wrong.text
            with pytest.raises(ProtocolError, match="tool 'dream'"):
                await session.call_tool("dream", {})

    asyncio.run(talk())


def test_keys_and_the_audit_log_hold_for_these_tools_too(engine: Perdure, url: str) -> None:
    engine.banks.configure("mine", settings={"audit_log_enabled": True})
    engine.banks.configure("other")
    _, reader = create_key(engine, banks=["mine"], scopes=["read"])

    async def talk() -> None:
        async with connect_http(url, reader) as session:
            assert [bank["bank_id"] for bank in (await told(session, "list_banks"))["banks"]] == ["mine"]
            assert (await told(session, "recall", query="bees"))["results"] == []
            for name, arguments in (
                ("sync_retain", {"content": "x"}),
                ("delete_bank", {}),
                ("recall", {"query": "bees", "bank_id": "other"}),
            ):
                refused = await session.call_tool(name, arguments)
                assert "access" in refused.text, name

    asyncio.run(talk())
    assert [(entry.action, entry.transport) for entry in engine.audit.list("mine")] == [
        ("recall", Transport.MCP)
    ]
