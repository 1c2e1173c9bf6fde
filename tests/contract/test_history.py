"""What a fact closed opens again when it goes, on every store: Berlin, then Lisbon, then Porto."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from perdure.domain.fact import Fact
from perdure.errors import InvalidInput
from perdure.extract.verbatim import VerbatimExtractor
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.history import CLOSINGS
from perdure.manage.curation import invalidate_fact, restore_fact, update_fact
from perdure.ports.store import Store
from perdure.retain.commit import Closure, FactChanges, commit
from perdure.retain.components import RetainComponents
from perdure.testing import BANK, NOW, day, facts, make_fact, new, put


class Life:
    """A bank in which facts end and correct each other; the clock moves a minute per call."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.moment = NOW
        self.components = RetainComponents(store=store, extractor=VerbatimExtractor(), clock=self.tick)

    def tick(self) -> datetime:
        self.moment += timedelta(minutes=1)
        return self.moment

    def say(self, fact_id: str, *, ends: str = "", corrects: str = "", since: int = 0) -> None:
        closures = [Closure(fact_id=ends, valid_to=day(since), superseded_by=fact_id)] if ends else []
        if corrects:
            closures.append(Closure(fact_id=corrects, retired_at=self.tick(), superseded_by=fact_id))
        fact = make_fact(fact_id, valid_from=day(since), recorded_at=self.tick())
        commit(
            self.store,
            FactChanges(bank=BANK, now=self.moment, facts=[new(fact)], closures=closures),
        )

    def fact(self, fact_id: str) -> Fact:
        return facts(self.store, fact_id)[0]

    def ended(self, fact_id: str) -> tuple[str | None, datetime | None]:
        """By what, and when; of a fact that is believed."""
        fact = self.fact(fact_id)
        assert fact.retired_at is None
        assert (fact.valid_to is None) == (fact.end_recorded_at is None)
        return fact.superseded_by, fact.valid_to

    def forget(self, fact_id: str) -> None:
        forget(self.store, BANK, Target(fact_id=fact_id))

    def invalidate(self, fact_id: str) -> None:
        invalidate_fact(self.components, BANK, fact_id)

    def drop(self, fact_id: str) -> None:
        closures = [Closure(fact_id=fact_id, retired_at=self.tick())]
        commit(self.store, FactChanges(bank=BANK, closures=closures))

    def restore(self, fact_id: str) -> None:
        restore_fact(self.components, BANK, fact_id)

    def records(self) -> list[str]:
        with self.store.reading(BANK) as reading:
            return [record.id for record in reading.records(CLOSINGS)]


OPEN = (None, None)


@pytest.fixture
def life(any_store: Store) -> Life:
    life = Life(any_store)
    life.say("berlin", since=0)
    life.say("lisbon", since=100, ends="berlin")
    assert life.ended("berlin") == ("lisbon", day(100))
    assert life.records() == []
    return life


GO: list[Callable[[Life, str], None]] = [Life.forget, Life.invalidate, Life.drop]


@pytest.mark.parametrize("go", GO)
def test_what_a_fact_ended_opens_again_when_it_goes(life: Life, go: Callable[[Life, str], None]) -> None:
    go(life, "lisbon")
    assert life.ended("berlin") == OPEN


@pytest.mark.parametrize("go", GO)
def test_what_ended_it_in_its_turn_ends_the_older_one(life: Life, go: Callable[[Life, str], None]) -> None:
    life.say("porto", since=200, ends="lisbon")
    go(life, "lisbon")
    assert life.ended("berlin") == ("porto", day(200))
    go(life, "porto")
    assert life.ended("berlin") == OPEN


@pytest.mark.parametrize("go", [Life.invalidate, Life.drop])
def test_what_is_restored_closes_again(life: Life, go: Callable[[Life, str], None]) -> None:
    before = life.fact("berlin")
    go(life, "lisbon")
    life.restore("lisbon")
    assert life.fact("berlin") == before
    assert life.ended("lisbon") == OPEN
    assert life.records() == []


def test_a_restored_fact_and_a_newer_one_leave_the_earlier_end(life: Life) -> None:
    life.invalidate("lisbon")
    life.say("porto", since=200, ends="berlin")
    assert life.ended("berlin") == ("porto", day(200))
    life.restore("lisbon")
    assert life.ended("berlin") == ("lisbon", day(100))
    life.forget("lisbon")
    assert life.ended("berlin") == ("porto", day(200))


def test_a_correction_ends_what_the_corrected_fact_ended(life: Life) -> None:
    life.say("braga", since=100, corrects="lisbon")
    assert life.fact("lisbon").retired_at is not None
    assert (life.fact("lisbon").superseded_by, life.fact("lisbon").valid_to) == ("braga", None)
    assert life.ended("berlin") == ("braga", day(100))
    with pytest.raises(InvalidInput, match="superseded"):
        life.restore("lisbon")
    life.forget("braga")
    assert life.ended("lisbon") == OPEN
    assert life.ended("berlin") == ("lisbon", day(100))


def test_an_edit_of_the_text_is_a_correction(life: Life) -> None:
    anew = update_fact(life.components, BANK, "lisbon", {"text": "Ann lives in Lisboa"})
    assert (life.fact("lisbon").superseded_by, life.fact("lisbon").invalid_reason) == (anew.id, "restated")
    assert life.ended("berlin") == (anew.id, day(100))
    older = update_fact(life.components, BANK, "berlin", {"text": "Ann lived in Berlin"})
    assert life.ended(older.id) == (anew.id, day(100))
    life.invalidate(anew.id)
    assert life.fact("lisbon").retired_at is not None
    assert life.ended(older.id) == OPEN


def test_an_end_can_be_taken_back_by_hand(life: Life) -> None:
    update_fact(life.components, BANK, "berlin", {"valid_to": None})
    assert life.ended("berlin") == OPEN


def test_nothing_is_closed_in_a_circle(life: Life) -> None:
    closure = Closure(fact_id="lisbon", valid_to=day(300), superseded_by="berlin")
    assert commit(life.store, FactChanges(bank=BANK, now=NOW, closures=[closure])).closed == ()
    assert life.ended("lisbon") == OPEN


def test_saying_again_what_is_over_opens_a_new_fact(any_store: Store) -> None:
    put(any_store, new(make_fact("once", valid_to=day(1), end_recorded_at=NOW), dedupe_key="k"))
    again = new(make_fact("again"), dedupe_key="k")
    assert commit(any_store, FactChanges(bank=BANK, facts=[again])).inserted == ("again",)
