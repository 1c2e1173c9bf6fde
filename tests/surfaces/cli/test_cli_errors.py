"""Errors: one line, no trace, a code that scripts can use, and the name of what was wrong."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("recall", "x", "--budget", "huge"), 2, "budget"),
        (("recall", "x", "--recipe", "soup"), 2, "recipe"),
        (("recall", "x", "--type", "rumour"), 2, "--type"),
        (("recall", "x", "--since", "soon"), 2, "--since"),
        (("recall", "x", "--max-tokens", "-1"), 2, "max-tokens"),
        (("recall", "   "), 2, "query"),
        (("recall", "x", "--bank", "nobody"), 3, "bank 'nobody' does not exist"),
        (("facts", "show", "no-such-fact"), 3, "fact 'no-such-fact' does not exist"),
        (("facts", "list", "--entity", "Nobody"), 3, "entity 'Nobody' does not exist"),
        (("retain", "missing.md"), 3, "file 'missing.md' does not exist"),
        (("retain", "x", "--metadata", "novalue"), 2, "--metadata"),
        (("retain", "x", "--format", "xml"), 2, "--format"),
        (("import", "missing.jsonl", "--bank", "b"), 3, "missing.jsonl"),
        (("export", "no/such/folder/bank.jsonl"), 3, "folder 'no/such/folder'"),
        (("forget", "--document", "nothing", "--yes"), 3, "document 'nothing' does not exist"),
        (("demo", "--keep", "perdure.db"), 2, "--keep"),
        (("banks", "configure", "--name", "x"), 2, "BANK"),
        (("serve", "--host", "0.0.0.0"), 1, "no API key"),
        (("operations", "show", "nothing"), 3, "operation 'nothing' does not exist"),
        (("operations", "cancel"), 2, "ID"),
        (("config", "colour"), 2, "name"),
        (("recall",), 2, "QUESTION"),
        (("recal", "x"), 2, "Did you mean 'recall'"),
        (("recall", "x", "--colour"), 2, "--colour"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_an_error_is_one_line_that_names_its_cause(
    cli: Any, args: tuple[str, ...], code: int, said: str
) -> None:
    cli.remembered("Tomás plays the cello.")
    ran = cli(*args)
    assert ran.code == code, ran.err
    assert ran.err.startswith("perdure: error: ")
    assert said.lower() in ran.err.lower()
    assert len(ran.err.strip().splitlines()) == 1
    assert ran.out == ""


def test_errors_as_json_carry_a_stable_code_and_the_field(cli: Any) -> None:
    cli.remembered("Tomás plays the cello.")
    wrong = cli("recall", "x", "--budget", "huge", "--json")
    assert wrong.error["code"] == "invalid_input"
    assert wrong.error["field"] == "--budget"
    assert cli("recall", "x", "--bank", "nobody", "--json").error["code"] == "not_found"


def test_a_reading_command_does_not_make_a_database(cli: Any) -> None:
    ran = cli("recall", "x", "--database", "typo.db")
    assert ran.code == 3
    assert "typo.db" in ran.err
    assert not (cli.folder / "typo.db").exists()


def test_a_wrong_setting_is_named(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_PORT", "many")
    ran = cli("facts", "list")
    assert ran.code == 2
    assert "setting port" in ran.err


def test_a_broken_settings_file_is_named(cli: Any) -> None:
    (cli.folder / "perdure.toml").write_text("recipe = \n")
    ran = cli("facts", "list")
    assert ran.code == 2
    assert "perdure.toml" in ran.err


def test_a_file_that_is_no_database_is_refused(cli: Any) -> None:
    (cli.folder / "notes.db").write_text("not a database " * 100)
    ran = cli("facts", "list", "--database", "notes.db")
    assert ran.code == 1
    assert len(ran.err.strip().splitlines()) == 1
