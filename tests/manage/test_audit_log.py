"""The audit log: off, or on per bank; calls over REST and MCP and runs of consolidation, without anybody's texts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from perdure import LlmCall, Perdure
from perdure.domain.audit import AUDIT
from perdure.domain.plain import to_record
from perdure.surfaces.keys import create_key
from perdure.surfaces.rest.app import create_app

KEYS_ARE_READ_AFTER = 1.1
BASE = "/v1/default/banks/b"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(
        tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules", require_keys=False
    ) as engine:
        yield engine


@pytest.fixture
def client(memory: Perdure) -> Iterator[TestClient]:
    with TestClient(create_app(memory), base_url="http://localhost") as opened:
        yield opened


def use(client: TestClient) -> None:
    client.post(
        f"{BASE}/memories", json={"items": [{"content": "Ann keeps a secret diary.", "tags": ["private"]}]}
    )
    client.post(f"{BASE}/memories/recall", json={"query": "What does Ann keep?", "budget": "low"})
    client.post(f"{BASE}/reflect", json={"query": "What does Ann keep?"})
    client.get(f"{BASE}/memories/list")


def test_nothing_is_kept_unless_the_bank_asks_for_it(memory: Perdure, client: TestClient) -> None:
    use(client)
    assert memory.audit.list("b") == []
    assert client.get(f"{BASE}/audit-logs").json()["items"] == []
    assert client.get("/v1/default/banks/missing/audit-logs").status_code == 404
    assert client.get("/v1/default/banks/missing/audit-logs/stats").status_code == 404


def test_calls_stand_in_the_log_newest_first_without_their_texts(memory: Perdure, client: TestClient) -> None:
    client.patch(f"{BASE}/config", json={"updates": {"audit_log_enabled": True}})
    use(client)
    client.delete(f"{BASE}/documents/{memory.documents.list('b')[0].id}")
    answer = client.get(f"{BASE}/audit-logs").json()
    assert [item["action"] for item in answer["items"]] == [
        "delete_document", "reflect", "recall", "retain", "update_bank_config",
    ]  # fmt: skip
    assert answer["total"] == 5
    recall = answer["items"][2]
    assert (recall["transport"], recall["bank_id"], recall["response"]) == ("http", "b", {"status": 200})
    assert recall["request"] == {"body": {"query": {"characters": 19}, "budget": "low"}}
    assert recall["duration_ms"] >= 0
    stored = json.dumps(answer)
    assert "diary" not in stored
    assert "private" not in stored
    one = client.get(f"{BASE}/audit-logs/{recall['id']}").json()
    assert one == recall
    assert client.get(f"{BASE}/audit-logs/nothing").status_code == 404
    assert client.get(f"{BASE}/audit-logs?action=recall").json()["total"] == 1
    assert client.get(f"{BASE}/audit-logs?transport=mcp").json()["total"] == 0
    assert client.get(f"{BASE}/audit-logs?transport=pigeon").status_code == 422
    started = recall["started_at"]
    assert client.get(f"{BASE}/audit-logs", params={"start_date": started}).json()["total"] == 3
    assert client.get(f"{BASE}/audit-logs", params={"end_date": started}).json()["total"] == 2
    page = client.get(f"{BASE}/audit-logs?limit=2&offset=1").json()
    assert [item["action"] for item in page["items"]] == ["reflect", "recall"]
    (bucket,) = client.get(f"{BASE}/audit-logs/stats?period=1d").json()["buckets"]
    assert (bucket["total"], bucket["actions"]["recall"]) == (5, 1)
    assert client.get(f"{BASE}/audit-logs/stats?period=2d").status_code == 422
    client.patch(f"{BASE}/config", json={"updates": {"audit_log_enabled": False}})
    use(client)
    assert client.get(f"{BASE}/audit-logs").json()["total"] == 5


def test_an_entry_names_the_key_that_was_used(memory: Perdure, client: TestClient) -> None:
    client.patch(f"{BASE}/config", json={"updates": {"audit_log_enabled": True}})
    key, secret = create_key(memory, banks=["b"])
    time.sleep(KEYS_ARE_READ_AFTER)
    body = {"items": [{"content": "Ann keeps a secret diary."}]}
    client.post(
        f"{BASE}/memories", json=body, headers={"Authorization": f"Bearer {secret}"}
    ).raise_for_status()
    retained, configured = memory.audit.list("b")
    assert retained.metadata == {"key": key.id}
    assert configured.metadata == {}
    assert secret not in json.dumps(to_record(AUDIT, retained).body)


def test_strangers_and_deleted_banks_leave_no_entry(memory: Perdure, client: TestClient) -> None:
    memory.banks.configure("b", settings={"audit_log_enabled": True})
    assert client.get(f"{BASE}/documents/none").status_code == 404
    assert client.delete(f"{BASE}/documents/none").status_code == 404
    assert client.post("/v1/default/banks/b/memories/recall", json={"query": " "}).status_code == 422
    assert [entry.response["status"] for entry in memory.audit.list("b")] == [422]
    assert client.delete(BASE).status_code == 200
    assert [bank.id for bank in memory.banks.list()] == []


def test_calls_of_language_models_are_listed_and_counted(memory: Perdure, client: TestClient) -> None:
    now = memory.clock()
    calls = [
        LlmCall(id="c1", at=now - timedelta(days=40), bank="b", operation="retain", model="m", status="success"),
        LlmCall(
            id="c2", at=now - timedelta(minutes=2), bank="b", operation="reflect", model="m", status="success",
            input_tokens=100, output_tokens=20, seconds=1.5, request="asked", response="answered",
        ),
        LlmCall(
            id="c3", at=now - timedelta(minutes=1), bank="b", operation="reflect", model="m", status="error",
            input_tokens=50, seconds=0.5, error="too slow",
        ),
    ]  # fmt: skip
    assert client.get(f"{BASE}/llm-requests").status_code == 404
    memory.banks.configure("b")
    for call in calls:
        memory.records.save_own(call.to_record())
        assert LlmCall.from_record(call.to_record()) == call
    answer = client.get(f"{BASE}/llm-requests").json()
    assert [item["id"] for item in answer["items"]] == ["c3", "c2", "c1"]
    assert (answer["items"][1]["total_tokens"], answer["items"][1]["duration_ms"]) == (120, 1500)
    assert (answer["items"][0]["error"], answer["items"][1]["input"]) == ("too slow", "asked")
    assert client.get(f"{BASE}/llm-requests?status=error").json()["total"] == 1
    assert client.get(f"{BASE}/llm-requests?operation=retain").json()["total"] == 1
    assert client.get(f"{BASE}/llm-requests?provider=x").json()["total"] == 0
    (bucket,) = client.get(f"{BASE}/llm-requests/stats?period=7d").json()["buckets"][-1:]
    assert bucket["tokens"] == {"input": 150, "output": 20, "cached": 0, "total": 170}
    assert bucket["statuses"] == {"success": 1, "error": 1}
