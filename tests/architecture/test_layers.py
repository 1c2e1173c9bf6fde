"""The folders are the layers, and everything is typed and clean."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of this project, held against a copy of it."""
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    return subprocess.run(
        [str(TOOLS / "lint-imports"), "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("lint-imports", "--no-cache"),
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
    ],
    ids=" ".join,
)
def test_checker_is_content(command: tuple[str, ...]) -> None:
    result = run(str(TOOLS / command[0]), *command[1:])
    assert result.returncode == 0, result.stdout + result.stderr


def test_whatever_breaks_a_contract_is_noticed(tmp_path: Path) -> None:
    """A pipeline in the domain, inner modules in contrib, and a cycle inside a function each fail a contract."""
    copy = tmp_path / "src" / "perdure"
    shutil.copytree(ROOT / "src" / "perdure", copy)
    inner = ["perdure.recall.pipeline", "perdure.surfaces.rest.service"]
    (copy / "domain" / "crossing.py").write_text("import perdure.recall.pipeline\n")
    (copy / "contrib" / "imports" / "crossing.py").write_text("".join(f"import {name}\n" for name in inner))
    (copy / "ports" / "one.py").write_text("from perdure.ports import two\n")
    (copy / "ports" / "two.py").write_text("def late() -> None:\n    from perdure.ports import one\n")
    result = lint(tmp_path)
    assert result.returncode != 0
    assert "perdure.domain.crossing" in result.stdout
    assert "perdure.ports" in result.stdout
    for name in inner:
        assert f"perdure.contrib.imports.crossing -> {name}" in result.stdout


@pytest.mark.parametrize("banned", ["utils", "helpers", "manager", "common", "base"])
def test_no_module_has_a_name_that_says_nothing(banned: str) -> None:
    assert not list((ROOT / "src").rglob(f"{banned}.py"))


def test_only_settings_reads_the_environment() -> None:
    guilty = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if path.name != "settings.py" and ("os.environ" in (text := path.read_text()) or "os.getenv" in text)
    ]
    assert not guilty
