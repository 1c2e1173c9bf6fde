"""The published Python client of Hindsight, unmodified; run by test_rest_python_client in a process of its own.

The client leaves event loops and sockets to the garbage collector, which the suite's strict warnings do not forgive.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hindsight_client
import pytest

ADDRESS = (os.environ["PERDURE_TEST_URL"], os.environ["PERDURE_TEST_KEY"])

TAG_GROUPS = find_spec("hindsight_client_api.models.recall_request_tag_groups_inner") is not None
"""The client 0.9.2 was published without the module that its own tag groups need."""

ITEMS = [
    {
        "content": "Alice Johnson works at Google as a software engineer.",
        "tags": ["work"],
        "document_id": "d1",
    },
    {"content": "Bob Smith is a researcher at OpenAI.", "context": "colleagues", "metadata": {"via": "mail"}},
    {"content": "Eve Miller ran a marathon.", "timestamp": datetime(2024, 10, 15)},
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with hindsight_client.Hindsight(base_url=ADDRESS[0], api_key=ADDRESS[1]) as client:
        client.retain_batch(bank_id="team", items=ITEMS, retain_async=False)
        yield client


def wait(work: Coroutine[Any, Any, Any]) -> Any:
    """The low-level API is asynchronous; the client's own loop is the one its connections belong to."""
    from hindsight_client.hindsight_client import _run_async

    return _run_async(work)


def test_banks(client: Any) -> None:
    made = client.create_bank(bank_id="b1", name="First", mission="Help", disposition_empathy=5)
    assert (made.bank_id, made.name, made.mission, made.disposition.empathy) == ("b1", "First", "Help", 5)
    assert client.set_mission("b1", "Help more").mission == "Help more"
    assert "b1" in [bank.bank_id for bank in wait(client.banks.list_banks()).banks]
    config = client.update_bank_config("b1", enable_graph_retrieval=False)
    assert config["overrides"]["enable_graph_retrieval"] is False
    assert client.get_bank_config("b1")["config"]["enable_graph_retrieval"] is False
    assert client.reset_bank_config("b1")["overrides"] == {}
    assert client.delete_bank("b1").success is True


def test_retain_one_batch_and_later(client: Any) -> None:
    one = client.retain(
        "kept", "Carol Brown likes tea.", document_id="tea", tags=["drinks"], context="kitchen"
    )
    assert (one.success, one.items_count, one.var_async) == (True, 1, False)
    batch = client.retain_batch("kept", ITEMS, document_tags=["batch"])
    assert batch.items_count == 3
    timeless = client.retain("kept", "Water boils at 100 degrees.", timestamp="unset")
    assert timeless.success is True
    later = client.retain_batch("kept", [{"content": "Dan Green likes coffee."}], retain_async=True)
    assert later.var_async is True
    for _ in range(400):
        status = wait(client.operations.get_operation_status("kept", later.operation_id))
        if status.status in ("completed", "failed"):
            break
        time.sleep(0.05)
    assert status.status == "completed"
    assert wait(client.operations.list_operations("kept")).total == 1


def test_recall_with_every_option(client: Any) -> None:
    response = client.recall(
        bank_id="team",
        query="Where does Alice Johnson work?",
        types=["world", "experience"],
        max_tokens=1000,
        budget="high",
        trace=True,
        query_timestamp="2024-12-01T00:00:00Z",
        include_entities=True,
        max_entity_tokens=200,
        include_chunks=True,
        max_chunk_tokens=500,
        include_source_facts=True,
        tags=["work"],
        tags_match="any_strict",
        tag_groups=[{"not": {"tags": ["nothing"]}}] if TAG_GROUPS else None,
        min_scores={"final": 0.0},
        temporal_window={"start": datetime(2020, 1, 1), "end": datetime(2030, 1, 1)},
        prefer_observations=True,
    )
    assert [result.text for result in response.results] == [ITEMS[0]["content"]]
    assert response.results[0].tags == ["work"]
    assert response.results[0].document_id == "d1"
    assert response.results[0].chunk_id in response.chunks
    assert response.entities
    assert response.trace["num_results"] == 1
    assert response.results[0].scores.final > 0


