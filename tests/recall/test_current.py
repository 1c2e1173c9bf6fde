"""Statements that replaced each other stand in the order that the question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate, Query, Trace
from perdure.domain.time import Window
from perdure.recall.components import RecallRun
from perdure.recall.current import lower_ended, order_lines
from perdure.recall.options import RecallRequest
from perdure.recall.recipes import DEFAULT, TEMPR
from tests.support.memory_store import MemoryStore

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def home(city: str, begun: int, end: int | None = None, after: str | None = None) -> Fact:
    return Fact(
        id=city,
        bank="b",
        text=f"I live in {city} now",
        valid_from=year(begun),
        valid_to=year(end) if end else None,
        end_recorded_at=year(end) if end else None,
        superseded_by=after,
    )


BERLIN = home("Berlin", 2022, 2024, "Oslo")
OSLO = home("Oslo", 2024, 2026, "Lisbon")
LISBON = home("Lisbon", 2026)
OTHER = Fact(id="other", bank="b", text="The weather is fine", mentioned_at=year(2025))


def run_of(recipe=DEFAULT) -> RecallRun:  # type: ignore[no-untyped-def]
    request = RecallRequest(bank="b", query="Where do I live?", recipe=recipe)
    with MemoryStore().reading("b") as reading:
        return RecallRun(
            components=None,  # type: ignore[arg-type]
            request=request,
            reading=reading,
            where=Filter(now=NOW),
            trace=Trace(),
        )


def pool_of(*facts: Fact) -> list[Candidate]:
    return [Candidate(fact_id=one.id, fact=one, score=0.9 - 0.2 * n) for n, one in enumerate(facts)]


@pytest.mark.parametrize(
    ("window", "first"),
    [
        (None, "Lisbon"),
        (Window(year(2023), year(2024)), "Berlin"),
        (Window(year(2025), year(2026)), "Oslo"),
        (Window(None, year(2026)), "Oslo"),
        (Window(year(2020), year(2021)), "Berlin"),
    ],
)
def test_the_value_of_the_asked_time_goes_first(window: Window | None, first: str) -> None:
    query = Query(text="?", content="?", asked_at=NOW, window=window)
    ordered = order_lines(run_of(), query, pool_of(BERLIN, OTHER, OSLO, LISBON))
    assert ordered[0].fact_id == first
    assert ordered[1].fact_id == "other", "what belongs to no line keeps its place"
    assert [one.score for one in ordered] == sorted((one.score for one in ordered), reverse=True)


def test_what_is_over_falls_unless_the_question_is_about_the_past() -> None:
    now = Query(text="?", content="?", asked_at=NOW)
    then = Query(text="?", content="?", asked_at=NOW, window=Window(year(2023), year(2024)))
    assert [one.fact_id for one in lower_ended(run_of(), now, pool_of(BERLIN, OTHER))] == ["other", "Berlin"]
    assert lower_ended(run_of(), then, pool_of(BERLIN, OTHER))[0].fact_id == "Berlin"
    assert lower_ended(run_of(TEMPR), now, pool_of(BERLIN, OTHER))[0].fact_id == "Berlin"
