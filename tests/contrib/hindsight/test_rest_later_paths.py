"""Paths of Hindsight's later clients: aliases, copies, transfers, histories, previews."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.rest.app import create_app
from tests.support.rest_server import open_quick, wait_for

BANKS = "/v1/default/banks"
TEXTS = ["Alice Johnson works at Google.", "Bob Smith lives in Oslo."]
TEXT = " ".join(TEXTS)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        engine.retain("main", TEXTS, document_id="cv", tags=["work"], classification=2)
        engine.banks.configure("main", name="Main", mission="Help")
        engine.directives.create("main", "Tone", "Answer politely.")
        yield engine


@pytest.fixture
def client(memory: Perdure) -> Iterator[TestClient]:
    with TestClient(create_app(memory), base_url="http://localhost") as opened:
        yield opened


def done(client: TestClient, bank: str, response: Any) -> dict[str, Any]:
    assert response.status_code == 202, response.text
    ended = wait_for(client, bank, response.json()["operation_id"])
    assert ended["status"] == "completed", ended
    result: dict[str, Any] = ended["result_metadata"]
    return result


def test_an_alias_reaches_the_bank_at_once_and_everywhere(memory: Perdure, client: TestClient) -> None:
    created = client.post(f"{BANKS}/main/aliases", json={"alias": "old name ü", "primary": True})
    assert created.json() == {"bank_id": "main", "aliases": [{"alias": "old name ü", "primary": True}]}
    client.post(f"{BANKS}/old name ü/memories", json={"items": [{"content": "Carol has a cat."}]})
    assert [bank.id for bank in memory.banks.list()] == ["main"]
    recalled = client.post(
        f"{BANKS}/old%20name%20%C3%BC/memories/recall", json={"query": "Who has a cat?"}
    ).json()
    assert recalled["results"][0]["text"] == "Carol has a cat."
    assert client.get(f"{BANKS}/old name ü/documents/cv").json()["bank_id"] == "main"
    client.post(f"{BANKS}/main/aliases", json={"alias": "second", "primary": True})
    listed = client.get(f"{BANKS}/second/aliases").json()["aliases"]
    assert listed == [{"alias": "second", "primary": True}, {"alias": "old name ü", "primary": False}]
    (bank,) = client.get(BANKS, params={"q": "old"}).json()["banks"]
    assert (bank["bank_id"], bank["display_alias"], bank["matched_aliases"]) == (
        "main",
        "second",
        ["old name ü"],
    )
    client.patch(f"{BANKS}/main/aliases/second", json={"primary": False})
    assert client.get(BANKS).json()["banks"][0]["display_alias"] is None
    assert client.delete(f"{BANKS}/main/aliases/second").json()["aliases"] == [
        {"alias": "old name ü", "primary": False}
    ]
    assert client.get(f"{BANKS}/second/documents").json()["total"] == 0
    assert "perdure_http_requests_total" in client.get("/metrics").text


def test_a_clone_is_the_bank_under_another_id(memory: Perdure, client: TestClient) -> None:
    memory.webhooks.create("main", "https://93.184.216.34/hook", secret="hush", event_types=[])
    result = done(client, "main", client.post(f"{BANKS}/main/clone", params={"target_bank_id": "twin"}))
    assert (result["target_bank_id"], result["facts_imported"]) == ("twin", 2)
    assert [fact.text for fact in memory.facts.list("twin").facts] == [
        fact.text for fact in memory.facts.list("main").facts
    ]
    twin = memory.banks.get("twin")
    assert (twin.name, twin.mission) == ("Main", "Help")
    assert [rule.name for rule in memory.directives.list("twin")] == ["Tone"]
    assert [hook.secret for hook in memory.webhooks.list("twin")] == ["hush"]
    assert memory.webhooks.list("twin")[0].bank == "twin"
    again = client.post(f"{BANKS}/main/clone", params={"target_bank_id": "twin"})
    assert again.status_code == 409
    assert client.post(f"{BANKS}/none/clone", params={"target_bank_id": "x"}).status_code == 404
    memory.retain("twin", "Dan has a dog.")
    assert memory.facts.list("main").total == 2


def test_an_archive_restores_a_bank_or_is_merged_into_one(memory: Perdure, client: TestClient) -> None:
    memory.webhooks.create("main", "https://93.184.216.34/hook", secret="hush")
    exported = done(client, "main", client.post(f"{BANKS}/main/transfer/export"))
    archive = client.get(exported["download_url"]).content
    assert b"hush" not in archive
    files = {"file": ("a.zip", archive, "application/zip")}

    def take(bank: str, **params: str) -> Any:
        return client.post(f"{BANKS}/{bank}/transfer/import", params=params, files=files)

    assert take("main").status_code == 409
    restored = done(client, "new", take("new", target_bank_id="new"))
    assert restored["facts_imported"] == 2
    assert memory.banks.get("new").mission == "Help"
    merged = done(client, "main", take("main", mode="merge"))
    assert merged == {"documents_imported": 0, "documents_skipped": 1, "facts_imported": 0}
    done(client, "main", take("main", mode="merge", document_conflict="new-id"))
    assert len(memory.documents.list("main")) == 2
    assert take("none", mode="merge").status_code == 404
    assert take("x", include_history="true", target_bank_id="y").status_code == 422
    bare = done(
        client, "main", client.post(f"{BANKS}/main/transfer/export", params={"include_data": "false"})
    )
    files["file"] = ("b.zip", client.get(bare["download_url"]).content, "application/zip")
    assert done(client, "empty", take("empty", target_bank_id="empty"))["facts_imported"] == 0
    assert memory.banks.get("empty").mission == "Help"
    files["file"] = ("c.zip", b"no archive", "application/zip")
    assert take("z").status_code == 422


def test_a_documents_history_tells_what_each_change_did(memory: Perdure, client: TestClient) -> None:
    memory.retain("main", "Carol Brown has a cat.", document_id="cv", update_mode="append")
    memory.retain("main", "Alice Johnson works at Google. Carol Brown has a cat.", document_id="cv")
    fact = memory.facts.list("main", text="cat").facts[0]
    memory.facts.invalidate("main", fact.id, "wrong")
    answer = client.get(f"{BANKS}/main/documents/cv/history").json()
    told = [(item["kind"], item["facts_added"], item["facts_removed"]) for item in answer["items"]]
    assert told[0] == ("fact_invalidated", 0, 1)
    assert answer["items"][0]["fact_id"] == fact.id
    assert told[-2:] == [("append", 1, 0), ("retain", 2, 0)]
    assert sum(removed for _, _, removed in told[1:]) >= 1
    page = client.get(f"{BANKS}/main/documents/cv/history?limit=1&offset=1").json()
    assert (page["total"], len(page["items"])) == (answer["total"], 1)
    assert client.get(f"{BANKS}/main/documents/none/history").status_code == 404


def test_reprocessing_draws_the_facts_anew_and_keeps_those_that_are_the_same(
    memory: Perdure, client: TestClient
) -> None:
    before = memory.facts.list("main").facts
    changed = before[0]
    memory.facts.update("main", changed.id, text="Bob Smith lives in Rome.")
    response = client.post(f"{BANKS}/main/documents/cv/reprocess")
    assert response.json()["success"] is True
    assert response.json()["items_count"] == 1
    ended = wait_for(client, "main", response.json()["operation_id"])
    assert ended["status"] == "completed", ended
    after = {fact.text: fact for fact in memory.facts.list("main").facts}
    assert "Bob Smith lives in Oslo." in after
    kept = before[1]
    assert after[kept.text].id == kept.id
    assert {fact.classification for fact in after.values()} == {2}
    assert {tuple(fact.tags) for fact in after.values()} == {("work",)}
    assert memory.records.list("unfinished_document", bank="main") == []
    assert client.post(f"{BANKS}/main/documents/none/reprocess").status_code == 404


def test_a_dry_run_extracts_and_stores_nothing(memory: Perdure, client: TestClient) -> None:
    body = {"content": TEXT, "timestamp": "2026-03-01T00:00:00Z"}
    for bank in ("main", "nowhere"):
        answer = client.post(f"{BANKS}/{bank}/memories/dry-run-extract", json=body).json()
        assert [fact["text"] for fact in answer["facts"]] == [TEXT]
        assert "Alice Johnson" in answer["facts"][0]["entities"]
        assert answer["usage"]["total_tokens"] == 0
    assert [bank.id for bank in memory.banks.list()] == ["main"]
    assert memory.facts.list("main").total == 2
    blocks = {"content": [{"type": "text", "text": "Dan has a dog."}]}
    answer = client.post(f"{BANKS}/main/memories/dry-run-extract", json=blocks).json()
    assert [fact["text"] for fact in answer["facts"]] == ["Dan has a dog."]
    assert client.post(f"{BANKS}/main/memories/dry-run-extract", json={"content": "  "}).status_code == 422
