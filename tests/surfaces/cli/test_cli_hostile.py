"""What a user types by mistake: empty values, dates at the edge, other bytes than UTF-8, text that steers a terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.domain.plain import to_plain
from perdure.surfaces.cli.draw import draw_record, draw_table
from perdure.surfaces.cli.draw_recall import draw_explained
from perdure.surfaces.cli.output import HarmlessConsole
from perdure.surfaces.cli.session import confirm

UNREADABLE = Path("/proc/self/mem")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("retain", ""), "text: expected non-empty text"),
        (("retain", "x", "--document-id", ""), "--document-id: expected non-empty text"),
        (("retain", "x", "--tag", " "), "--tag: expected non-empty text"),
        (("retain", "x", "--speaker", ""), "--speaker: expected non-empty text"),
        (("retain", "x", "--metadata", "=value"), "--metadata: expected KEY=VALUE"),
        (("facts", "list", "--entity", ""), "--entity: expected non-empty text"),
        (("facts", "list", "--order", "random"), "--order: expected one of"),
        (("consolidate", "--wait", "inf"), "--wait"),
        (("mcp", "--bank", "a/b"), "bank: expected"),
        (("banks", "show", "\udcff"), "command line: expected arguments in UTF-8"),
        (("facts", "list", "--text", "\udcff"), "command line: expected arguments in UTF-8"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_value_that_says_nothing_is_refused_by_its_name(cli: Any, args: tuple[str, ...], said: str) -> None:
    cli.remembered("Tomás plays the cello.")
    (cli.folder / "private.txt").write_text("Tomás hides the key under the mat.")
    ran = cli(*args)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert cli("facts", "list", "--json").json["total"] == 1


def test_facts_by_tag_are_those_that_carry_it(cli: Any) -> None:
    cli.remembered("Tomás plays the cello.")
    cli("retain", "Maya lives in Lisbon.", "--tag", "places")
    found = cli("facts", "list", "--tag", "places", "--json").json
    assert [fact["text"] for fact in found["facts"]] == ["Maya lives in Lisbon."]
    assert cli("facts", "list", "--entity", "nobody").code == 3


def test_a_misspelt_name_in_the_settings_file_is_named(cli: Any) -> None:
    (cli.folder / "perdure.toml").write_text("prot = 1\n")
    ran = cli("banks", "list")
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
    commands = (("facts", "list"), ("recall", "cello"), ("context", "cello"), ("reflect", "cello"))
    for args in commands:
        assert not set(cli(*args).out) & {"\x1b", "\x07", "\x9b"}, args


def test_a_memory_cannot_turn_the_direction_of_writing(cli: Any) -> None:
    said = "Tomás plays the cello\u202e.\u2066 \u200f"
    cli.remembered(said)
    for args in (
        ("facts", "list"),
        ("recall", "cello", "--explain"),
        ("context", "cello"),
        ("reflect", "cello"),
    ):
        for out in (cli(*args).out, cli(*args, "--json").out):
            assert not set(out) & set("\u202e\u2066\u200f"), args
    (fact,) = cli("facts", "list", "--json").json["facts"]
    assert "\u202e" in fact["text"]


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


def test_lists_fit_a_narrow_terminal(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "memory.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("b", "Tomás plays the cello.", speaker="Maya")
        result = engine.recall("b", "Who plays the cello?", explain=True)
        rows = [to_plain(one) for one in engine.facts.list("b").facts]
    shown = drawn(60, draw_table, rows, "facts", 1)
    assert "Tomás plays the cello." in shown
    assert rows[0]["id"][-8:] in shown
    assert drawn(60, draw_record, {"id": "b" * 128}).count("b") == 128
    explained = drawn(60, draw_explained, result, {})
    assert f"{result.recollections[0].score:.3f}" in explained
    assert "Maya: Tomás plays the cello." in explained
    assert "[1] won because it came first" in " ".join(explained.split())