def test_reflect(client: Any) -> None:
    answer = client.reflect("team", "Where does Bob Smith work?", budget="low", include_facts=True)
    assert "OpenAI" in answer.text
    assert any("OpenAI" in fact.text for fact in answer.based_on.memories)


def test_list_get_update_delete(client: Any) -> None:
    client.retain("edited", "Frank Black owns a boat.", document_id="boat", tags=["water"])
    by_tag = {"tags": ["water"], "tags_match": "any_strict"}
    known = inspect.signature(client.list_memories).parameters
    asked = {name: value for name, value in by_tag.items() if name in known}
    listed = client.list_memories("edited", search_query="boat", **asked)
    assert listed.total == 1
    first: Any = listed.items[0]
    memory_id = first["id"] if isinstance(first, dict) else first.id
    assert wait(client.memory.get_memory("edited", memory_id))["text"] == "Frank Black owns a boat."
    from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

    change = UpdateMemoryRequest(text="Frank Black owns a plane.")
    assert (
        wait(client.memory.update_memory("edited", memory_id, change))["text"] == "Frank Black owns a plane."
    )
    assert wait(client.memory.clear_bank_memories("edited")).success is True
    assert client.list_memories("edited").total == 0


def test_entities_documents_tags_and_counts(client: Any) -> None:
    entities = wait(client.entities.list_entities("team"))
    alice = next(item for item in entities.items if item.canonical_name == "Alice Johnson")
    assert wait(client.entities.get_entity("team", alice.id)).id == alice.id
    assert wait(client.entities.get_entity_graph("team")).total_entities == entities.total
    documents = wait(client.documents.list_documents("team"))
    assert documents.total == 3
    one = wait(client.documents.get_document("team", "d1"))
    assert one.original_text == ITEMS[0]["content"]
    assert wait(client.documents.list_document_chunks("team", "d1")).total == 1
    assert wait(client.memory.list_tags("team")).items[0].tag == "work"
    assert wait(client.banks.get_agent_stats("team")).total_documents == 3
    assert wait(client.memory.get_graph("team")).total_units == 3
    client.retain("gone", "Heidi Blue repairs clocks.", document_id="clocks")
    assert wait(client.documents.delete_document("gone", "clocks")).memory_units_deleted == 1


def test_export_and_files(client: Any, tmp_path: Path) -> None:
    archive = client.export_documents("team", poll_interval=0.05)
    assert archive[:2] == b"PK"
    note = tmp_path / "note.txt"
    note.write_text("Ivan Stone collects maps.")
    assert len(client.retain_files("filed", [note]).operation_ids) == 1


def ended(client: Any, bank: str, operation_id: str) -> Any:
    for _ in range(400):
        status = wait(client.operations.get_operation_status(bank, operation_id))
        if status.status in ("completed", "failed"):
            return status
        time.sleep(0.05)
    raise AssertionError(operation_id)


def test_directives(client: Any) -> None:
    client.create_bank(bank_id="ruled")
    rule = client.create_directive("ruled", "Tone", "Answer politely.", priority=3, tags=["mail"])
    assert client.get_directive("ruled", rule.id).content == "Answer politely."
    assert client.update_directive("ruled", rule.id, priority=5).priority == 5
    assert [one.id for one in client.list_directives("ruled").items] == [rule.id]
    assert client.list_directives("ruled", tags=["chat"]).items == []
    client.delete_directive("ruled", rule.id)
    assert client.list_directives("ruled").total == 0


