"""Mental models, directives, the knowledge base and templates over HTTP, held against the reference."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.rest_checked import BANKS, Checked, checked_client, fill_main
from tests.support.rest_server import open_quick, running, wait_for

WORLD = {"fact_types": ["world", "experience"]}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    with checked_client(tmp_path_factory.mktemp("rest")) as client:
        fill_main(client)
        yield client


def made(client: Checked, bank: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A new model when its first refresh has ended: its id and that operation."""
    body = {"name": "Team", "source_query": "What do we know about Alice Johnson?", **fields}
    response = client.post(f"{BANKS}/{bank}/mental-models", json=body)
    assert response.status_code == 200, response.text
    return response.json()["mental_model_id"], wait_for(client, bank, response.json()["operation_id"])


def test_a_model_is_written_from_the_facts_in_its_scope(client: Checked) -> None:
    model_id, operation = made(client, "main", tags=["work"])
    assert model_id.startswith("mm-")
    assert (operation["status"], operation["details"]["outcome"]) == ("completed", "content_written")
    model = client.get(f"{BANKS}/main/mental-models/{model_id}").json()
    assert "Alice Johnson works at Google" in model["content"]
    assert "chess" not in model["content"]
    assert model["is_stale"] is False
    cited = [fact for facts in model["reflect_response"]["based_on"].values() for fact in facts]
    assert all("work" in fact["tags"] for fact in cited)
    assert "trace" not in model["reflect_response"]
    listed = client.get(f"{BANKS}/main/operations", params={"type": "refresh_mental_model"}).json()
    assert model_id in [one["mental_model_id"] for one in listed["operations"]]


def test_dry_run_writes_nothing_and_refresh_does_what_it_said(client: Checked) -> None:
    items = [{"content": "Dora Hill paints boats."}, {"content": "Dora Hill owns a dog."}]
    client.post(f"{BANKS}/dry/memories", json={"items": items})
    query = "What does Dora Hill do?"
    model_id, _ = made(client, "dry", source_query=query, trigger={"mode": "delta", "keep_trace": True})
    path = f"{BANKS}/dry/mental-models/{model_id}"
    client.post(f"{BANKS}/dry/memories", json={"items": [{"content": "Dora Hill sings in a choir."}]})
    before = client.get(path).json()
    assert before["is_stale"] is True
    first = client.post(f"{path}/dry-run-refresh").json()
    again = client.post(f"{path}/dry-run-refresh").json()
    assert client.get(path).json() == before
    assert first["diff"] == again["diff"]
    assert "+- Dora Hill sings in a choir." in first["diff"]
    assert (first["requested_mode"], first["effective_mode"], first["outcome"]) == (
        "delta", "delta", "content_written",
    )  # fmt: skip
    assert first["window"]["created_after"] == before["last_memory_seen_at"]
    assert [one["op"] for one in first["delta_operations"]["applied"]] == ["add_sentence"]
    assert first["scope"]["exclude_mental_model_ids"] == [model_id]
    operation = client.post(f"{path}/refresh").json()
    assert operation["status"] == "queued"
    wait_for(client, "dry", operation["operation_id"])
    after = client.get(path).json()
    assert after["content"] == first["preview_content"]
    assert after["reflect_response"]["trace"]["effective_mode"] == "delta"
    unchanged = client.post(f"{path}/dry-run-refresh").json()
    assert (unchanged["outcome"], unchanged["would_persist"], unchanged["diff"]) == (
        "content_preserved_no_new_facts", False, "",
    )  # fmt: skip


def test_a_template_survives_a_round_trip(client: Checked) -> None:
    trigger = {
        "mode": "delta", "refresh_cron": "5 4 * * sun", "min_refresh_interval_seconds": 60, **WORLD,
        "exclude_mental_models": True, "exclude_mental_model_ids": ["other"], "tags_match": "any",
        "tag_groups": [{"or": [{"tags": ["a"], "match": "any_strict"}, {"not": {"tags": ["b"], "match": "all"}}]}],
        "include_chunks": True, "recall_max_tokens": 100, "recall_chunks_max_tokens": 50,
        "response_schema": {"properties": {"job": {"type": "string"}}}, "keep_trace": True,
        "refresh_after_consolidation": False,
    }  # fmt: skip
    manifest = {
        "version": "1",
        "bank": {"reflect_mission": "Help", "mental_model_min_refresh_interval_seconds": 7},
        "mental_models": [
            {
                "id": "team",
                "name": "Team",
                "source_query": "Who?",
                "tags": ["a"],
                "max_tokens": 300,
                "trigger": trigger,
            }
        ],
        "directives": [
            {"name": "Tone", "content": "Be kind.", "priority": 2, "is_active": False, "tags": ["x"]}
        ],
    }
    path = f"{BANKS}/from-template"
    planned = client.post(f"{path}/import", json=manifest, params={"dry_run": True}).json()
    assert (planned["mental_models_created"], planned["directives_created"]) == (["team"], ["Tone"])
    assert client.get(f"{path}/export").status_code == 404, "a dry run makes nothing"
    done = client.post(f"{path}/import", json=manifest).json()
    assert len(done["operation_ids"]) == 1
    assert client.get(f"{path}/export").json() == manifest
    again = client.post(f"{path}/import", json=manifest).json()
    assert (again["mental_models_updated"], again["directives_updated"]) == (["team"], ["Tone"])
    assert again["operation_ids"] == [], "nothing changed"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"version": "2"},
        {"version": "1", "bank": {"no_such_name": 1}},
        {"version": "1", "mental_models": [{"id": "A", "name": "n", "source_query": "q"}]},
        {"version": "1", "mental_models": [{"id": "a", "name": "n", "source_query": "q"}] * 2},
        {"version": "1", "mental_models": [{"id": "a", "name": "n"}]},
        {"version": "1", "directives": [{"name": "n", "content": "c"}] * 2},
        {"version": "1", "directives": [{"name": "", "content": "c"}]},
        [],
    ],
)
def test_faults_of_a_template_are_400_and_make_nothing(client: Checked, wrong: Any) -> None:
    path = f"{BANKS}/never-made"
    assert client.post(f"{path}/import", json=wrong).status_code == 400
    assert client.get(f"{path}/export").status_code == 404


def test_the_server_attends_to_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.surfaces.schedules.SCHEDULE_SECONDS", 0.05)
    asked: list[object] = []
    with open_quick(tmp_path) as engine:
        monkeypatch.setattr(engine.models, "refresh_due", lambda: asked.append(1))
        with running(engine):
            for _ in range(200):
                if asked:
                    break
                time.sleep(0.02)
    assert asked
