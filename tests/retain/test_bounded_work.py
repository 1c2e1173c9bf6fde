"""Work that somebody waits for ends when nobody does any longer; dense text costs what its length says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure import Perdure
from perdure.dates import annotate
from perdure.dates.writing import MOST_RESOLVED
from perdure.domain.work import Work, check_work, working
from perdure.errors import Cancelled, DeadlineExceeded

DENSE = "on 3 May 2024, 2024-05-04 and 5/6/2024, next Monday, two weeks ago; "
TEXTS = (DENSE, "monday ", "5 and 6 and 7 May and ")
TIMES_AS_LONG = 4


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        opened.retain("warm", "Ann met Bob on 3 May.")
        yield opened


def test_work_that_was_called_off_or_is_late_ends_at_its_next_step() -> None:
    work = Work()
    with working(work):
        check_work()
        work.limit(0.0)
        with pytest.raises(DeadlineExceeded):
            check_work()
        work.stop("the client left")
        with pytest.raises(Cancelled, match="the client left"):
            check_work()
    check_work()


def test_a_retain_past_its_deadline_stores_nothing_and_ends_soon(memory: Perdure) -> None:
    work = Work()
    work.limit(0.3)
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded), working(work):
        memory.retain("b", DENSE * 20_000)
    assert time.monotonic() - began < 10
    assert not memory.banks.list() or "b" not in {bank.id for bank in memory.banks.list()}


def test_a_recall_that_nobody_waits_for_ends(memory: Perdure) -> None:
    work = Work()
    work.stop("the client left")
    with pytest.raises(Cancelled), working(work):
        memory.recall("warm", "Whom did Ann meet?")


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_cost_of_dense_text_grows_with_its_length_and_no_faster(memory: Perdure, text: str) -> None:
    """In processor time, the shorter of two runs each: other work on the machine does not count."""

    def seconds(characters: int, name: str) -> float:
        runs = []
        for number in range(2):
            began = time.thread_time()
            memory.retain(f"{name}{number}", (text * characters)[:characters])
            runs.append(time.thread_time() - began)
        return min(runs)

    short = seconds(3_000, "short")
    long = seconds(3_000 * TIMES_AS_LONG, "long")
    assert long < 2 * TIMES_AS_LONG * short + 0.2


def test_a_table_of_dates_is_resolved_up_to_a_limit() -> None:
    many = annotate("We met on Monday, " * 100, datetime(2026, 5, 1, tzinfo=UTC))
    assert many.count("[") == MOST_RESOLVED