def test_mental_models(client: Any) -> None:
    client.retain_batch("thought", ITEMS)
    created = client.create_mental_model(
        "thought", "Work", "Where do people work?", trigger={"mode": "delta", "refresh_cron": "0 3 * * *"}
    )
    assert ended(client, "thought", created.operation_id).status == "completed"
    model = client.get_mental_model("thought", created.mental_model_id)
    assert "Google" in model.content
    assert (model.is_stale, model.trigger.refresh_cron) == (False, "0 3 * * *")
    client.retain("thought", "Carol Brown works at Siemens.")
    (listed,) = client.list_mental_models("thought", detail="content").items
    assert (listed.id, listed.is_stale) == (model.id, True)
    preview = client.dry_run_refresh_mental_model("thought", model.id)
    assert (preview.effective_mode, preview.would_persist) == ("delta", True)
    assert "+- Carol Brown works at Siemens." in preview.diff
    ended(client, "thought", client.refresh_mental_model("thought", model.id).operation_id)
    assert "Siemens" in client.get_mental_model("thought", model.id).content
    ended(client, "thought", client.refresh_mental_model("thought", model.id, mode="full").operation_id)
    history = client.get_mental_model_history("thought", model.id)
    assert history[-1]["previous_content"] == "Generating content..."
    assert client.update_mental_model("thought", model.id, name="Jobs").name == "Jobs"
    assert client.clear_mental_model("thought", model.id).content == ""
    client.delete_mental_model("thought", model.id)
    assert client.list_mental_models("thought").total == 0


def test_knowledge_base(client: Any) -> None:
    client.retain_batch("wiki", ITEMS)
    folder = client.create_knowledge_folder("wiki", "People")
    page = client.create_knowledge_page(
        "wiki", "Alice", "What does Alice do?", parent_id=folder.id, trigger={"fact_types": ["world"]}
    )
    assert ended(client, "wiki", page.operation_id).status == "completed"
    (root,) = client.get_knowledge_base_tree("wiki").roots
    assert (root.name, root.children[0].id, root.children[0].trigger.mode) == (
        "People",
        page.page_id,
        "delta",
    )
    shown = client.get_knowledge_page("wiki", page.page_id)
    assert shown.markdown.startswith("---\n")
    assert "Google" in shown.body
    assert client.search_knowledge_base("wiki", "Google engineer").results[0].id == page.page_id
    moved = client.update_knowledge_node("wiki", page.page_id, name="Alice J.", parent_id=None)
    assert (moved.name, moved.parent_id) == ("Alice J.", None)
    assert {file.path for file in client.export_knowledge_base("wiki").files} >= {
        "index.md",
        f"{page.page_id}.md",
    }
    client.delete_knowledge_node("wiki", page.page_id)
    assert client.list_mental_models("wiki").total == 0


def test_errors_are_the_clients_own(client: Any) -> None:
    from hindsight_client_api.exceptions import ApiException, NotFoundException, UnauthorizedException

    with pytest.raises(NotFoundException) as missing:
        wait(client.documents.get_document("team", "nothing"))
    assert "does not exist" in str(missing.value)
    with pytest.raises(ApiException) as wrong:
        client.recall("team", "   ")
    assert wrong.value.status == 422
    with (
        hindsight_client.Hindsight(base_url=ADDRESS[0], api_key="pdr_wrong_key") as stranger,
        pytest.raises(UnauthorizedException),
    ):
        stranger.recall("team", "Alice")


LATER = hasattr(hindsight_client.Hindsight, "clone_bank")
"""Whether the client is one of 1.0 and later, which knows the paths below."""


