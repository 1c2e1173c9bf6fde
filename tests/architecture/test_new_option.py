"""An option or a verb that is declared once is on every surface: tried in a copy of the project."""

from __future__ import annotations

import os
import re
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
VERB = '''    @verb(READ)
    def count_of(self, bank: str, word: str) -> int:
        """Return the number of facts with a word."""
        return self.list(bank, text=word).total

'''
USER = """
from perdure import AsyncPerdure, Perdure, connect


async def ask(memory: Perdure, other: AsyncPerdure) -> None:
    memory.recall("b", "Who?", patience=3)
    memory.retain("b", "Ann sings.", patience=3)
    connect("http://127.0.0.1:1").recall("b", "Who?", patience=3)
    await other.recall("b", "Who?", patience=3)
    await other.retain("b", "Ann sings.", patience=3)
"""
VERB_SURFACES = """
from perdure import Perdure, connect
from perdure.surfaces.cli.main import main
from perdure.surfaces.rest.schema import verbs_document
from tests.support.rest_server import QUICK, running

with Perdure.open("verb.db", **QUICK) as memory:
    memory.retain("b", "Ann sings.")
    assert memory.facts.count_of("b", "sings") == 1
    with running(memory) as url, connect(url) as client:
        assert client.facts.count_of("b", "sings") == 1
path = verbs_document()["paths"]["/v1/perdure/banks/{bank_id}/facts.count_of"]["post"]
assert path["requestBody"]["content"]["application/json"]["schema"]["required"] == ["word"]
assert main(["facts", "count-of", "sings", "--bank", "b", "--database", "verb.db"]) == 0
assert main(["facts", "--help"]) == 0
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
    """A copy of the project in which recall and retain have one more option, and facts one more verb."""
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
    facts = tree / "src/perdure/manage/facts.py"
    before, found, after = facts.read_text("utf-8").partition("    @verb(WRITE)\n")
    assert found
    facts.write_text(before + VERB + found + after, "utf-8")
    run(tree, "-m", "tools.generate")
    return tree


def run(tree: Path, *args: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}{os.pathsep}{ROOT}"}
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


def test_a_new_verb_is_on_every_surface(tree: Path) -> None:
    shown = run(tree, "-c", VERB_SURFACES)
    assert shown.startswith("count of: 1\n")
    assert re.search(r"count-of +Return the number of facts with a word", shown)
    assert "def count_of(self, bank: str, word: str) -> int:" in (tree / "src/perdure/aio.py").read_text(
        "utf-8"
    )
    assert "`count_of`" in (tree / "docs/python.md").read_text("utf-8")


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
