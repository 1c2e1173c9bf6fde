"""The programs in examples/ run as they are, with models that load at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LIGHT = {"PERDURE_EMBEDDER": "hashing", "PERDURE_RERANKER": "none", "PERDURE_TAGGER": "rules"}


def run(folder: Path, name: str, *arguments: str, said: str = "") -> str:
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        env={**os.environ, **LIGHT},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_chat_loop_remembers_what_was_said(tmp_path: Path) -> None:
    shown = run(tmp_path, "chat_loop.py", said="I am allergic to walnuts.\nWhat am I allergic to?\n\n")
    assert shown.splitlines()[1] == "Noted."
    assert "walnuts" in shown.splitlines()[3]


def test_a_changed_note_replaces_what_it_said(tmp_path: Path) -> None:
    (tmp_path / "house-plants.md").write_text("Vera waters the plants on Fridays.")
    assert "1 new fact" in run(tmp_path, "notes_folder.py", ".", "Who waters the plants?")
    (tmp_path / "house-plants.md").write_text("Tomas waters the plants on Fridays.")
    shown = run(tmp_path, "notes_folder.py", ".", "Who waters the plants?")
    assert "1 retired" in shown
    assert "Tomas waters" in shown
    assert "Vera waters" not in shown


def test_an_embedder_of_ones_own_embeds(tmp_path: Path) -> None:
    shown = run(tmp_path, "own_embedder.py")
    assert "allergic to walnuts" in shown
    assert "embedded by letter-counts (26 dimensions)" in shown


def test_the_async_server_remembers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LIGHT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    from async_server import app

    with TestClient(app) as client:
        assert client.post("/ann/turns", json={"said": "I like figs."}).json() == {"facts": 1}
        assert "figs" in client.get("/ann", params={"said": "What does Ann like?"}).json()["memory"]


@pytest.mark.long
def test_a_served_memory_is_asked_as_an_embedded_one(tmp_path: Path) -> None:
    assert "moved to Lisbon" in run(tmp_path, "served.py")
