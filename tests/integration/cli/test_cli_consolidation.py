"""`perdure consolidate`, `observations`, `notes`, `questions`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perdure.surfaces.cli.main import main


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in (("EMBEDDER", "hashing"), ("RERANKER", "none"), ("TAGGER", "rules")):
        monkeypatch.setenv(f"PERDURE_{name}", value)
    monkeypatch.setenv("PERDURE_NOTES_FOLDER", str(tmp_path / "notes"))
    path = str(tmp_path / "m.db")
    for text in ("Ann lives in Berlin.", "Ann works at Ford.", "Ann likes tea."):
        assert main(["retain", text, "-d", path]) == 0
    return path


def told(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    capsys.readouterr()
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_consolidating_forms_what_the_other_commands_show(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = told(capsys, "consolidate", "-d", database)
    assert run["status"] == "completed"
    every = told(capsys, "observations", "-d", database, "--name", "Ann")["observations"]
    one = told(capsys, "observations", every[0]["id"], "-d", database)
    assert len(one["versions"]) == 1
    names = told(capsys, "notes", "-d", database, "--period", "daily")["notes"]
    assert "Ann lives in Berlin." in told(capsys, "notes", names[0], "-d", database)["text"]
    assert told(capsys, "questions", "-d", database)["questions"] == []


def test_the_commands_are_drawn(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    for args in (["consolidate"], ["consolidate", "--recover"], ["observations"], ["notes"], ["questions"]):
        assert main([*args, "-d", database]) == 0
    shown = capsys.readouterr().out
    assert "lives in Berlin" in shown
    assert "nothing was new" in shown
    assert "no open questions" in shown


def test_an_answer_needs_its_question(database: str) -> None:
    assert main(["questions", "--answer", "both", "-d", database]) == 2
