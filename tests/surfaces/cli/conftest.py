"""Runs command lines in this process, against a database of the test's own, with models that need no files."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from perdure.surfaces.cli.main import main

QUICK = {
    "PERDURE_EMBEDDER": "hashing",
    "PERDURE_RERANKER": "none",
    "PERDURE_TAGGER": "rules",
    "PERDURE_TOKENS": "approximate",
}


@dataclass(frozen=True)
class Ran:
    """How a command line ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.err)["error"])


class Cli:
    """The command line of a user who sits in an empty folder."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        monkeypatch.chdir(folder)
        for name, value in QUICK.items():
            monkeypatch.setenv(name, value)

    def __call__(self, *args: str, stdin: str | None = None) -> Ran:
        if stdin is not None:
            self._monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        self._capsys.readouterr()
        code = main(args)
        shown = self._capsys.readouterr()
        return Ran(code, shown.out, shown.err)

    def remembered(self, *texts: str, bank: str = "default") -> Ran:
        return self("retain", *texts, "--text", "--bank", bank, "--timestamp", "2024-05-02", "--json")


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(tmp_path, capsys, monkeypatch)
