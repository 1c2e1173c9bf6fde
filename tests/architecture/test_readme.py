"""The README's commands and example are what they say."""

from __future__ import annotations

import re
from pathlib import Path

from perdure.engine import Perdure

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_there_are_exactly_two_commands_to_start() -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    assert commands[0].rstrip().endswith("perdure demo")
    assert commands[1].rstrip().endswith("pytest")


def test_ci_runs_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "## Test" in script
    assert "README.md" in script


def test_the_example_runs(tmp_path: Path, monkeypatch: object) -> None:
    [example] = blocks("python")
    open_file = (
        f'Perdure.open("{tmp_path / "memory.db"}", embedder="hashing", reranker="none", tagger="rules")'
    )
    code = example.replace('Perdure.open("memory.db")', open_file)
    assert open_file in code
    shown: list[object] = []
    exec(compile(code, "README.md", "exec"), {"print": shown.append, "Perdure": Perdure})
    assert "Lisbon" in str(shown[0])


def test_the_project_speaks_of_itself_alone() -> None:
    banned = re.compile(r"/work/|/tmp/perdure|\bhelper-\d|issue #?\d|this session|the CEO", re.IGNORECASE)
    for folder in ("src", "docs", "bench", "tests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".toml", ".json", ".sql") and path != Path(__file__):
                assert not banned.search(path.read_text(encoding="utf-8")), path