def test_webhooks(client: Any) -> None:
    from hindsight_client_api.exceptions import ApiException
    from hindsight_client_api.models.create_webhook_request import CreateWebhookRequest
    from hindsight_client_api.models.update_webhook_request import UpdateWebhookRequest

    client.create_bank(bank_id="hooked")
    asked = CreateWebhookRequest(
        url="https://93.184.216.34/x", secret="hush", event_types=["retain.completed"]
    )
    webhook = wait(client.webhooks.create_webhook("hooked", asked))
    assert (webhook.secret, webhook.http_config.timeout_seconds) == (None, 30)
    changed = wait(client.webhooks.update_webhook("hooked", webhook.id, UpdateWebhookRequest(enabled=False)))
    assert changed.enabled is False
    assert [one.id for one in wait(client.webhooks.list_webhooks("hooked")).items] == [webhook.id]
    assert wait(client.webhooks.list_webhook_deliveries("hooked", webhook.id)).items == []
    with pytest.raises(ApiException) as private:
        wait(client.webhooks.create_webhook("hooked", CreateWebhookRequest(url="http://10.0.0.1/")))
    assert private.value.status == 400
    assert wait(client.webhooks.delete_webhook("hooked", webhook.id)).success is True


@pytest.mark.skipif(not LATER, reason="the client has no such paths")
def test_logs_aliases_and_previews(client: Any) -> None:
    from hindsight_client_api.models.content import Content
    from hindsight_client_api.models.create_bank_alias_request import CreateBankAliasRequest
    from hindsight_client_api.models.dry_run_extract_request import DryRunExtractRequest
    from hindsight_client_api.models.prompt_preview_request import PromptPreviewRequest

    client.create_bank(bank_id="logged")
    client.update_bank_config("logged", audit_log_enabled=True)
    client.recall("logged", "Who is there?")
    entries = wait(client.audit.list_audit_logs("logged"))
    assert [entry.action for entry in entries.items] == ["recall", "update_bank_config"]
    one = wait(client.audit.get_audit_log("logged", entries.items[0].id))
    assert one.request == {"body": one.request["body"]}
    assert wait(client.audit.audit_log_stats("logged")).buckets[0].total == 2
    named = wait(
        client.banks.create_bank_alias("logged", CreateBankAliasRequest(alias="known-as", primary=True))
    )
    assert [(entry.alias, entry.primary) for entry in named.aliases] == [("known-as", True)]
    client.retain("known-as", "Judy has a boat.")
    assert client.recall("logged", "Who has a boat?").results[0].text == "Judy has a boat."
    assert wait(client.banks.delete_bank_alias("logged", "known-as")).aliases == []
    asked = DryRunExtractRequest(content=Content("Mallory plays chess."))
    extracted = wait(client.memory.dry_run_extract_memories("logged", asked))
    assert [fact.text for fact in extracted.facts] == ["Mallory plays chess."]
    assert wait(
        client.banks.preview_prompt("logged", PromptPreviewRequest(operation="retain"))
    ).skipped_reason
    assert {one.status for one in wait(client.banks.test_bank_llm("logged")).operations} == {"not_configured"}


def test_what_perdure_adds_is_within_reach(client: Any) -> None:
    """As docs/connect.md shows it: a subclass of the request, and the answer as it came."""
    from hindsight_client_api.models.recall_request import RecallRequest

    class Asked(RecallRequest):
        precision: str | None = None

    async def ask() -> Any:
        asked = Asked(query="What is the boiling point of tin?", precision="inject")
        answer = await client.memory.recall_memories_without_preload_content("team", asked)
        return await answer.json()

    body = wait(ask())
    assert body["abstained"] is True
    assert body["evidence"] == "none"
    assert body["results"] == []


def test_version(client: Any) -> None:
    assert client.get_version().api_version == "0.9.1"


def test_the_async_half() -> None:
    """On a thread of its own: the blocking client needs this thread's event loop to the end."""

    async def use() -> Any:
        client = hindsight_client.Hindsight(base_url=ADDRESS[0], api_key=ADDRESS[1])
        try:
            await client.aretain("async", "Judy Marsh grows roses.")
            return await client.arecall("async", "What does Judy Marsh grow?", include_chunks=True)
        finally:
            await client.aclose()

    with ThreadPoolExecutor(1) as apart:
        response = apart.submit(asyncio.run, use()).result()
    assert response.results[0].text == "Judy Marsh grows roses."
    assert response.chunks
