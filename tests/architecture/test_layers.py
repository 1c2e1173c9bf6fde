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


def test_a_crossed_layer_is_noticed(tmp_path: Path) -> None:
    """The contract fails when the domain imports a pipeline."""
    copy = tmp_path / "src" / "perdure"
    shutil.copytree(ROOT / "src" / "perdure", copy)
    (copy / "domain" / "crossing.py").write_text("import perdure.recall.pipeline\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    result = subprocess.run(
        [str(TOOLS / "lint-imports"), "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    assert "perdure.domain.crossing" in result.stdout


@pytest.mark.parametrize("banned", ["utils", "helpers", "manager", "common", "base"])
def test_no_module_has_a_name_that_says_nothing(banned: str) -> None:
    assert not list((ROOT / "src").rglob(f"{banned}.py"))


def test_files_stay_small() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 420
    }
    assert not long


def test_only_settings_reads_the_environment() -> None:
    guilty = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if path.name != "settings.py" and ("os.environ" in (text := path.read_text()) or "os.getenv" in text)
    ]
    assert not guilty
