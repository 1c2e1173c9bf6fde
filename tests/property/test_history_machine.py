"""Random histories of changes, corrections and withdrawals: what is in force follows from what is believed."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.errors import InvalidInput
from perdure.extract.verbatim import VerbatimExtractor
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.history import CLOSINGS
from perdure.manage.curation import invalidate_fact, restore_fact
from perdure.ports.store import Features, NewFact, Order, Selection, Store
from perdure.retain.commit import Closure, FactChanges, commit
from perdure.retain.components import RetainComponents
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore
from tests.support.agreement import assert_same_memory
from tests.support.memory_store import MemoryStore
from tests.support.postgres import new_database

BANK = "b"
START = datetime(2024, 1, 1, tzinfo=UTC)
EVERYTHING = Filter(include_closed=True, include_expired=True, now=START)


@dataclass(frozen=True)
class Said:
    """A closing as it was made; `end` None for a correction."""

    by: str
    end: datetime | None
    order: int


class HistoryMachine(RuleBasedStateMachine):
    """`said` and `withdrawn` are the model: from them alone follows what every fact must look like."""

    @initialize()
    def start(self) -> None:
        self.time = START
        self.place = ExitStack()
        self.stores: list[Store] = [MemoryStore(clock=lambda: self.time), self.open()]
        self.said: dict[str, list[Said]] = {}
        self.withdrawn: set[str] = set()
        self.erased: set[str] = set()
        self.count = 0

    def open(self) -> Store:
        folder = Path(self.place.enter_context(tempfile.TemporaryDirectory()))
        return SqliteStore.open(folder / "memory.db", clock=lambda: self.time)

    def components(self, store: Store) -> RetainComponents:
        return RetainComponents(store=store, extractor=VerbatimExtractor(), clock=lambda: self.time)

    def known(self) -> list[str]:
        return [fact_id for fact_id in self.said if fact_id not in self.erased]

    def commit(self, changes: FactChanges) -> None:
        for store in self.stores:
            commit(store, changes)

    @rule(data=st.data(), days=st.integers(0, 9), corrects=st.booleans(), count=st.integers(0, 2))
    def say(self, data: st.DataObject, days: int, corrects: bool, count: int) -> None:
        """A new fact that ends or corrects older ones."""
        self.time += timedelta(minutes=1)
        self.count += 1
        fact_id = f"f{self.count}"
        old = (
            data.draw(st.lists(st.sampled_from(self.known()), max_size=count, unique=True))
            if self.known()
            else []
        )
        end = None if corrects else START + timedelta(days=days)
        closures = [
            Closure(
                fact_id=one, retired_at=self.time if corrects else None, valid_to=end, superseded_by=fact_id
            )
            for one in old
        ]
        fact = Fact(id=fact_id, bank=BANK, text=f"fact {fact_id}", recorded_at=self.time)
        self.commit(
            FactChanges(bank=BANK, now=self.time, facts=[NewFact(fact, Features())], closures=closures)
        )
        self.said[fact_id] = []
        for one in old:
            self.said[one].append(Said(fact_id, end, self.count))

    @precondition(lambda self: self.known())
    @rule(data=st.data(), by_hand=st.booleans())
    def withdraw(self, data: st.DataObject, by_hand: bool) -> None:
        self.time += timedelta(minutes=1)
        fact_id = data.draw(st.sampled_from(self.known()))
        if not by_hand and not self.believed(fact_id):
            return
        for store in self.stores:
            if by_hand:
                invalidate_fact(self.components(store), BANK, fact_id)
            else:
                closure = Closure(fact_id=fact_id, retired_at=self.time)
                commit(store, FactChanges(bank=BANK, closures=[closure]))
        self.withdrawn.add(fact_id)

    @precondition(lambda self: self.withdrawn - self.erased)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        fact_id = data.draw(st.sampled_from(sorted(self.withdrawn - self.erased)))
        self.withdrawn.discard(fact_id)
        right = self.believed(fact_id)
        for store in self.stores:
            if right:
                restore_fact(self.components(store), BANK, fact_id)
            else:
                with pytest.raises(InvalidInput):
                    restore_fact(self.components(store), BANK, fact_id)
        if not right:
            self.withdrawn.add(fact_id)

    @precondition(lambda self: self.known())
    @rule(data=st.data())
    def erase(self, data: st.DataObject) -> None:
        fact_id = data.draw(st.sampled_from(self.known()))
        for store in self.stores:
            forget(store, BANK, Target(fact_id=fact_id))
        self.erased.add(fact_id)

    def believed(self, fact_id: str) -> bool:
        gone = fact_id in self.erased or fact_id in self.withdrawn
        return not gone and not any(one.end is None for one in self.in_force(fact_id))

    def in_force(self, fact_id: str) -> list[Said]:
        """The closings of a fact, each by the fact that stands behind it today."""
        return [one for said in self.said[fact_id] for one in self.behind(said)]

    def behind(self, said: Said) -> list[Said]:
        if self.believed(said.by):
            return [said]
        own = self.in_force(said.by)
        return [replace(said, by=one.by) if one.end is None else one for one in own]

    @invariant()
    def every_store_agrees_with_the_model(self) -> None:
        for store in getattr(self, "stores", ()):
            with store.reading(BANK) as reading:
                selection = Selection(where=EVERYTHING, order=Order.OLDEST_RECORDED, limit=1000)
                facts = {fact.id: fact for fact in reading.browse(selection).facts}
                records = [record.id for record in reading.records(CLOSINGS)]
            assert sorted(facts) == sorted(self.known())
            assert set(records) <= set(facts)
            for fact in facts.values():
                closer = facts.get(fact.superseded_by or "")
                assert (closer is None) == (fact.superseded_by is None), "a pointer dangles"
                assert closer is None or closer.retired_at is None, "closed by what is not believed"
                self.check(fact)
        if getattr(self, "stores", ()):
            assert_same_memory(*self.stores, BANK, EVERYTHING)

    def check(self, fact: Fact) -> None:
        in_force = self.in_force(fact.id)
        assert (fact.retired_at is None) == self.believed(fact.id), fact
        ends = [one.end for one in in_force if one.end is not None]
        assert fact.valid_to == min(ends, default=None), fact
        assert (fact.end_recorded_at is None) == (fact.valid_to is None)
        corrections = {one.by for one in in_force if one.end is None}
        enders = {one.by for one in in_force if one.end is not None and one.end == fact.valid_to}
        first, second = (enders, corrections) if fact.id in self.withdrawn else (corrections, enders)
        assert fact.superseded_by in (first or second or {None}), fact

    def teardown(self) -> None:
        for store in getattr(self, "stores", ()):
            store.close()
        if hasattr(self, "place"):
            self.place.close()


QUICK = settings(
    max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


class PostgresHistoryMachine(HistoryMachine):
    """The same on PostgreSQL."""

    def open(self) -> Store:
        url = self.place.enter_context(new_database())
        return PostgresStore.open(url, clock=lambda: self.time)


class TestPostgresHistoryMachine(PostgresHistoryMachine.TestCase):
    settings = settings(QUICK, max_examples=6)


class TestHistoryMachine(HistoryMachine.TestCase):
    settings = QUICK


@pytest.mark.long
class TestHistoryMachineLong(HistoryMachine.TestCase):
    settings = settings(QUICK, max_examples=500, stateful_step_count=50)
