"""REST: settings of a bank that act, operations that cannot be stopped, counts that agree, pages that may not call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.contrib.hindsight.listing import Listing
from perdure.surfaces.rest.app import create_app
from tests.integration.rest_server import QUICK, open_quick, wait_for

BANKS = "/v1/default/banks"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        yield engine


@pytest.fixture
def client(engine: Perdure) -> Iterator[TestClient]:
    with TestClient(create_app(engine), base_url="http://localhost") as client:
        yield client


def with_observation(engine: Perdure) -> tuple[str, str]:
    """A bank `observed` with a fact and an observation that rests on it; their ids."""
    engine.retain("plain", "Maya Silva plays the cello in Lisbon.", document_id="d")
    lines = [json.loads(line) for line in engine.banks.export("plain")]
    fact = next(line for line in lines if line["kind"] == "fact")
    features = {**fact["features"], "dedupe_key": "observation"}
    observation = {
        **fact, "id": "observation-1", "type": "observation", "source_fact_ids": [fact["id"]], "features": features,
    }  # fmt: skip
    engine.banks.restore("observed", [json.dumps(line) for line in [*lines, observation]])
    return fact["id"], "observation-1"


def test_a_bank_may_prefer_observations_to_what_they_rest_on(engine: Perdure, client: TestClient) -> None:
    fact, observation = with_observation(engine)

    def recalled(**asked: bool) -> set[str]:
        body = {"query": "Who plays the cello?", **asked}
        return {
            found["id"]
            for found in client.post(f"{BANKS}/observed/memories/recall", json=body).json()["results"]
        }

    assert recalled() == {fact, observation}
    assert recalled(prefer_observations=True) == {observation}
    updates = {"recall_prefer_observations": True}
    changed = client.patch(f"{BANKS}/observed/config", json={"updates": updates}).json()
    assert changed["inactive"] == []
    assert recalled() == {observation}
    assert recalled(prefer_observations=False) == {fact, observation}


def test_an_export_is_neither_cancelled_nor_retried(engine: Perdure, client: TestClient) -> None:
    engine.retain("b", "Maya Silva plays the cello.", document_id="d")
    operation = client.post(f"{BANKS}/b/document-transfer/export").json()["operation_id"]
    assert wait_for(client, "b", operation)["status"] == "completed"
    assert client.delete(f"{BANKS}/b/operations/{operation}").status_code == 409
    assert client.post(f"{BANKS}/b/operations/{operation}/retry").status_code == 409
    assert client.get(f"{BANKS}/b/operations/{operation}").json()["status"] == "completed"


def test_an_archive_is_gone_when_something_was_erased_since(engine: Perdure, client: TestClient) -> None:
    engine.retain("b", "Maya Silva plays the cello.", document_id="d")
    engine.retain("b", "Tom Berg paints.", document_id="e")
    operation = client.post(f"{BANKS}/b/document-transfer/export").json()["operation_id"]
    url = wait_for(client, "b", operation)["result_metadata"]["download_url"]
    assert client.get(url).status_code == 200
    engine.forget("b", document_id="d")
    assert client.get(url).status_code == 404


def test_links_by_type_agree_whether_they_are_read_or_known(engine: Perdure, client: TestClient) -> None:
    # Alike enough to be linked on any day: what is embedded holds the date.
    texts = [f"Maya Silva plays the {what} cello in Lisbon on Sunday evenings." for what in ("old", "new")]
    engine.retain("b", [{"content": text, "document_id": text} for text in texts])
    facts = list(Listing().every(engine, "b"))
    links = {
        (link.source, link.target, link.kind) for link in engine.facts.links("b", [fact.id for fact in facts])
    }
    assert links
    stats = client.get(f"{BANKS}/b/stats").json()
    assert {fact.type.value for fact in facts} == set(stats["links_breakdown"]) == {"world"}
    assert sum(stats["links_breakdown"]["world"].values()) == len(links) == stats["total_links"]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://localhost:3000"]
)
def test_a_web_page_of_another_origin_may_not_call_an_open_server(client: TestClient, origin: str) -> None:
    assert client.get(BANKS, headers={"Origin": origin}).status_code == 403
    assert client.get(BANKS, headers={"Origin": "http://localhost"}).status_code == 200


def test_what_is_declared_wrong_and_counted_by_day_follows_the_clock_of_the_memory(tmp_path: Path) -> None:
    then = datetime(2019, 3, 5, 12, 30, tzinfo=UTC)
    with (
        Perdure.open(tmp_path / "then.db", clock=lambda: then, **QUICK) as engine,
        TestClient(create_app(engine), base_url="http://localhost") as client,
    ):
        (fact,) = engine.retain("b", "Maya Silva plays the cello.").fact_ids
        counted = client.get(f"{BANKS}/b/stats/memories-timeseries").json()["buckets"]
        assert counted[-1]["time"].startswith("2019-03-05")
        assert client.patch(f"{BANKS}/b/memories/{fact}", json={"state": "invalidated"}).status_code == 200
        assert engine.facts.get("b", fact).retired_at == then
