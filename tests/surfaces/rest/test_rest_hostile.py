"""REST: what is no text, no list, no window or no JSON is refused by its place, and nothing of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.rest.app import create_app
from tests.support.rest_server import open_quick

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


def test_after_a_defect_the_client_is_told_that_the_connection_ends(
    client: TestClient, engine: Perdure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(type(engine.banks), "stats", broken)
    answer = client.get(f"{BANK}/stats")
    assert answer.status_code == 500
    assert answer.headers["connection"] == "close"
