"""Which of the values that a thing had at different times stands first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, Query, Stance
from perdure.domain.time import Window
from perdure.recall.slots import order_slots

ASKED = datetime(2026, 6, 1, tzinfo=UTC)


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def home(place: str, since: int, until: int | None = None, by: str | None = None, **fields: object) -> Fact:
    own = {
        "id": place, "bank": "b", "text": f"Ann lives in {place}.", "subject": "Ann", "relation": "lives_in", "object": place,
        "valid_from": year(since), "speaker": "Ann",
    }  # fmt: skip
    if until is not None:
        own |= {"valid_to": year(until), "end_recorded_at": year(until), "superseded_by": by}
    return Fact(**own | fields)  # type: ignore[arg-type]


BERLIN, OSLO, LISBON = (
    home("Berlin", 2022, 2024, "Oslo"),
    home("Oslo", 2024, 2026, "Lisbon"),
    home("Lisbon", 2026),
)


def ask(stance: Stance, *facts: Fact, **query: object) -> list[str]:
    pool = [Candidate(fact_id=fact.id, fact=fact, score=1.0 - n / 10) for n, fact in enumerate(facts)]
    asked = Query(
        **{"text": "Where does Ann live?", "content": "", "asked_at": ASKED, "stance": stance, **query}  # type: ignore[arg-type]
    )
    ordered = order_slots(pool, asked)
    assert [one.score for one in ordered] == [1.0 - n / 10 for n in range(len(facts))]
    return [one.fact_id for one in ordered]


@pytest.mark.parametrize(
    ("stance", "query", "first"),
    [
        (Stance.PAST, {}, ["Oslo", "Berlin", "Lisbon"]),
        (Stance.PAST, {"window": Window(year(2023), year(2024))}, ["Berlin"]),
        (Stance.PAST, {"window": Window(year(2025), year(2026))}, ["Oslo"]),
        (Stance.PAST, {"window": Window(year(2020), year(2021))}, ["Berlin"]),
        (Stance.PAST, {"window": Window(None, year(2026))}, ["Oslo"]),
        (Stance.PAST, {"before": "Oslo"}, ["Berlin"]),
        (Stance.PAST, {"earliest": True}, ["Berlin", "Oslo", "Lisbon"]),
        (Stance.ANY, {}, ["Lisbon", "Oslo", "Berlin"]),
        (Stance.ANY, {"text": "Has Ann ever lived in Berlin?"}, ["Berlin", "Lisbon", "Oslo"]),
    ],
)
def test_the_value_asked_for_stands_first(stance: Stance, query: dict[str, object], first: list[str]) -> None:
    for facts in ([LISBON, OSLO, BERLIN], [BERLIN, LISBON, OSLO], [OSLO, BERLIN, LISBON]):
        assert ask(stance, *facts, **query)[: len(first)] == first


def test_what_tells_of_the_later_value_steps_behind_the_earlier_one() -> None:
    trams = Fact(
        id="trams", bank="b", text="Ann loves the trams of Lisbon", mentioned_at=year(2026), speaker="Ann"
    )
    for window in (None, Window(None, year(2026))):
        ordered = ask(Stance.PAST, LISBON, trams, OSLO, BERLIN, before="Lisbon", window=window)
        assert ordered[:2] == ["Oslo", "Berlin"]


def test_of_two_values_that_nobody_decided_the_newer_stands_first_for_the_present() -> None:
    old, new = home("Oslo", 2024), home("Lisbon", 2026)
    assert ask(Stance.NOW, old, new) == ["Lisbon", "Oslo"]
    assert ask(Stance.NOW, new, old) == ["Lisbon", "Oslo"]


def test_a_newer_value_of_lower_trust_or_from_others_does_not_pass() -> None:
    own = home("Oslo", 2024, trust=3)
    assert ask(Stance.NOW, own, home("Rome", 2026, trust=0))[0] == "Oslo"
    assert ask(Stance.NOW, home("Oslo", 2024), home("Rome", 2026, speaker="Bob"))[0] == "Oslo"


def test_statements_that_differ_in_a_value_are_one_slot() -> None:
    def said(fact_id: str, text: str, since: int) -> Fact:
        return Fact(id=fact_id, bank="b", text=text, valid_from=year(since), speaker="Ann")

    old = said("old", "The door code of the office is 1234", 2024)
    new = said("new", "The door code of the office is 9876", 2025)
    other = said("other", "The lift of the office is broken", 2026)
    assert ask(Stance.NOW, old, other, new) == ["new", "other", "old"]
    assert ask(Stance.ANY, old, other, new) == ["old", "other", "new"]


def test_the_rest_of_the_ranking_stays_and_what_moved_says_so() -> None:
    pool = [
        Candidate(fact_id=fact.id, fact=fact, score=score)
        for fact, score in ((home("Oslo", 2024), 0.8), (home("Lisbon", 2026), 0.4))
    ]
    gone = Candidate(fact_id="gone", score=0.6)
    first, second, third = order_slots([pool[0], gone, pool[1]], Query(text="q", content="q", asked_at=ASKED))
    assert (first.fact_id, second.fact_id, third.fact_id) == ("Lisbon", "gone", "Oslo")
    assert (first.boosts["history"], third.boosts["history"]) == pytest.approx((2.0, 0.5))
