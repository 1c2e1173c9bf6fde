"""Statements that replaced each other stand in the order that the question asks for."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate, Query, Trace
from perdure.domain.time import Window
from perdure.errors import ModelError
from perdure.models.tokens import token_counter
from perdure.ports.reader import AnswerReading, EffectReading, MeaningReading, PlacedStatement, Reader
from perdure.recall.components import RecallComponents, RecallRun
from perdure.recall.current import lower_ended, order_lines
from perdure.recall.options import RecallRequest
from perdure.recall.reading import read_answers
from perdure.recall.recipe import Recipe
from perdure.recall.recipes import DEFAULT, TEMPR
from perdure.recall.succession import order_successions
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


def run_of(recipe: Recipe = DEFAULT, reader: Reader | None = None) -> RecallRun:
    request = RecallRequest(bank="b", query="Where do I live?", recipe=recipe)
    store = MemoryStore()
    components = RecallComponents(
        store=store,
        tokens=token_counter("approximate"),
        clock=lambda: NOW,
        executor=ThreadPoolExecutor(1),
        reader=reader,
    )
    with store.reading("b") as reading:
        return RecallRun(
            components=components,
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


class FakeReader:
    """Answers with the last word of what it reads; another home ends the one before, unless it begins with "maybe"."""

    name = "fake"

    def answers(
        self, question: str, asker: str, statements: Sequence[PlacedStatement]
    ) -> list[AnswerReading]:
        return [
            AnswerReading(0.0, 0.9 if "live" in one.text else 0.05, (one.text.rindex(" ") + 1, len(one.text)))
            for one in statements
        ]

    def meanings(self, statements: Sequence[PlacedStatement]) -> list[MeaningReading]:
        return []

    def effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> list[EffectReading]:
        return [EffectReading({"ends": float(ends(*pair)), "corrects": 0.0}) for pair in pairs]


def ends(earlier: PlacedStatement, later: PlacedStatement) -> bool:
    is_home = "live" in earlier.text and later.text.startswith("I")
    return is_home and earlier.text.split()[-1] != later.text.split()[-1]


def said(number: int, text: str) -> Fact:
    return Fact(id=f"f{number}", bank="b", text=text, speaker="Ann", mentioned_at=year(2020 + number))


def answered(*facts: Fact, window: Window | None = None) -> list[Candidate]:
    query = Query(text="Where do I live?", content="Where do I live?", asked_at=NOW, window=window)
    run = run_of(reader=FakeReader())
    pool = read_answers(run, query, pool_of(*facts))
    for candidate in pool:
        candidate.score = candidate.relevance
    return order_successions(run, query, pool)


OLD, NEW, PLAN = said(1, "I live in Oslo"), said(3, "I live in Lisbon"), said(5, "maybe I live in Rome")


def test_a_later_answer_that_ends_an_earlier_one_goes_before_it() -> None:
    ordered = answered(OLD, OTHER, NEW)
    assert [one.fact_id for one in ordered] == ["f3", "f1", "other"]
    assert [one.is_earlier for one in ordered] == [False, True, False]
    assert [one.span for one in ordered[:2]] == ["Lisbon", "Oslo"]


def test_a_plan_that_ends_nothing_does_not_go_first() -> None:
    assert answered(OLD, PLAN)[0].fact_id == "f1"


def test_a_question_about_the_past_keeps_its_order() -> None:
    assert answered(OLD, NEW, window=Window(year(2021), year(2022)))[0].fact_id == "f1"


def test_the_same_value_said_again_is_nothing_earlier() -> None:
    again = said(4, "I still live in Lisbon")
    assert not any(one.is_earlier for one in answered(NEW, again))


def test_a_reader_without_weights_is_named_and_changes_nothing() -> None:
    class Broken(FakeReader):
        def answers(
            self, question: str, asker: str, statements: Sequence[PlacedStatement]
        ) -> list[AnswerReading]:
            raise ModelError("no weights")

    run = run_of(reader=Broken())
    query = Query(text="?", content="?", asked_at=NOW)
    assert [one.fact_id for one in read_answers(run, query, pool_of(OLD, NEW))] == ["f1", "f3"]
    assert [part.part for part in run.trace.degraded] == ["reader"]
