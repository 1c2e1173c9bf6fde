"""What holds for every source: it is recognised, read again alike, imported once however often, and explained when it is damaged."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure import InvalidInput, Perdure
from perdure.contrib.imports.registry import NAMES, detect
from tests.support.import_samples import SAMPLES, lines, written

PLAIN: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "memory.db", **PLAIN) as engine:
        yield engine


def everything(memory: Perdure, bank: str) -> list[str]:
    """All lines of the bank's export."""
    return sorted(memory.banks.export(bank))


def test_every_source_has_a_sample() -> None:
    assert set(SAMPLES) == set(NAMES)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_source_is_told_by_its_files(name: str, tmp_path: Path) -> None:
    assert detect(SAMPLES[name](tmp_path)) == name


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_importing_twice_is_importing_once(name: str, tmp_path: Path, memory: Perdure) -> None:
    path = SAMPLES[name](tmp_path)
    planned = memory.banks.import_from("b", path, dry_run=True)
    assert not memory.banks.list(), "a dry run writes nothing"
    first = memory.banks.import_from("b", path)
    assert (first.added, first.updated, first.unchanged) == (planned.documents, 0, 0)
    assert first.facts
    stored = everything(memory, "b")
    again = memory.banks.import_from("b", path)
    assert (again.added, again.updated, again.unchanged) == (0, 0, first.documents)
    assert again.skipped == first.skipped
    assert everything(memory, "b") == stored


@pytest.mark.parametrize(
    "name", ["hindsight", "chatgpt", "claude", "slack", "graphiti", "letta", "server-memory"]
)
def test_a_file_cut_short_is_named_with_the_place_and_nothing_is_written(
    name: str, tmp_path: Path, memory: Perdure
) -> None:
    path = SAMPLES[name](tmp_path)
    if path.suffix == ".zip":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        cut = sorted(path.rglob("20*.json"))[0] if path.is_dir() else path
        cut.write_text(cut.read_text()[: cut.stat().st_size // 2])
    with pytest.raises(InvalidInput) as caught:
        memory.banks.import_from("b", path, source=name)
    assert str(tmp_path) in str(caught.value)
    assert not memory.banks.list()


KILLED = """
import os, signal, sys
from perdure import Perdure
def stop(progress):
    if progress.stage == "writing" and progress.documents >= 20:
        os.kill(os.getpid(), signal.SIGKILL)
with Perdure.open(sys.argv[1], embedder="hashing", reranker="none", tagger="rules", tokens="approximate", extractor="verbatim") as memory:
    memory.banks.import_from("b", sys.argv[2], progress=stop)
"""


def test_an_import_whose_process_is_killed_is_completed_by_the_next(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.jsonl", lines(*(
        {"type": "entity", "name": f"Friend {n}", "entityType": "person", "observations": [f"lives in house {n}", f"has {n} cats"]}
        for n in range(100)
    )))  # fmt: skip
    database = tmp_path / "memory.db"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(database), str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with Perdure.open(database, **PLAIN, extractor="verbatim") as memory:
        before = len(memory.documents.list("b"))
        assert 0 < before < 100
        assert sum(1 for _ in memory.facts.iterate("b")) == 2 * before, "whole documents alone"
        report = memory.banks.import_from("b", path)
        assert (report.unchanged, report.added) == (before, 100 - before)
        assert sum(1 for _ in memory.facts.iterate("b")) == 200


def test_a_forgotten_document_leaves_no_trace_of_its_import(tmp_path: Path, memory: Perdure) -> None:
    memory.banks.import_from("b", SAMPLES["chatgpt"](tmp_path))
    assert memory.records.list("imported_document", bank="b")
    memory.forget("b", document_id="chatgpt:c-1")
    assert not memory.records.list("imported_document", bank="b")


def test_an_unknown_source_is_refused_by_name(tmp_path: Path, memory: Perdure) -> None:
    (tmp_path / "picture.bin").write_bytes(b"\x89PNG")
    with pytest.raises(InvalidInput, match="or name it: "):
        memory.banks.import_from("b", tmp_path / "picture.bin")
    with pytest.raises(InvalidInput, match="one of hindsight, chatgpt"):
        memory.banks.import_from("b", tmp_path / "picture.bin", source="notion")


def test_banks_are_split_by_what_the_source_tells(tmp_path: Path, memory: Perdure) -> None:
    report = memory.banks.import_from("team", SAMPLES["mem0"](tmp_path), split=True)
    assert report.banks == ("team", "team.alex")
    assert [fact.text for fact in memory.facts.iterate("team")] == ["Sings in a choir"]
