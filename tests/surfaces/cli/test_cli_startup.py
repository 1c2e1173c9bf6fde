"""What a command line costs before it does anything, completion, and the documentation's promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.surfaces.cli import exits
from perdure.surfaces.cli.main import every_entry

DOCS = Path(__file__).resolve().parents[3] / "docs"
HEAVY = ["asyncio", "fastapi", "httpx", "mcp", "numpy", "onnxruntime", "pydantic", "rich", "spacy", "sqlite3"]


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout


@pytest.mark.parametrize("args", [["--help"], ["--version"], []])
def test_help_loads_nothing_heavy(args: list[str]) -> None:
    code = (
        "import sys; from perdure.surfaces.cli.main import main; "
        f"assert main({args}) == 0; print('HEAVY', sorted(set({HEAVY}) & set(sys.modules)))"
    )
    assert run(code).splitlines()[-1] == "HEAVY []"


def test_commands_load_the_engine_only_when_they_run() -> None:
    names = [entry.name for entry in every_entry() if entry.target]  # the others are derived from the verbs
    code = (
        "import sys; from perdure.surfaces.cli.main import main; "
        f"assert not any(main([name, '--help']) for name in {names}); "
        "print('HEAVY', sorted({'numpy', 'onnxruntime', 'sqlite3', 'mcp', 'fastapi'} & set(sys.modules)))"
    )
    assert run(code).splitlines()[-1] == "HEAVY []"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("perdure re", ["retain", "recall", "reflect", "reprocess", "restore"]),
        ("perdure recall --exp", ["--explain"]),
        ("perdure keys re", ["revoke"]),
    ],
)
def test_the_shell_completes_commands_and_options(words: str, expected: list[str]) -> None:
    shown = run(
        "from perdure.surfaces.cli.main import run; run()",
        _PERDURE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1),
    )  # fmt: skip
    assert shown.split() == expected


def test_the_manual_names_every_command_and_exit_code() -> None:
    manual = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert all(f"`perdure {entry.name}" in manual for entry in every_entry())
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", manual, re.MULTILINE)}
    assert told == {value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)}
