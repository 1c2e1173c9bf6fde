"""What a user types by mistake: empty values, dates at the edge, other bytes than UTF-8, text that steers a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.domain.operation import Operation
from perdure.surfaces.cli.config import draw_models
from perdure.surfaces.cli.draw import draw_record
from perdure.surfaces.cli.draw_recall import explain_table
from perdure.surfaces.cli.inside import draw_banks
from perdure.surfaces.cli.keys import draw_keys
from perdure.surfaces.cli.output import HarmlessConsole
from perdure.surfaces.cli.session import confirm
from perdure.surfaces.cli.thinking import draw_operations
from perdure.surfaces.keys import ApiKey, Scope

UNREADABLE = Path("/proc/self/mem")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("retain", ""), "text: expected non-empty text"),
        (("retain", "x", "--document-id", ""), "--document-id: expected non-empty text"),
        (("retain", "x", "--tag", " "), "--tag: expected non-empty text"),
        (("retain", "x", "--speaker", ""), "--speaker: expected non-empty text"),
        (("retain", "x", "--metadata", "=value"), "--metadata: expected KEY=VALUE"),
        (("facts", "--entity", ""), "--entity: expected non-empty text"),
        (("facts", "some-id", "--closed"), "ID: expected either the id of a fact or what to list"),
        (
            ("timeline", "--since", "2025-01-01", "--until", "2024-01-01"),
            "--since: expected a date not after --until",
        ),
        (("operations", "some-id", "--wait", "inf"), "--wait"),
        (("mcp", "--bank", "a/b"), "bank: expected"),
        (("banks", "\udcff"), "command line: expected arguments in UTF-8"),
        (("facts", "--text", "\udcff"), "command line: expected arguments in UTF-8"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_value_that_says_nothing_is_refused_by_its_name(cli: Any, args: tuple[str, ...], said: str) -> None:
    cli.remembered("Tomás plays the cello.")
    (cli.folder / "private.txt").write_text("Tomás hides the key under the mat.")
    ran = cli(*args)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert cli("stats", "--json").json["facts"] == 1


def test_facts_by_tag_are_those_that_carry_it(cli: Any) -> None:
    cli.remembered("Tomás plays the cello.")
    cli("retain", "Maya lives in Lisbon.", "--tag", "places")
    for command in ("facts", "timeline"):
        found = cli(command, "--tag", "places", "--json").json
        assert [fact["text"] for fact in found["facts"]] == ["Maya lives in Lisbon."], command
    assert cli("facts", "--document", "nothing").code == 3


def test_a_misspelt_name_in_the_settings_file_is_named(cli: Any) -> None:
    (cli.folder / "perdure.toml").write_text("prot = 1\n")
    ran = cli("banks")
    assert ran.code == 2
    assert "perdure.toml" in ran.err
    assert "'prot'" in ran.err
    listed = cli("config", "--json")
    assert listed.code == 0
    assert "port" in [row["name"] for row in listed.json["settings"]]
    assert "'prot'" in listed.err


@pytest.mark.skipif(not UNREADABLE.exists(), reason="needs a file that exists and cannot be read")
def test_a_file_that_cannot_be_read_is_named_and_does_not_stop_its_folder(cli: Any) -> None:
    notes = cli.folder / "notes"
    notes.mkdir()
    (notes / "good.txt").write_text("Tomás plays the cello.")
    (notes / "bad.txt").symlink_to(UNREADABLE)
    (notes / "b\udcffd.txt").write_text("Tomás plays the oboe.")
    ran = cli("retain", "notes", "--json")
    assert ran.code == 0, ran.err
    assert [skipped["file"] for skipped in ran.json["skipped"]] == ["notes/bad.txt", "notes/b\\udcffd.txt"]
    assert ran.json["facts"] == 1
    alone = cli("retain", "notes/bad.txt")
    assert alone.code == 2
    assert "notes/bad.txt: expected a file that can be read" in alone.err


def test_a_memory_cannot_steer_the_terminal(cli: Any) -> None:
    cli.remembered("Tomás plays \x1b]0;owned\x07 the \x1b[31mcello\x9b2J.")
    for args in (("facts",), ("recall", "cello"), ("timeline",), ("context", "cello"), ("reflect", "cello")):
        assert not set(cli(*args).out) & {"\x1b", "\x07", "\x9b"}, args


def test_a_question_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda question, **_: asked.append(question))
    confirm("Erase “\x1b[31mcello”?", yes=False)
    assert asked == ["Erase “[31mcello”?"]


def drawn(width: int, draw: Any, *args: Any) -> str:
    target = io.StringIO()
    draw(HarmlessConsole(file=target, width=width), *args)
    assert max(map(len, target.getvalue().splitlines())) <= width
    return target.getvalue()


def test_lists_are_whole_in_a_narrow_terminal(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("a-bank-with-rather-a-long-name", "Tomás plays the cello.")
        (bank,) = engine.banks.list()
        shown = drawn(60, draw_banks, [(bank, engine.banks.stats(bank.id))])
        result = engine.recall(bank.id, "Who plays the cello?", explain=True)
    assert "…" not in shown
    assert f"{bank.updated_at:%Y-%m-%d}" in shown
    row = {
        "name": "answerai-colbert-small-v1", "kind": "embedder", "dimensions": 384, "max_tokens": 512,
        "licence": "Apache-2.0", "in_use": True, "source": "package", "missing": None,
    }  # fmt: skip
    assert row["name"] in drawn(60, draw_models, [row])
    work = [Operation(id="6-32c7-0c6d-" * 3, bank=bank.id, kind="retain", error="no room")]
    assert work[0].id in drawn(60, draw_operations, work)
    assert work[0].id in drawn(100, draw_operations, work)
    key = ApiKey(
        id="c7e2a570fe1a8e1f", name="n" * 40, banks=("b" * 128,), scopes=frozenset({Scope.READ, Scope.WRITE})
    )
    assert key.id in drawn(60, draw_keys, [key])
    assert drawn(60, draw_record, {"id": "b" * 128}).count("b") == 128
    inside_a_panel = explain_table(result, result.recollections, 56, brief=True)
    figures = drawn(56, lambda console: console.print(inside_a_panel))
    assert f"{result.recollections[0].score:.3f}" in figures
