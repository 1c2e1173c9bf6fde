"""What retain reads: files, folders and the chat exports that people have."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure.contrib.imports.chats import read_chats
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.sources import read_sources

MARCH = datetime(2024, 3, 2, 9, 30, tzinfo=UTC)

OPENAI = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": [{"type": "text", "text": "I moved to Porto."}, {"type": "image_url"}]},
    {"role": "assistant", "content": "Noted."},
    {"role": "assistant", "content": None, "tool_calls": []},
]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "turn"),
        ('[{"speaker": "Maya"}]', "text, content"),
        ('[{"text": "Hi.", "date": "some day"}]', "date"),
        ('[{"role": "system", "content": "Be nice."}]', "at least one turn"),
        ('{"a": 1}\n{"b": ', "line 2"),
        ("[", "valid JSON"),
    ],
)
def test_what_is_no_chat_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_chats(text, "chat.json")
    assert "chat.json" in str(refused.value)
    assert said in str(refused.value)


def test_a_folder_is_read_whole_without_hidden_and_binary_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.md").write_text("Maya sings.", encoding="utf-8")
    (tmp_path / "a.txt").write_text("\ufeffTomás plays.", encoding="utf-8")
    (tmp_path / ".hidden").write_text("secret")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\x00\xff\xfe")
    (tmp_path / "data.json").write_text('{"version": 1}')
    found = read_sources([str(tmp_path)], None, "auto", as_text=False)
    assert [reading.items[0]["content"] for reading in found.readings] == ["Tomás plays.", "Maya sings."]
    assert sorted(Path(file).name for file, _ in found.skipped) == ["data.json", "picture.png"]


def test_a_file_is_dated_by_its_last_change_and_named_by_its_path(tmp_path: Path) -> None:
    import os

    note = tmp_path / "note.md"
    note.write_text("Maya sings.")
    os.utime(note, (MARCH.timestamp(), MARCH.timestamp()))
    (reading,) = read_sources([str(note)], None, "auto", as_text=False).readings
    assert reading.items[0]["timestamp"] == MARCH
    assert reading.items[0]["document_id"] == note.as_posix()


@pytest.mark.parametrize("source", ["missing.md", "./missing", "/no/such/folder", "notes.json"])
def test_what_looks_like_a_path_is_never_taken_for_a_text(
    source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFound):
        read_sources([source], None, "auto", as_text=False)
    assert read_sources([source], None, "auto", as_text=True).readings[0].items[0]["content"] == source


@pytest.mark.parametrize("text", ["Remember me.", "e.g. this", "Version 2.0", "ok"])
def test_sentences_are_texts(text: str) -> None:
    assert read_sources([text], None, "auto", as_text=False).readings[0].items[0]["content"] == text


def test_standard_input_may_be_a_chat_or_a_text() -> None:
    chat = json.dumps([{"speaker": "Maya", "text": "Hello."}])
    assert read_sources(["-"], chat, "auto", as_text=False).readings[0].items[0]["speaker"] == "Maya"
    assert read_sources(["-"], chat, "text", as_text=False).readings[0].items[0]["content"] == chat
    assert read_sources(["-"], "{braces} in a text", "auto", as_text=False).readings[0].items[0]["content"]


def test_the_user_of_a_chat_can_be_named(cli: Any) -> None:
    (cli.folder / "chat.json").write_text(json.dumps(OPENAI), encoding="utf-8")
    assert cli("retain", "chat.json", "--user", "Ines", "--json").code == 0
    assert any(
        "Ines" in fact["text"] or fact["speaker"] == "Ines"
        for fact in cli("facts", "list", "--json").json["facts"]
    )


def test_a_folder_can_be_retained_again_without_doubling(cli: Any) -> None:
    (cli.folder / "notes").mkdir()
    (cli.folder / "notes" / "a.md").write_text("Maya sings in the harbour choir.")
    first = cli("retain", "notes", "--json").json
    again = cli("retain", "notes", "--json").json
    assert first["facts"] >= 1
    assert again["facts"] == 0
    assert cli("facts", "list", "--json").json["total"] == first["facts"]


@pytest.mark.parametrize(
    "export",
    [
        '{"mapping": 5}',
        '{"mapping": {"a": 5}}',
        '{"mapping": {"a": {"message": {"content": {"parts": 5}}}}}',
        '{"mapping": {"a": {"message": {"author": 5, "content": {"parts": ["x"]}}}}}',
        '{"mapping": {"a": {"parent": [1], "message": {"content": {"parts": ["x"]}}}}}',
        '[{"text": "half a pair: \\ud800"}]',
        '[{"text": "nothing: \\u0000"}]',
        "[" * 100_000,
    ],
    ids=lambda export: export[:60],
)
def test_a_damaged_export_is_named_and_does_not_stop_its_folder(cli: Any, export: str) -> None:
    folder = cli.folder / "chats"
    folder.mkdir()
    (folder / "bad.json").write_text(export)
    (folder / "good.json").write_text('[{"speaker": "Maya", "text": "I play the cello."}]')
    ran = cli("retain", "chats", "--json")
    assert ran.code == 0, ran.err
    assert [skipped["file"] for skipped in ran.json["skipped"]] == ["chats/bad.json"]
    assert ran.json["facts"] == 1
    alone = cli("retain", "chats/bad.json")
    assert alone.code == 2, alone.err
    assert "chats/bad.json" in alone.err


def test_a_file_that_is_given_twice_is_read_once(cli: Any) -> None:
    folder = cli.folder / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("Maya plays the cello.")
    ran = cli("retain", "notes", "notes/a.txt", "./notes/../notes/a.txt", "--json")
    assert ran.json["document_ids"] == ["notes/a.txt"]
    assert (ran.json["facts"], ran.json["merged"]) == (1, {})


def test_dates_with_the_day_first_are_read_by_what_the_file_shows() -> None:
    turns = [
        {"speaker": "Maya", "text": "Hello.", "date": "02/03/2024 09:30"},
        {"speaker": "Maya", "text": "Bye.", "date": "23/03/2024 09:30"},
    ]
    (reading,) = read_chats(json.dumps(turns), "talk.json")
    assert reading.items[0]["timestamp"] == MARCH
