"""Mental models, directives, the knowledge base and templates over HTTP, held against the reference."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.rest_checked import BANKS, Checked, checked_client, fill_main
from tests.integration.rest_server import open_quick, running, wait_for

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


def test_lists_are_newest_refresh_first_in_pages_that_do_not_overlap(client: Checked) -> None:
    ids = [made(client, "listed", id=f"m-{n}", tags=["a"] if n % 2 else [])[0] for n in range(4)]
    path = f"{BANKS}/listed/mental-models"
    seen = [
        item["id"]
        for offset in range(0, 4, 2)
        for item in client.get(path, params={"limit": 2, "offset": offset}).json()["items"]
    ]
    assert sorted(seen) == sorted(ids)
    tagged = client.get(path, params={"tags": ["a"]}).json()
    assert {item["id"] for item in tagged["items"]} == {"m-1", "m-3"}, "untagged models are left out"
    assert tagged["total"] == 2
    for wrong in ({"limit": 0}, {"limit": 1001}, {"offset": -1}, {"tags_match": "any_strict"}):
        assert client.get(path, params=wrong).status_code == 422


def test_settings_change_and_the_trigger_is_replaced_whole(client: Checked) -> None:
    model_id, _ = made(client, "main", trigger={"mode": "delta", "keep_trace": True})
    path = f"{BANKS}/main/mental-models/{model_id}"
    before = client.get(path).json()
    changed = client.patch(path, json={"name": "Other", "trigger": {"refresh_cron": "0 3 * * 1-5"}}).json()
    assert (changed["name"], changed["content"]) == ("Other", before["content"])
    assert (changed["trigger"]["mode"], changed["trigger"]["keep_trace"]) == ("full", False)
    assert client.patch(path, json={}).status_code == 404
    assert client.patch(path, json={"max_tokens": 1}).status_code == 422
    assert client.patch(f"{BANKS}/main/mental-models/nothing", json={"name": "x"}).status_code == 404


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


def test_directives(client: Checked) -> None:
    path = f"{BANKS}/main/directives"
    low = client.post(path, json={"name": "low", "content": "Be brief."}).json()
    high = client.post(path, json={"name": "high", "content": "Be kind.", "priority": 9}).json()
    mail = client.post(path, json={"name": "mail", "content": "Sign it.", "tags": ["mail"]}).json()
    assert [one["name"] for one in client.get(path).json()["items"]] == ["high", "mail", "low"]
    chat = client.get(path, params={"tags": ["chat"]}).json()
    assert [one["name"] for one in chat["items"]] == ["high", "low"], "untagged ones are always included"
    off = client.patch(f"{path}/{low['id']}", json={"is_active": False}).json()
    assert (off["is_active"], off["content"]) == (False, "Be brief.")
    assert client.get(path).json()["total"] == 2
    assert client.get(path, params={"active_only": False}).json()["total"] == 3

    def loaded(**body: Any) -> list[str]:
        asked = {"query": "Who plays chess?", "include": {"facts": {}}, **body}
        based_on = client.post(f"{BANKS}/main/reflect", json=asked).json()["based_on"]
        return [one["name"] for one in based_on["directives"]]

    assert loaded() == ["high"]
    assert loaded(tags=["mail"]) == ["high", "mail"]
    assert loaded(tags=["chat"]) == ["high"]
    assert loaded(apply_all_directives=True) == ["high", "mail"]
    assert client.patch(f"{path}/{mail['id']}", json={"tags": []}).json()["tags"] == []
    assert loaded() == ["high", "mail"]
    for one in (low, high, mail):
        assert client.delete(f"{path}/{one['id']}").json() == {"status": "deleted"}
    assert client.get(f"{path}/{low['id']}").status_code == 404
    assert client.post(path, json={"name": "", "content": "x"}).status_code == 422
    assert client.post(path, json={"name": "x"}).status_code == 422


def test_knowledge_base(client: Checked) -> None:
    client.post(
        f"{BANKS}/kb/memories",
        json={"items": [{"content": "Gina Lake repairs clocks."}, {"content": "Hal Moor bakes bread."}]},
    )
    path = f"{BANKS}/kb/knowledge-base"
    folder = client.post(f"{path}/folders", json={"name": "People"})
    assert folder.status_code == 201
    folder_id = folder.json()["id"]
    assert folder_id.startswith("kf-")
    body = {
        "name": "Gina", "source_query": "What does Gina Lake do?", "parent_id": folder_id,
        "tags": ["type:profile", "crew"], "trigger": {"tags_match": "any", **WORLD},
    }  # fmt: skip
    answer = client.post(f"{path}/pages", json=body)
    assert answer.status_code == 201
    page = answer.json()
    assert page["page_id"].startswith("kp-")
    wait_for(client, "kb", page["operation_id"])
    assert client.post(f"{path}/pages", json=body).status_code == 409
    (root,) = client.get(f"{path}/tree").json()["roots"]
    assert "is_stale" not in root
    (shown,) = root["children"]
    assert (shown["kind"], shown["is_stale"], shown["tags"]) == ("page", False, ["crew"])
    assert shown["trigger"]["refresh_after_consolidation"] is True
    document = client.get(f"{path}/pages/{page['page_id']}").json()
    assert document["type"] == "profile"
    assert "Gina Lake repairs clocks." in document["body"]
    assert document["markdown"].startswith('---\ntype: "profile"\ntitle: "Gina"\n')
    assert client.get(f"{path}/pages/{folder_id}").status_code == 404
    matches = client.get(f"{path}/search", params={"q": "who repairs clocks"}).json()
    assert [one["id"] for one in matches["results"]] == [page["page_id"]]
    assert len(matches["results"][0]["snippet"]) <= 280
    for wrong in ({}, {"q": ""}, {"q": "x", "limit": 0}, {"q": "x", "limit": 51}):
        assert client.get(f"{path}/search", params=wrong).status_code == 422
    files = {file["path"]: file["content"] for file in client.get(f"{path}/export").json()["files"]}
    assert set(files) == {"index.md", f"{page['page_id']}.md", f"{page['page_id']}.log.md"}
    assert files[f"{page['page_id']}.md"] == document["markdown"]

    node = f"{path}/nodes/{page['page_id']}"
    moved = client.patch(node, json={"parent_id": None, "trigger": {"refresh_cron": "0 4 * * *"}}).json()
    assert "parent_id" not in moved
    assert (moved["trigger"]["mode"], moved["trigger"]["refresh_after_consolidation"]) == ("delta", False)
    assert client.patch(node, json={}).status_code == 400
    assert client.patch(f"{path}/nodes/nothing", json={"name": "x"}).status_code == 404
    inner = client.post(f"{path}/folders", json={"name": "Inner", "parent_id": folder_id}).json()["id"]
    for parent in (folder_id, inner, "nothing", page["page_id"]):
        status = client.patch(f"{path}/nodes/{folder_id}", json={"parent_id": parent}).status_code
        assert status == 400, parent
    assert client.post(f"{path}/folders", json={"name": "x", "parent_id": "nothing"}).status_code == 400
    before = client.get(f"{BANKS}/kb/operations").json()["total"]
    client.patch(node, json={"source_query": "What does Hal Moor bake?", "parent_id": inner})
    assert client.get(f"{BANKS}/kb/operations").json()["total"] == before + 1
    assert client.delete(f"{path}/nodes/{folder_id}").json() == {"status": "deleted"}
    assert client.get(f"{path}/tree").json() == {"roots": []}
    assert client.get(f"{BANKS}/kb/mental-models").json()["total"] == 0
    assert client.delete(f"{path}/nodes/{folder_id}").status_code == 404


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
