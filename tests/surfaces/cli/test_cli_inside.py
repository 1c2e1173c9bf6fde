"""Looking into a memory and taking care of it, from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.surfaces.cli.main import every_entry

TALK = [
    {"speaker": "Maya", "text": "I work at Lumen Labs in Lisbon.", "date": "2024-03-02"},
    {"speaker": "Tomás", "text": "I bought a cello yesterday.", "date": "2024-06-10"},
]


@pytest.fixture
def talked(cli: Any) -> Any:
    (cli.folder / "talk.json").write_text(json.dumps(TALK), encoding="utf-8")
    assert cli("retain", "talk.json").code == 0
    return cli


def test_every_command_loads_and_has_help_and_json(cli: Any) -> None:
    for entry in every_entry():
        ran = cli(entry.name, "--help")
        assert ran.code == 0, entry.name
        if entry.name in ("mcp", "assistant", "hook"):  # what they print is a protocol
            continue
        shown = [cli(entry.name, name, "--help") for name in getattr(entry.load(), "commands", ())] or [ran]
        assert all("--json" in one.out for one in shown), entry.name


def test_help_lists_every_command(cli: Any) -> None:
    shown = cli("--help").out
    assert all(entry.name in shown and entry.summary in shown for entry in every_entry())
    assert cli().out == shown


def test_facts_are_listed_paged_and_shown_in_full(talked: Any) -> None:
    page = talked("facts", "--limit", "1", "--json").json
    assert page["total"] >= 2
    assert len(page["facts"]) == 1
    fact = page["facts"][0]
    assert talked("facts", fact["id"], "--json").json == fact
    assert fact["id"] in talked("facts").out
    assert "cello" in talked("facts", "--text", "cello").out


def test_entities_are_listed_and_select_facts(talked: Any) -> None:
    names = {entity["name"] for entity in talked("entities", "--json").json["entities"]}
    assert "Maya" in names
    of_maya = talked("facts", "--entity", "maya", "--json").json["facts"]
    assert of_maya
    assert all("Maya" in fact["entities"] for fact in of_maya)
    assert "Maya" in talked("entities").out


def test_timeline_is_in_the_order_of_events(talked: Any) -> None:
    facts = talked("timeline", "--json").json["facts"]
    dates = [fact["occurred_start"] or fact["mentioned_at"] for fact in facts]
    assert dates == sorted(dates)
    assert len(facts) >= 2
    only_june = talked("timeline", "--since", "2024-06-01", "--json").json["facts"]
    assert only_june
    assert all("cello" in fact["text"] for fact in only_june)
    assert "2024-03-02" in talked("timeline").out


def test_banks_stats_and_mission(talked: Any) -> None:
    assert [bank["id"] for bank in talked("banks", "--json").json["banks"]] == ["default"]
    assert talked("banks", "work", "--mission", "Remember work", "--json").json["mission"] == "Remember work"
    assert {"default", "work"} == {bank["id"] for bank in talked("banks", "--json").json["banks"]}
    assert talked("stats", "--json").json["current_facts"] == talked("facts", "--json").json["total"]
    assert "facts" in talked("stats").out
    assert "default" in talked("banks").out


def test_history_of_an_unknown_subject_is_not_found(talked: Any) -> None:
    assert talked("history", "Nobody", "--json").code == 3


def test_export_and_import_give_the_same_bank(talked: Any) -> None:
    assert talked("export", "bank.jsonl", "--json").json["lines"] > 2
    assert not list(talked.folder.glob("*.part"))
    assert talked("export", "bank.jsonl").code == 2
    assert talked("import", "bank.jsonl", "--bank", "copy", "--json").json["facts"] >= 2
    original = {fact["text"] for fact in talked("facts", "--json").json["facts"]}
    assert {fact["text"] for fact in talked("facts", "--bank", "copy", "--json").json["facts"]} == original


def test_export_goes_to_standard_output(talked: Any) -> None:
    lines = talked("export").out.splitlines()
    assert json.loads(lines[0])["kind"] == "bank"
    assert talked("import", "-", "--bank", "piped", "--json", stdin="\n".join(lines)).json["facts"] >= 2


def test_config_shows_origins_and_masks_secrets(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_EMBEDDING_KEY", "sk-very-secret")
    monkeypatch.setenv("HINDSIGHT_API_RECALL_BUDGET_FIXED_LOW", "77")
    monkeypatch.setenv("PERDURE_DATABASE", "postgresql://me:hunter2@host/db")
    (cli.folder / "perdure.toml").write_text('recipe = "fast"\n')
    ran = cli("config", "--json")
    rows = {row["name"]: row for row in ran.json["settings"]}
    assert rows["recipe"]["value"] == "fast"
    assert rows["recipe"]["origin"] == "perdure.toml"
    assert rows["budget_low"]["origin"] == "HINDSIGHT_API_RECALL_BUDGET_FIXED_LOW"
    assert rows["embedder"]["origin"] == "PERDURE_EMBEDDER"
    assert rows["host"]["origin"] == "default"
    for text in (ran.out, cli("config").out):
        assert "sk-very-secret" not in text
        assert "hunter2" not in text


def test_keys_are_made_listed_and_revoked(cli: Any) -> None:
    made = cli("keys", "create", "--name", "ci", "--bank", "work", "--scope", "read", "--json").json
    assert made["key"].startswith("pdr_")
    listed = cli("keys", "list", "--json").json["keys"]
    assert [(key["name"], key["banks"], key["scopes"]) for key in listed] == [("ci", ["work"], ["read"])]
    assert made["key"] not in cli("keys", "list", "--json").out
    assert "digest" not in listed[0]
    assert cli("keys", "revoke", made["id"], "--yes", "--json").json == {"revoked": made["id"]}
    assert cli("keys", "list", "--json").json["keys"] == []
    assert cli("keys", "revoke", made["id"], "--yes").code == 3
    assert cli("keys", "create", "--scope", "everything").code == 2


def test_reembed_changes_the_bank_over(talked: Any) -> None:
    done = talked("reembed", "default", "--json").json
    assert done["facts"] >= 2
    assert done["model"]["name"]


def test_models_tells_where_each_was_found(cli: Any) -> None:
    rows = {row["name"]: row for row in cli("models", "--json").json["models"]}
    assert rows["e5-small-v2"]["source"]
    assert rows["e5-small-v2"]["missing"] is None
    assert "e5-small-v2" in cli("models").out


def test_doctor_measures_and_is_content(talked: Any) -> None:
    ran = talked("doctor", "--json")
    assert ran.code == 0, ran.out
    checks = {(check["section"], check["name"]): check for check in ran.json["checks"]}
    assert ran.json["healthy"] is True
    assert checks["Database", "file"]["state"] == "ok"
    assert checks["Models", "embedder"]["figures"]["query_ms"] > 0
    assert checks["Models", "reranker"]["state"] == "warn"
    assert checks["Round trip", "recall"]["figures"]["recall_ms"] > 0


def test_doctor_notices_a_missing_model(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_EMBEDDER", "no-such-model")
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert ran.json["healthy"] is False


def test_operations_are_listed(talked: Any) -> None:
    assert talked("operations", "--json").json["operations"] == []


def test_demo_answers_its_questions(cli: Any) -> None:
    ran = cli("demo", "--json")
    assert ran.code == 0
    assert len(ran.json["questions"]) == 4
    assert all(question["results"][0]["explain"]["channels"] for question in ran.json["questions"])
    assert not list(cli.folder.iterdir())
    drawn = cli("demo").out
    assert all(question["query"] in drawn for question in ran.json["questions"])


def test_demo_goes_on_without_models_and_says_so(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_EMBEDDER", "no-such-model")
    monkeypatch.setenv("PERDURE_RERANKER", "no-such-model")
    ran = cli("demo")
    assert ran.code == 0
    assert "goes on without embedder" in ran.err
    assert "goes on without reranker" in ran.err
    assert "without semantic" in ran.out
