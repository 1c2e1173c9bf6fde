"""An option that is declared, and used, is on every surface: tried in a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECLARED = '    patience: int = option(7, "Seconds of patience.", at_least=0)\n'
CLASSES = {
    "recall/options.py": ("class RecallOptions(Conditions):", "budget: Budget"),
    "retain/options.py": ("class RetainOptions(ItemOptions):", "update_mode: UpdateMode"),
}
USER = """
from perdure import AsyncPerdure, Perdure, connect


async def ask(memory: Perdure, other: AsyncPerdure) -> None:
    memory.recall("b", "Who?", patience=3)
    memory.retain("b", "Ann sings.", patience=3)
    connect("http://127.0.0.1:1").recall("b", "Who?", patience=3)
    await other.recall("b", "Who?", patience=3)
    await other.retain("b", "Ann sings.", patience=3)
"""
SURFACES = """
import json, sys
from perdure import Perdure
from perdure.remote.wire import decode_arguments
from perdure.surfaces.cli.main import main
from perdure.surfaces.mcp.tool import Hints, Tool
from perdure.surfaces.mcp.tools import Tools
from perdure.surfaces.rest.schema import verbs_document

with Perdure.open("m.db", embedder="none", reranker="none", tagger="rules", tokens="approximate") as memory:
    memory.retain("b", "Ann sings.", patience=3)
    memory.recall("b", "Who sings?", patience=3)
    for verb in ("recall", "retain"):
        tool = Tool(getattr(Tools(memory), verb), Hints("x"))
        assert "patience" in tool.told["inputSchema"]["properties"], "MCP"
for verb, sent in (("recall", {"query": "Who?"}), ("retain", {"content": "Ann sings."})):
    assert decode_arguments(verb, json.dumps({**sent, "patience": 3}).encode())["patience"] == 3
    body = verbs_document()["paths"][f"/v1/perdure/banks/{{bank_id}}/{verb}"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"]["properties"]["patience"]["default"] == 7
    assert main([verb, "--help"]) == 0
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which recall and retain have one more option."""
    tree = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__", ".venv", ".git")
    for name in ("src", "tools", "docs"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tree)
    for name, (head, first) in CLASSES.items():
        file = tree / "src/perdure" / name
        before, found, body = file.read_text("utf-8").partition(head)
        assert found
        file.write_text(before + head + body.replace(f"    {first}", f"{DECLARED}    {first}", 1), "utf-8")
    run(tree, "-m", "tools.generate")
    return tree


def run(tree: Path, *args: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
    done = subprocess.run(
        [sys.executable, *args], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_declared_option_is_on_every_surface(tree: Path) -> None:
    shown = run(tree, "-c", SURFACES)
    assert shown.count("--patience") == 2
    assert shown.count("Seconds of patience") == 2


def test_a_declared_option_is_in_the_reference(tree: Path) -> None:
    rows = [
        line for line in (tree / "docs/options.md").read_text("utf-8").splitlines() if "`patience`" in line
    ]
    assert len(rows) == 2
    assert all("`--patience`" in row and "Seconds of patience" in row for row in rows)


@pytest.mark.long
def test_a_declared_option_is_typed(tree: Path) -> None:
    (tree / "user.py").write_text(USER, "utf-8")
    run(tree, "-m", "mypy", "--strict", "--follow-imports=silent", "user.py")


def test_types_for_editors_and_type_checkers_have_it(tree: Path) -> None:
    arguments = (tree / "src/perdure/arguments.py").read_text("utf-8")
    assert arguments.count("    patience: int\n") == 2
    aio = (tree / "src/perdure/aio.py").read_text("utf-8")
    assert "**options: Unpack[RecallArguments]) -> RecallResult" in aio
    assert "Unpack[RetainArguments]" in aio
