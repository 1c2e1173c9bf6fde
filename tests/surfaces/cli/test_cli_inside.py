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
    page = talked("facts", "list", "--limit", "1", "--json").json
    assert page["total"] >= 2
    assert len(page["facts"]) == 1
    fact = page["facts"][0]
    assert talked("facts", "show", fact["id"], "--json").json == fact
    assert fact["id"][-8:] in talked("facts", "list").out
    assert talked("facts", "show", fact["id"][-8:], "--json").json == fact
    assert talked("facts", "show", "00000000").code == 3
    assert "cello" in talked("facts", "list", "--text", "cello").out


def test_entities_are_listed_and_select_facts(talked: Any) -> None:
    names = {entity["name"] for entity in talked("entities", "list", "--json").json["entities"]}
    assert "Maya" in names
    of_maya = talked("facts", "list", "--entity", "maya", "--json").json["facts"]
    assert of_maya
    assert all("Maya" in fact["entities"] for fact in of_maya)
    assert "Maya" in talked("entities", "list").out


def test_facts_of_a_time_are_in_the_order_of_events(talked: Any) -> None:
    facts = talked("facts", "list", "--order", "earliest_dated", "--json").json["facts"]
    dates = [fact["occurred_start"] or fact["mentioned_at"] for fact in facts]
    assert dates == sorted(dates)
    assert len(facts) >= 2
    only_june = talked("facts", "list", "--since", "2024-06-01", "--json").json["facts"]
    assert only_june
    assert all("cello" in fact["text"] for fact in only_june)
    assert "2024-03-02" in talked("facts", "list", "--until", "2024-03-02").out
    refused = talked("facts", "list", "--since", "2025-01-01", "--until", "2024-01-01")
    assert (refused.code, "since: expected a date not after until" in refused.err) == (2, True)


def test_banks_stats_and_mission(talked: Any) -> None:
    assert [bank["id"] for bank in talked("banks", "list", "--json").json["banks"]] == ["default"]
    assert talked("banks", "configure", "work", "--mission", "Remember work").code == 0
    assert talked("banks", "show", "work", "--json").json["mission"] == "Remember work"
    assert {"default", "work"} == {bank["id"] for bank in talked("banks", "list", "--json").json["banks"]}
    counted = talked("banks", "stats", "default", "--json").json["current_facts"]
    assert counted == talked("facts", "list", "--json").json["total"]
    assert "current_facts" in talked("banks", "stats", "default").out
    assert "default" in talked("banks", "list").out


def test_history_of_an_unknown_subject_is_empty(talked: Any) -> None:
    assert talked("facts", "history", "Nobody", "--json").json["history"] == []


def test_export_and_import_give_the_same_bank(talked: Any) -> None:
    assert talked("export", "bank.jsonl", "--json").json["lines"] > 2
    assert not list(talked.folder.glob("*.part"))
    assert talked("export", "bank.jsonl").code == 2
    assert talked("import", "bank.jsonl", "--bank", "copy", "--json").json["facts"] >= 2
    original = {fact["text"] for fact in talked("facts", "list", "--json").json["facts"]}
    assert {
        fact["text"] for fact in talked("facts", "list", "--bank", "copy", "--json").json["facts"]
    } == original


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
    assert talked("banks", "reembed", "default", "--json").json["reembed"] >= 2


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
    assert talked("operations", "list", "--json").json["operations"] == []


def test_demo_answers_its_questions(cli: Any) -> None:
    ran = cli("demo", "--json")
    assert ran.code == 0
    *answered, refused = ran.json["questions"]
    assert all(question["results"][0]["explain"]["channels"] for question in answered)
    assert (refused["kind"], refused["abstained"]) == ("refused", True)
    assert "after a change" in [question["kind"] for question in answered]
    assert not list(cli.folder.iterdir())
    drawn = cli("demo").out
    assert all(question["query"] in drawn for question in ran.json["questions"])


def test_demo_goes_on_without_its_embedder_and_says_so(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_EMBEDDER", "no-such-model")
    ran = cli("demo")
    assert ran.code == 0
    assert "goes on without embedder" in ran.err
    assert "without semantic" in ran.out
