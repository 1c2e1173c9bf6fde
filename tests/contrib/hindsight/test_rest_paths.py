"""Paths that remember, recall and curate, over real HTTP, their answers checked against the reference's schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.rest_checked import BANKS, TEXT, Checked, checked_client, fill_main


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    with checked_client(tmp_path_factory.mktemp("rest")) as client:
        yield client


@pytest.fixture(scope="module")
def bank(client: Checked) -> str:
    return fill_main(client)


def test_monitoring(client: Checked) -> None:
    assert client.get("/health").json()["status"] == "healthy"
    assert client.get("/health/ready").status_code == 200
    assert client.get("/health/live").json()["status"] == "alive"
    assert client.get("/version").json()["api_version"] == "0.9.1"
    assert "perdure_http_requests_total" in client.get("/metrics").text
    assert client.get("/openapi.json").json()["info"]["title"] == "Perdure"
    assert "REST reference" in client.get("/docs").text


def test_configuration_and_template(client: Checked) -> None:
    path = f"{BANKS}/configured"
    updates = {
        "enable_graph_retrieval": False,
        "retain_mission": "people",
        "HINDSIGHT_API_RECALL_MAX_TOKENS": 500,
    }
    changed = client.patch(f"{path}/config", json={"updates": updates}).json()
    assert changed["overrides"] == {
        "enable_graph_retrieval": False,
        "retain_mission": "people",
        "recall_max_tokens": 500,
    }
    assert changed["inactive"] == ["retain_mission"]
    assert client.get(f"{path}/config").json()["config"]["recall_max_tokens"] == 500
    assert client.patch(f"{path}/config", json={"updates": {"no_such_name": 1}}).status_code == 422
    assert (
        client.patch(f"{path}/config", json={"updates": {"enable_reranking": "perhaps"}}).status_code == 422
    )
    client.post(f"{path}/memories", json={"items": [{"content": "Alice Johnson works at Google."}]})
    asked = {"query": "Where does Alice Johnson work?", "trace": True}
    stages = client.post(f"{path}/memories/recall", json=asked).json()["trace"]["timings_ms"]
    assert "search.graph" not in stages
    assert "search.semantic" in stages
    template = client.get(f"{path}/export").json()
    imported = client.post(f"{BANKS}/copy/import", json=template, params={"dry_run": True}).json()
    assert imported["config_applied"] is False
    client.post(f"{BANKS}/copy/import", json=template)
    assert client.get(f"{BANKS}/copy/config").json()["overrides"] == changed["overrides"]
    assert (
        client.post(f"{BANKS}/copy/import", json={**template, "directives": [{"name": "x"}]}).status_code
        == 400
    )
    assert client.delete(f"{path}/config").json()["overrides"] == {}
    assert "properties" in client.get("/v1/bank-template-schema").json()


def test_recall_options(client: Checked, bank: str) -> None:
    asked = {
        "query": "Where does Alice Johnson work?",
        "types": ["world", "experience", "observation"],
        "budget": "high",
        "max_tokens": 2000,
        "trace": True,
        "query_timestamp": "2024-06-01T12:00:00Z",
        "include": {"entities": {"max_tokens": 100}, "chunks": {"max_tokens": 1000}, "source_facts": {}},
        "tags": ["people"],
        "tags_match": "any_strict",
        "tag_groups": [{"or": [{"tags": ["work"]}, {"not": {"tags": ["nothing"], "match": "any_strict"}}]}],
        "min_scores": {"semantic": 0.0, "final": 0.0},
        "temporal_window": {"start": "2020-01-01T00:00:00Z", "end": "2030-01-01T00:00:00Z"},
        "prefer_observations": True,
    }
    answer = client.post(f"{bank}/memories/recall", json=asked).json()
    assert any("Google" in result["text"] for result in answer["results"])
    assert all("people" in result["tags"] for result in answer["results"])
    first = answer["results"][0]
    assert first["scores"]["final"] > 0
    assert first["document_id"] in ("cv", "bob")
    assert first["chunk_id"] in answer["chunks"]
    assert any("Alice Johnson" in name for name in answer["entities"])
    assert answer["source_facts"] == {}
    assert answer["trace"]["num_results"] == len(answer["results"])


def test_perdures_own_options(client: Checked, bank: str) -> None:
    asked: dict[str, Any] = {
        "query": "What does Bob Smith play?",
        "recipe": "memoria",
        "explain": True,
        "limit": 2,
    }
    answer = client.post(f"{bank}/memories/recall", json={**asked, "context_string": True}).json()
    assert answer["recipe"] == "memoria"
    assert 1 <= len(answer["results"]) <= 2
    assert answer["results"][0]["explain"]["channels"]
    assert answer["results"][0]["text"] in answer["context"]
    assert answer["evidence"] in ("strong", "weak", "none")
    assert answer["results"][0]["relevance"] == answer["confidence"]
    assert answer["abstained"] is False
    off = {
        "query": "Which lattice did quantum chromodynamics need?",
        "precision": "inject",
        "context_string": True,
    }
    silent = client.post(f"{bank}/memories/recall", json=off).json()
    assert (silent["results"], silent["abstained"], silent["context"]) == ([], True, "")
    assert "below the floor" in silent["abstained_because"]
    assert client.post(f"{bank}/memories/recall", json={**off, "precision": "some"}).status_code == 422
    past = {**asked, "as_of": "2000-01-01T00:00:00Z"}
    assert client.post(f"{bank}/memories/recall", json=past).json()["results"] == []
    only = {**asked, "document_ids": ["dog"]}
    found = client.post(f"{bank}/memories/recall", json=only).json()["results"]
    assert {result["document_id"] for result in found} <= {"dog"}
    assert client.post(f"{bank}/memories/recall", json={**asked, "recipe": "no such"}).status_code == 422


@pytest.mark.parametrize(
    "wrong",
    [
        {"response_schema": {"type": "object", "properties": {"age": {"type": "money"}}}},
        {"response_schema": {"type": "object", "properties": {}}},
        {"fact_types": []},
        {"tags": ["a"], "tag_groups": [{"tags": ["a"]}]},
    ],
)
def test_a_reflect_that_asks_for_what_cannot_be_is_refused(
    client: Checked, bank: str, wrong: dict[str, Any]
) -> None:
    assert client.post(f"{bank}/reflect", json={"query": "Who is Rex?", **wrong}).status_code == 422


def test_listing_and_reading_memories(client: Checked, bank: str) -> None:
    page = client.get(f"{bank}/memories/list", params={"limit": 2}).json()
    assert len(page["items"]) == 2
    assert page["total"] >= 3
    rest = client.get(f"{bank}/memories/list", params={"limit": 100, "offset": 2}).json()
    assert len(rest["items"]) == page["total"] - 2
    assert client.get(f"{bank}/memories/list", params={"limit": 0}).json()["items"] == []
    tagged = client.get(f"{bank}/memories/list", params={"tags": ["work"], "tags_match": "any_strict"}).json()
    assert tagged["items"]
    assert all("work" in item["tags"] for item in tagged["items"])
    chess = client.get(f"{bank}/memories/list", params={"q": "CHESS"}).json()["items"]
    assert len(chess) == 1
    one = client.get(f"{bank}/memories/{chess[0]['id']}").json()
    assert one["text"] == chess[0]["text"]
    assert client.get(f"{bank}/memories/{chess[0]['id']}/history").json()
    assert client.get(f"{bank}/memories/no-such-id").status_code == 404
    future = {"time_field": "created_at", "start_date": "2090-01-01"}
    assert client.get(f"{bank}/memories/list", params=future).json()["total"] == 0


def test_curating_a_memory(client: Checked) -> None:
    path = f"{BANKS}/curated"
    client.post(
        f"{path}/memories", json={"items": [{"content": "Carol Brown lives in Paris.", "tags": ["a"]}]}
    )
    memory = client.get(f"{path}/memories/list").json()["items"][0]
    changed = client.patch(
        f"{path}/memories/{memory['id']}", json={"text": "Carol Brown lives in Rome."}
    ).json()
    assert changed["text"] == "Carol Brown lives in Rome."
    assert changed["previous_id"] == memory["id"]
    asked = {"query": "Where does Carol Brown live?"}
    found = client.post(f"{path}/memories/recall", json=asked).json()["results"]
    assert [result["text"] for result in found] == ["Carol Brown lives in Rome."]
    wrong = {"state": "invalidated", "reason": "hearsay"}
    retired = client.patch(f"{path}/memories/{changed['id']}", json=wrong).json()
    assert (retired["state"], retired["invalidation_reason"]) == ("invalidated", "hearsay")
    assert client.post(f"{path}/memories/recall", json=asked).json()["results"] == []
    gone = client.get(f"{path}/memories/list", params={"state": "invalidated"}).json()
    assert changed["id"] in [item["id"] for item in gone["items"]]
    back = client.patch(f"{path}/memories/{changed['id']}", json={"state": "valid"}).json()
    assert back["state"] == "valid"
    assert len(client.post(f"{path}/memories/recall", json=asked).json()["results"]) == 1
    named = client.patch(
        f"{path}/memories/{changed['id']}", json={"entities": ["Carol Brown", "Rome"]}
    ).json()
    assert named["entities"] == ["Carol Brown", "Rome"]
    entities = {item["canonical_name"]: item["id"] for item in client.get(f"{path}/entities").json()["items"]}
    linked = client.get(f"{path}/memories/list", params={"entity_id": entities["Rome"]}).json()
    assert [item["id"] for item in linked["items"]] == [changed["id"]]
    dated = client.patch(
        f"{path}/memories/{changed['id']}", json={"occurred_start": "2024-02-03T00:00:00Z"}
    ).json()
    assert dated["occurred_start"].startswith("2024-02-03")
    cleared = client.patch(f"{path}/memories/{changed['id']}", json={"occurred_start": ""}).json()
    assert cleared["occurred_start"] is None
    assert client.patch(f"{path}/memories/{changed['id']}", json={}).status_code == 422


def test_entities(client: Checked, bank: str) -> None:
    listed = client.get(f"{bank}/entities").json()
    names = {item["canonical_name"]: item for item in listed["items"]}
    assert "Alice Johnson" in names
    assert client.get(f"{bank}/entities", params={"limit": 1, "offset": 1}).json()["limit"] == 1
    one = client.get(f"{bank}/entities/{names['Alice Johnson']['id']}").json()
    assert one["mention_count"] >= 2
    assert client.get(f"{bank}/entities/no-such").status_code == 404
    graph = client.get(f"{bank}/entities/graph").json()
    ids = {node["data"]["id"] for node in graph["nodes"]}
    assert graph["edges"]
    assert all(edge["data"]["source"] in ids and edge["data"]["target"] in ids for edge in graph["edges"])
    assert client.get(f"{bank}/entities/graph", params={"min_count": 99}).json()["edges"] == []


def test_documents_and_chunks(client: Checked, bank: str) -> None:
    listed = client.get(f"{bank}/documents", params={"q": "CV"}).json()
    assert [item["id"] for item in listed["items"]] == ["cv"]
    assert listed["items"][0]["memory_unit_count"] >= 2
    one = client.get(f"{bank}/documents/cv").json()
    assert one["original_text"] == TEXT
    assert one["tags"] == ["people", "work"]
    assert one["document_metadata"] == {"source": "cv"}
    chunks = client.get(f"{bank}/documents/cv/chunks").json()
    assert "".join(chunk["chunk_text"] for chunk in chunks["items"]) == TEXT
    assert client.get(f"/v1/default/chunks/{chunks['items'][0]['chunk_id']}").json()["document_id"] == "cv"
    assert client.get("/v1/default/chunks/nothing").status_code == 404
    assert client.get(f"{bank}/documents/nothing").status_code == 404
