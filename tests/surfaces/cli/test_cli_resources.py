"""`perdure mental-models`, `knowledge` and `directives`: the commands of the table of resources."""

from __future__ import annotations

from typing import Any


def test_a_mental_model_from_making_to_deleting(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.", "Ann Lee owns a boat.")
    created = cli(
        "mental-models", "create", "Ann", "What does Ann Lee do?", "--delta", "--id", "ann", "--json"
    )
    assert (created.code, created.json["mental_model_id"]) == (0, "ann")
    assert created.json["operation"]["result"]["outcome"] == "content_written"
    assert "paints houses" in cli("mental-models", "show", "ann").out
    cli.remembered("Ann Lee climbs.")
    (listed,) = cli("mental-models", "list", "--json").json["mental_models"]
    assert (listed["id"], listed["is_stale"]) == ("ann", True)
    dry = cli("mental-models", "refresh", "ann", "--dry-run")
    assert "+- Ann Lee climbs." in dry.out
    assert "content_written" in cli("mental-models", "refresh", "ann").out
    assert cli("mental-models", "search", "climbing", "--json").json["results"][0]["id"] == "ann"
    assert len(cli("mental-models", "history", "ann", "--json").json["versions"]) == 2
    changed = cli("mental-models", "update", "ann", "--cron", "0 3 * * *", "--name", "Ann Lee", "--json").json
    assert (changed["trigger"]["refresh_cron"], changed["trigger"]["mode"]) == ("0 3 * * *", "delta")
    assert cli("mental-models", "refresh", "--due").out.strip() == "refreshed 0"
    assert cli("mental-models", "clear", "ann", "--yes").code == 0
    assert cli("mental-models", "show", "ann", "--json").json["content"] == ""
    assert cli("mental-models", "delete", "ann", "--yes").code == 0
    assert cli("mental-models", "show", "ann").code == 3
    assert "no mental models" in cli("mental-models", "list").out


def test_a_refresh_without_anything_to_say_fails(cli: Any) -> None:
    created = cli("mental-models", "create", "Ann", "What does Ann Lee do?", "--id", "ann")
    assert created.code == 1
    assert "memory holds nothing in scope" in created.out
    assert cli("mental-models", "refresh").code == 2
    assert cli("mental-models", "create", "x", "y", "--cron", "often").code == 2


def test_the_knowledge_base(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    folder = cli("knowledge", "folder", "People", "--json").json["id"]
    page = cli(
        "knowledge", "page", "Ann", "What does Ann Lee do?", "--in", folder, "--type", "world", "--json"
    )
    page_id = page.json["mental_model_id"]
    assert page_id in cli("knowledge", "tree").out
    assert cli("knowledge", "show", page_id).out.startswith('---\ntype: "knowledge-page"')
    assert cli("knowledge", "search", "paints", "--json").json["results"][0]["node"]["id"] == page_id
    assert cli("knowledge", "move", page_id, "--name", "Ann Lee", "--json").json["parent_id"] == folder
    assert cli("knowledge", "move", page_id, "--json").json["parent_id"] is None
    assert cli("knowledge", "move", folder, "--in", folder).code == 2
    assert cli("knowledge", "export", "wiki").code == 0
    assert "paints houses" in (cli.folder / "wiki" / f"{page_id}.md").read_text()
    assert cli("knowledge", "delete", page_id, "--yes").code == 0
    assert cli("knowledge", "show", page_id).code == 3


def test_directives(cli: Any) -> None:
    cli.remembered("Ann Lee paints houses.")
    rule = cli("directives", "create", "Tone", "Be kind.", "--priority", "2", "--tag", "mail", "--json").json[
        "id"
    ]
    assert "Be kind." in cli("directives", "list").out
    assert cli("directives", "list", "--tag", "chat", "--json").json["directives"] == []
    changed = cli("directives", "update", rule, "--off", "--untagged", "--text", "Be brief.", "--json").json
    assert (changed["is_active"], changed["tags"], changed["content"]) == (False, [], "Be brief.")
    assert cli("directives", "list", "--json").json["directives"] == []
    assert len(cli("directives", "list", "--all", "--json").json["directives"]) == 1
    assert cli("directives", "show", rule, "--json").json["priority"] == 2
    assert cli("directives", "delete", rule, "--yes").code == 0
    assert cli("directives", "show", rule).code == 3
