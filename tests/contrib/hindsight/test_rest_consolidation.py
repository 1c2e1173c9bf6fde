"""Consolidation and observations over REST, as Hindsight's clients ask for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from perdure import Perdure
from perdure.domain.observation import FAILED_RECORD
from perdure.domain.record import Record
from perdure.surfaces.rest.app import create_app

BANK = "/v1/default/banks/b"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with (
        Perdure.open(
            tmp_path / "m.db",
            embedder="hashing",
            reranker="none",
            tagger="rules",
            require_keys=False,
            notes_folder=tmp_path / "notes",
        ) as engine,
        TestClient(create_app(engine), base_url="http://127.0.0.1") as opened,
    ):
        yield opened


def ok(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


def fill(client: TestClient, **fields: Any) -> None:
    texts = ("I live in Berlin.", "I work at Ford.", "I have a dog named Rex.")
    items = [{"content": text, "speaker": "Ann", **fields} for text in texts]
    ok(client.post(f"{BANK}/memories", json={"items": items}))


def consolidate(client: TestClient, body: Any = None) -> dict[str, Any]:
    begun = ok(client.post(f"{BANK}/consolidate", json=body))
    for _ in range(300):
        operation = ok(client.get(f"{BANK}/operations/{begun['operation_id']}"))
        if operation["status"] in ("completed", "failed"):
            assert operation["status"] == "completed", operation
            return {**begun, **operation}
        time.sleep(0.05)
    raise AssertionError("it did not end")


def observations(client: TestClient, **arguments: Any) -> Any:
    return ok(client.post("/v1/perdure/banks/b/observations.list", json=arguments))


def test_a_run_forms_observations_which_entities_lists_and_recall_show(client: TestClient) -> None:
    fill(client)
    assert ok(client.get(f"{BANK}/stats"))["pending_consolidation"] == 3
    run = consolidate(client)
    assert run["operation_type"] == "consolidation"
    stats = ok(client.get(f"{BANK}/stats"))
    assert (stats["pending_consolidation"], stats["failed_consolidation"]) == (0, 0)
    assert stats["total_observations"] >= 1
    assert stats["last_consolidated_at"]
    (one,) = observations(client, name="Ann")
    assert "live in Berlin" in one["text"]
    assert all(clause["fact_ids"] for clause in one["clauses"])
    detail = ok(client.get(f"{BANK}/entities/{one['subject']['key']}"))
    assert [shown["text"] for shown in detail["observations"]] == [one["text"]]
    asked = {"query": "Where does Ann live?", "types": ["observation"], "include": {"source_facts": {}}}
    recalled = ok(client.post(f"{BANK}/memories/recall", json=asked))
    assert one["id"] in {result["id"] for result in recalled["results"]}
    assert set(recalled["source_facts"]) >= set(one["source_fact_ids"])
    beside = ok(client.post(f"{BANK}/memories/recall", json={"query": "Where does Ann live?"}))["results"]
    assert [result["type"] for result in beside].index("observation") > 0


def test_memories_are_listed_by_what_consolidation_did_with_them(client: TestClient) -> None:
    def listed(state: str) -> set[str]:
        page = ok(client.get(f"{BANK}/memories/list", params={"consolidation_state": state}))
        assert page["total"] == len(page["items"])
        return {item["text"] for item in page["items"]}

    fill(client)
    assert (len(listed("pending")), listed("consolidated"), listed("failed")) == (3, set(), set())
    consolidate(client)
    assert (listed("pending"), len(listed("consolidated")), listed("done")) == (
        set(),
        3,
        listed("consolidated"),
    )
    ok(client.post(f"{BANK}/memories", json={"items": [{"content": "I drive a Volvo.", "speaker": "Ann"}]}))
    assert listed("pending") == {"I drive a Volvo."}
    engine = client.app.state.service.engine  # type: ignore[attr-defined]
    (pending,) = engine.observations.pending_fact_ids("b")
    engine.records.save_own(Record(kind=FAILED_RECORD, id=pending, bank="b"))
    assert (listed("failed"), listed("pending")) == ({"I drive a Volvo."}, set())
    assert client.get(f"{BANK}/memories/list", params={"consolidation_state": "no"}).status_code == 422


def test_observation_history_has_what_each_version_replaced(client: TestClient) -> None:
    fill(client)
    consolidate(client)
    (old,) = observations(client, name="Ann")
    assert ok(client.get(f"{BANK}/memories/{old['id']}/history")) == []
    ok(client.post(f"{BANK}/memories", json={"items": [{"content": "I drive a Volvo.", "speaker": "Ann"}]}))
    consolidate(client)
    (new,) = observations(client, name="Ann")
    (change,) = ok(client.get(f"{BANK}/memories/{new['id']}/history"))
    assert change["previous_text"] == old["text"]
    assert [source["is_new"] for source in change["source_facts"]].count(True) == 1
