"""Random commits and erasures: what follows from them is the same on SQLite and PostgreSQL as on the in-memory oracle."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from perdure.domain.fact import Fact
from perdure.forget.options import Target
from perdure.forget.pipeline import forget
from perdure.ports.store import FactsWhere, Proof, Store
from perdure.retain.commit import Closure, FactChanges, commit
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sqlite.store import SqliteStore
from tests.support.agreement import assert_same_memory, assert_same_search
from tests.support.memory_store import MemoryStore
from tests.support.postgres import new_database
from tests.support.sampler import DOCUMENTS, ENTITIES, MODEL, Sampler

SEEDS = st.integers(0, 2**32 - 1)
BANK = "sample"


class PolicyMachine(RuleBasedStateMachine):
    """Both stores take the same steps; a second connection stands for another process."""

    @initialize(seed=SEEDS)
    def start(self, seed: int) -> None:
        self.time = datetime(2024, 1, 1, tzinfo=UTC)
        self.place = ExitStack()
        self.oracle = MemoryStore(clock=lambda: self.time)
        self.store, self.other = self.open_two()
        self.sampler = Sampler(Random(seed), bank=BANK)
        self.commit(
            FactChanges(
                bank=BANK,
                documents=self.sampler.documents(),
                chunks=self.sampler.chunks(),
                entities=self.sampler.entities(),
            )
        )

    def open_two(self) -> tuple[Store, Store]:
        """Two stores on one new database."""
        path = Path(self.place.enter_context(tempfile.TemporaryDirectory())) / "memory.db"
        one, two = (SqliteStore.open(path, clock=lambda: self.time) for _ in range(2))
        return one, two

    def commit(self, changes: FactChanges) -> None:
        self.time += timedelta(seconds=1)
        store = self.sampler.random.choice((self.store, self.other))
        assert commit(store, changes) == commit(self.oracle, changes)

    def pick(self, count: int) -> list[Fact]:
        drawn = self.sampler.random.sample(self.sampler.drawn_ids, min(count, len(self.sampler.drawn_ids)))
        with self.oracle.reading(BANK) as reading:
            return reading.facts(drawn)

    def closure(self, fact: Fact, superseded_by: str | None) -> Closure:
        """An end at a moment that filters ask about."""
        end = self.sampler.maybe_moment()
        return Closure(
            fact_id=fact.id,
            retired_at=self.sampler.moment() if end is None else None,
            valid_to=end,
            superseded_by=superseded_by,
        )

    @rule(count=st.integers(1, 6), links=st.integers(0, 6))
    def add(self, count: int, links: int) -> None:
        facts = [self.sampler.new_fact() for _ in range(count)]
        self.commit(FactChanges(bank=BANK, model=MODEL, facts=facts, links=self.sampler.links(links)))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(superseded=st.booleans())
    def close(self, superseded: bool) -> None:
        new = self.sampler.new_fact()
        closures = [self.closure(fact, new.fact.id if superseded else None) for fact in self.pick(2)]
        self.commit(
            FactChanges(bank=BANK, now=self.sampler.moment(), model=MODEL, facts=[new], closures=closures)
        )

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(reopens=st.booleans())
    def prove_and_update(self, reopens: bool) -> None:
        random = self.sampler.random
        proofs = [Proof(fact.id, random.choice(DOCUMENTS), None, self.time) for fact in self.pick(2)]
        updates = [
            replace(
                self.sampler.fact(),
                id=fact.id,
                recorded_at=fact.recorded_at,
                valid_from=None,
                source_fact_ids=tuple(source.id for source in self.pick(1)),
            )
            for fact in self.pick(2)
        ]
        features = {fact.id: self.sampler.features(fact) for fact in self.pick(1)}
        self.commit(
            FactChanges(
                bank=BANK,
                model=MODEL,
                proofs=proofs,
                updates=updates,
                reopened=[fact.id for fact in updates] if reopens else [],
                features=features,
                links=self.sampler.links(2),
            )
        )

    @rule()
    def replace_a_chunk(self) -> None:
        chunk = self.sampler.random.choice(self.sampler.chunks())
        with self.oracle.reading(BANK) as reading:
            housed = reading.find_facts(FactsWhere(document_ids=[chunk.document_id]))[:3]
        moved = [replace(fact, chunk_id=chunk.id) for fact in housed]
        self.commit(FactChanges(bank=BANK, documents=self.sampler.documents(), chunks=[chunk], updates=moved))
        self.commit(FactChanges(bank=BANK, removed_chunks=[chunk.id]))

    @rule(joins=st.booleans())
    def see_entities(self, joins: bool) -> None:
        entities = self.sampler.entities()
        added = {keyed.entity.id: 1 for keyed in entities} if joins else {}
        removed = [] if joins else [self.sampler.random.choice(ENTITIES)]
        self.commit(FactChanges(bank=BANK, entities=entities, added_mentions=added, removed_entities=removed))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(what=st.sampled_from(("fact", "document", "entity", "everything")))
    def forget(self, what: str) -> None:
        random = self.sampler.random
        target = {
            "fact": Target(fact_id=random.choice(self.sampler.drawn_ids)),
            "document": Target(document_id=random.choice(DOCUMENTS)),
            "entity": Target(entity_id=random.choice(ENTITIES)),
            "everything": Target(everything=True),
        }[what if what != "everything" or random.random() < 0.2 else "fact"]
        store = random.choice((self.store, self.other))
        erased, expected = forget(store, BANK, target), forget(self.oracle, BANK, target)
        assert replace(erased, traces=expected.traces, pending=expected.pending) == expected

    @rule()
    def compare(self) -> None:
        store = self.sampler.random.choice((self.store, self.other))
        where = self.sampler.filter()
        assert_same_memory(self.oracle, store, BANK, where)
        for probe in self.sampler.probes():
            assert_same_search(self.oracle, store, BANK, probe, where, 50)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.other.close()
            self.place.close()


QUICK = settings(
    max_examples=12, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
LONG = settings(QUICK, max_examples=400, stateful_step_count=60)


class PostgresPolicyMachine(PolicyMachine):
    """The same steps on PostgreSQL."""

    def open_two(self) -> tuple[Store, Store]:
        url = self.place.enter_context(new_database())
        one, two = (PostgresStore.open(url, clock=lambda: self.time, connections=4) for _ in range(2))
        return one, two


class TestPostgresPolicyMachine(PostgresPolicyMachine.TestCase):
    settings = settings(QUICK, max_examples=5)


class TestPolicyMachine(PolicyMachine.TestCase):
    settings = QUICK


@pytest.mark.long
class TestPolicyMachineLong(PolicyMachine.TestCase):
    settings = LONG
