"""What a user is told who opens a memory with something missing, or asks one that holds nothing."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import InvalidInput, NotFound
from tests.support.scripted_llm import ScriptedLlm

QUICK: Any = {"embedder": "hashing", "tagger": "rules", "tokens": "approximate"}


class Lacking:
    """An object that a user forgot to finish."""

    name = "lacking"


@pytest.mark.parametrize(
    ("port", "member"),
    [
        ("embedder", "embed_passages"),
        ("reranker", "score"),
        ("extractor", "extract_many"),
        ("tokens", "count"),
        ("llm", "complete"),
    ],
)
def test_an_object_that_lacks_a_member_is_refused(tmp_path: Path, port: str, member: str) -> None:
    with pytest.raises(InvalidInput, match=member) as refused:
        Perdure.open(tmp_path / "m.db", **{**QUICK, port: Lacking()})
    assert refused.value.field == port


def test_a_missing_folder_is_named_and_not_called_read_only(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"folder .*none.* does not exist"):
        Perdure.open(tmp_path / "none" / "m.db", **QUICK)


@pytest.mark.parametrize(
    "moment", ["2027-01-01", "2027-01-01T00:00:00Z", date(2027, 1, 1), datetime(2027, 1, 1)]
)
def test_a_question_takes_the_moments_that_a_retain_takes(tmp_path: Path, moment: Any) -> None:
    with Perdure.open(tmp_path / "m.db", **QUICK) as memory:
        memory.retain("ann", "Ann lives in Oslo.", timestamp=moment)
        for option in ("asked_at", "as_of", "known_at"):
            assert memory.recall("ann", "Where does Ann live?", **{option: moment})
        assert memory.recall("ann", "Ann?", asked_at=moment).query.asked_at == datetime(
            2027, 1, 1, tzinfo=UTC
        )


def test_a_language_model_without_an_extractor_says_what_it_does_not_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        Perdure.open(tmp_path / "m.db", **QUICK, llm=ScriptedLlm([])).close()
    assert "not asked at retain" in caplog.text
    caplog.clear()
    Perdure.open(tmp_path / "m.db", **QUICK, llm=ScriptedLlm([]), extractor="local").close()
    assert "not asked at retain" not in caplog.text


def test_a_damaged_page_is_told_in_a_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Perdure.open(path, **QUICK) as memory:
        memory.retain(
            "b", [f"Ann number {i} lives in house {i * 7} of Oslo street {i % 13}." for i in range(200)]
        )
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = database.execute(
            "SELECT pageno FROM dbstat WHERE name = 'fact' AND pagetype = 'leaf'"
        ).fetchall()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        for (page,) in pages[3:5]:
            file.seek((page - 1) * size)
            file.write(os.urandom(size))
    with Perdure.open(path, **QUICK) as memory:
        result = memory.recall("b", "Where does Ann number 5 live?", limit=200)
    damaged = [part for part in result.degraded if "fact" in part.part]
    assert 1 <= len(damaged) <= 3
    assert len(str(result).splitlines()) < len(result) + 10


def test_a_long_text_without_spaces_is_retained(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "m.db", **QUICK) as memory:
        assert memory.retain("b", "abcdefghij" * 200_000).fact_ids
