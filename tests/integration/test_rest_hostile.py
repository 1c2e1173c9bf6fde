"""REST: what is no text, no list, no window or no JSON is refused by its place, and nothing of it is kept."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.rest.app import create_app
from tests.integration.rest_server import open_quick, wait_for

BANK = "/v1/default/banks/b"
JSON = {"content-type": "application/json"}
LONE = "\\ud800"
"""A lone surrogate as JSON may spell it."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        engine.retain("b", "Maya plays the cello.", document_id="d")
        yield engine


@pytest.fixture
def client(engine: Perdure) -> Iterator[TestClient]:
    with TestClient(create_app(engine), base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def refused(answer: Any) -> str:
    assert answer.status_code == 422, answer.text
    body = answer.json()
    assert body["error"]["code"] == "invalid_input"
    return str(body["error"]["message"])


@pytest.mark.parametrize(
    ("method", "path", "body", "place"),
    [
        ("PUT", "", {"name": "?"}, "name"),
        ("PATCH", "", {"mission": "?"}, "mission"),
        ("POST", "/background", {"content": "?"}, "content"),
        ("PATCH", "/config", {"updates": {"retain_mission": "?"}}, "retain_mission"),
        ("PATCH", "/config", {"updates": {"?": 1}}, "updates"),
        ("PATCH", "/memories/FACT", {"context": "?"}, "context"),
        ("PATCH", "/memories/FACT", {"tags": ["?"]}, "tags.0"),
        ("PATCH", "/memories/FACT", {"metadata": {"a": "?"}}, "metadata.a"),
        ("PATCH", "/memories/FACT", {"state": "invalidated", "reason": "?"}, "reason"),
        ("POST", "/memories/recall", {"query": "?"}, "query"),
        ("POST", "/memories/recall", {"query": "x", "topic": "?"}, "topic"),
        ("POST", "/memories/recall", {"query": "x", "document_ids": ["?"]}, "document_ids"),
        ("POST", "/memories/recall", {"query": "x", "tag_groups": [{"tags": ["?"]}]}, "tags"),
        ("POST", "/reflect", {"query": "x", "context": "?"}, "context"),
        ("POST", "/memories", {"items": [{"content": "x", "metadata": {"?": "a"}}]}, "metadata"),
    ],
)
def test_a_lone_surrogate_is_refused_by_its_place(
    client: TestClient, engine: Perdure, method: str, path: str, body: dict[str, Any], place: str
) -> None:
    fact = engine.facts.list("b").facts[0]
    spelt = json.dumps(body).replace("?", LONE)
    answer = client.request(method, BANK + path.replace("FACT", fact.id), content=spelt, headers=JSON)
    assert place in refused(answer)
    assert list(engine.facts.list("b").facts) == [fact]


@pytest.mark.parametrize("value", ["NaN", "Infinity", '{"a": [-Infinity]}'])
def test_a_setting_that_json_cannot_give_back_is_refused(client: TestClient, value: str) -> None:
    body = f'{{"updates": {{"retain_custom_instructions": {value}}}}}'
    answer = client.patch(f"{BANK}/config", content=body, headers=JSON)
    assert "retain_custom_instructions" in refused(answer)


@pytest.mark.parametrize("required", [5, "answer", ["nothing"], [["answer"]]])
def test_a_schema_whose_required_names_are_none_is_refused(client: TestClient, required: object) -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": required}
    answer = client.post(f"{BANK}/reflect", json={"query": "cello", "response_schema": schema})
    assert "response_schema.required" in refused(answer)


@pytest.mark.parametrize("kind", ["string", "number"])
def test_a_schema_with_a_name_that_is_no_text_is_refused(client: TestClient, kind: str) -> None:
    schema = f'{{"type": "object", "properties": {{"{LONE}": {{"type": "{kind}"}}}}, "required": ["{LONE}"]}}'
    body = f'{{"query": "cello", "response_schema": {schema}}}'
    assert "response_schema" in refused(client.post(f"{BANK}/reflect", content=body, headers=JSON))


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"content": "  ", "update_mode": "append"}, "items[1].content"),
        ({"content": "x", "tags": ["a\0b"]}, "items[1].tags"),
        ({"content": "x", "valid_from": "2025-01-01", "valid_to": "2020-01-01"}, "items[1].valid_to"),
        ({"content": "x", "tags": [""]}, "items[1].tags"),
        ({"content": "x", "document_id": " "}, "items[1].document_id"),
    ],
)
def test_a_wrong_item_is_named_and_none_of_its_batch_is_kept(
    client: TestClient, wrong: dict[str, Any], place: str
) -> None:
    items = [{"content": "Tomás plays the oboe.", "document_id": "first"}, {"document_id": "second", **wrong}]
    for later in (False, True):
        assert place in refused(client.post(f"{BANK}/memories", json={"items": items, "async": later}))
    assert client.get(f"{BANK}/documents/first").status_code == 404
    assert client.get(f"{BANK}/operations").json()["total"] == 0


def test_background_work_is_named_so_that_a_path_can_ask_for_it(client: TestClient) -> None:
    body = {"items": [{"content": "x"}], "async": True, "operation_id": "a/b"}
    assert "operation_id" in refused(client.post(f"{BANK}/memories", json=body))


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
def test_json_under_another_name_is_told_how_to_be_sent(client: TestClient, kind: str) -> None:
    answer = client.post(f"{BANK}/memories/recall", content=b'{"query": "x"}', headers={"content-type": kind})
    assert "Content-Type: application/json" in refused(answer)


def test_after_a_defect_the_client_is_told_that_the_connection_ends(
    client: TestClient, engine: Perdure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(type(engine.banks), "stats", broken)
    answer = client.get(f"{BANK}/stats")
    assert answer.status_code == 500
    assert answer.headers["connection"] == "close"


def test_the_published_schema_bounds_no_text_that_nothing_bounds(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert "maxLength" not in json.dumps(schemas["RecallRequest"])
    assert "maxLength" not in json.dumps(schemas["MemoryItem"])
    assert schemas["RetainRequest"]["properties"]["operation_id"]["anyOf"][0]["maxLength"] == 128


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (b"", "an archive with a bank"),
        (b"not JSON", "line 1"),
        (b"5", "line 1"),
        (b'{"kind": "bank"}\n{"kind": "document"}', "line 2"),
        (b'{"kind": "chunk", "document_id": "d", "spans": 5, "text": "x"}', "line 1"),
        (b"\xff", "not damaged"),
    ],
)
def test_a_damaged_archive_says_where_when_it_is_merged(client: TestClient, lines: bytes, said: str) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("bank.jsonl", lines)
    sent = client.post(f"{BANK}/document-transfer", files={"file": ("t.zip", archive.getvalue())})
    ended = wait_for(client, "b", sent.json()["operation_id"])
    assert ended["status"] == "failed"
    assert said in ended["error_message"]
