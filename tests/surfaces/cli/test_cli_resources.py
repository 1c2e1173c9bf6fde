"""The commands of resources, which are derived from the declarations of their verbs."""

from __future__ import annotations

from typing import Any

from perdure.surfaces.cli.main import find_entry
from perdure.verbs import VERBS

NOT_PEOPLE = {"facts.get_many", "banks.find", "banks.export", "banks.restore"}
"""Verbs that other commands stand for."""


def test_every_verb_of_a_resource_is_a_command() -> None:
    for name in (
        "facts",
        "documents",
        "entities",
        "opinions",
        "models",
        "knowledge",
        "directives",
        "webhooks",
    ):
        entry = find_entry(name)
        assert entry is not None
        verbs = {verb.partition(".")[2] for verb in VERBS.keys() - NOT_PEOPLE if verb.startswith(f"{name}.")}
        commands = {"get" if one == "show" else one.replace("-", "_") for one in entry.load().commands}
        assert commands == verbs, name


def test_a_mental_model_from_making_to_deleting(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.", "Ann Lee owns a boat.")
    question = ("models", "create", "Ann", "What does Ann Lee do?", "--model-id", "ann")
    created = cli(*question, "--trigger", "mode=delta", "--json")
    assert (created.code, created.json["mental_model"]["id"]) == (0, "ann")
    assert created.json["operation"]["result"]["outcome"] == "content_written"
    assert "paints houses" in cli("models", "show", "ann").out
    cli.remembered("Ann Lee climbs.")
    assert [one["id"] for one in cli("models", "list", "--json").json["models"]] == ["ann"]
    assert cli("models", "stale", "--json").json["stale"] == ["ann"]
    assert "+- Ann Lee climbs." in cli("models", "preview", "ann").out
    assert "content_written" in cli("models", "refresh", "ann").out
    assert cli("models", "search", "climbing", "--json").json["search"][0]["model"]["id"] == "ann"
    assert len(cli("models", "history", "ann", "--json").json["history"]) == 2
    changed = cli(
        "models", "update", "ann", "--trigger", "refresh_cron=0 3 * * *", "--name", "Ann Lee", "--json"
    ).json
    assert (changed["trigger"]["refresh_cron"], changed["trigger"]["mode"]) == ("0 3 * * *", "delta")
    assert cli("models", "refresh-due", "--json").json["refresh_due"] == []
    assert cli("models", "clear", "ann", "--yes").code == 0
    assert cli("models", "show", "ann", "--json").json["content"] == ""
    assert cli("models", "delete", "ann", "--yes", "--json").json == {"deleted": "ann"}
    assert cli("models", "show", "ann").code == 3
    assert "no models" in cli("models", "list").out


def test_a_refresh_without_anything_to_say_fails(cli: Any) -> None:
    created = cli("models", "create", "Ann", "What does Ann Lee do?", "--model-id", "ann")
    assert created.code == 1
    assert "memory holds nothing in scope" in created.out
    assert cli("models", "refresh").code == 2
    assert cli("models", "create", "x", "y", "--trigger", "refresh_cron=often").code == 2
    asked = cli("knowledge", "create-page", "x", "y", "--trigger", "often")
    assert "--trigger: expected KEY=VALUE" in asked.err


def test_the_knowledge_base(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    folder = cli("knowledge", "create-folder", "People", "--json").json["id"]
    asked = ("knowledge", "create-page", "Ann", "What does Ann Lee do?", "--in", folder)
    page = cli(*asked, "--trigger", 'fact_types=["world"]', "--json").json["knowledge_node"]["id"]
    tree = cli("knowledge", "tree").out
    assert page[-8:] in tree
    assert "\n  Ann" in tree or "  Ann " in tree
    assert cli("knowledge", "markdown", page).out.startswith('---\ntype: "knowledge-page"')
    assert cli("knowledge", "search", "paints", "--json").json["search"][0]["node"]["id"] == page
    assert cli("knowledge", "update", page, "--name", "Ann Lee", "--json").json["parent_id"] == folder
    assert cli("knowledge", "update", folder, "--in", folder).code == 2
    assert cli("knowledge", "export", "--to", "wiki").code == 0
    assert "paints houses" in (cli.folder / "wiki" / f"{page}.md").read_text()
    assert cli("knowledge", "delete", page, "--yes").code == 0
    assert cli("knowledge", "show", page).code == 3


def test_directives(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    made = cli("directives", "create", "Tone", "Be kind.", "--priority", "2", "--tag", "mail", "--json").json
    rule = made["id"]
    assert "Be kind." in cli("directives", "list").out
    assert cli("directives", "list", "--tag", "chat", "--json").json["directives"] == []
    changed = cli("directives", "update", rule[-8:], "--off", "--text", "Be brief.", "--json").json
    assert (changed["is_active"], changed["content"]) == (False, "Be brief.")
    assert cli("directives", "list", "--json").json["directives"] == []
    assert len(cli("directives", "list", "--no-active-only", "--json").json["directives"]) == 1
    assert cli("directives", "show", rule, "--json").json["priority"] == 2
    assert [one["content"] for one in cli("directives", "history", rule, "--json").json["history"]] == [
        "Be kind."
    ]
    refused = cli("directives", "delete", rule, stdin="")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert cli("directives", "delete", rule, "--yes").code == 0
    assert cli("directives", "show", rule).code == 3


def test_a_secret_is_never_shown(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    made = cli("webhooks", "create", "https://example.org/hook", "--secret", "s3cret", "--json")
    assert made.code == 0
    assert "s3cret" not in made.out + cli("webhooks", "list").out + cli("webhooks", "list", "--json").out


def test_a_fact_is_corrected_and_closed(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    (fact,) = cli("facts", "list", "--json").json["facts"]
    changed = cli("facts", "update", fact["id"], "--text", "Ann Lee paints boats.", "--json").json
    assert changed["text"] == "Ann Lee paints boats."
    assert cli("facts", "invalidate", changed["id"], "--reason", "a guess").code == 0
    assert cli("facts", "list", "--json").json["facts"] == []
    closed = cli("facts", "list", "--include-closed", "--json").json["facts"]
    assert {one["text"] for one in closed} == {"Ann Lee paints houses.", "Ann Lee paints boats."}


def test_background_work_is_waited_for_and_shown(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    done = cli("consolidate", "--json").json
    assert (done["kind"], done["status"]) == ("consolidation", "completed")
    assert done["id"][-8:] in cli("operations", "list").out
    assert cli("operations", "show", done["id"][-8:], "--json").json["id"] == done["id"]
    assert cli("operations", "delete", done["id"], "--yes").code == 0
    assert cli("operations", "show", done["id"]).code == 3
    assert cli("observations", "recover", "--json").json == {"recover": 0}
