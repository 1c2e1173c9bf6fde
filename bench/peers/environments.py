"""A virtual environment for each memory, kept in the work folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class SetUpFailed(Exception):
    """An environment cannot be made; the message is one line."""


class Environment:
    """A virtual environment with some packages."""

    def __init__(self, folder: Path, requirements: Sequence[str]) -> None:
        self._folder = folder
        self._requirements = tuple(requirements)
        self._stamp = folder / "installed.json"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._folder / "bin" / "python"

    def make(self) -> None:
        """Install what is asked for, unless that was done before."""
        if self._stamp.exists() and json.loads(self._stamp.read_text()) == list(self._requirements):
            return
        print(f"  installing {' '.join(self._requirements)}", file=sys.stderr, flush=True)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "venv", str(self._folder)])
        run([str(self.python), "-m", "pip", "install", "-q", *self._requirements])
        self._stamp.write_text(json.dumps(self._requirements))

    def frozen(self) -> str:
        """The version of everything that is installed; nothing before it is made."""
        if not self._stamp.exists():
            return ""
        packages = self._site_packages().glob("*.dist-info")
        return " ".join(sorted(path.name.removesuffix(".dist-info") for path in packages))

    def megabytes(self) -> float:
        """Its size on disk."""
        return folder_megabytes(self._folder)

    def package(self, name: str) -> Path:
        """The folder of an installed package."""
        return self._site_packages() / name

    def _site_packages(self) -> Path:
        return next((self._folder / "lib").glob("python*/site-packages"))


def folder_megabytes(folder: Path) -> float:
    """The size of all files under a folder."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()) / 1e6


def run(command: Sequence[str]) -> None:
    """Run; the last line of its errors is the reason of a failure."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SetUpFailed(last_line(ended.stderr) or f"{command[0]} ended with {ended.returncode}")


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
