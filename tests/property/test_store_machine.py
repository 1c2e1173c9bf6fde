"""Random writes, closures, erasures and questions: SQLite answers as the in-memory oracle does."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from perdure.domain.fact import Fact
from perdure.ports.store import Closure, Proof, Target, WriteBatch
from perdure.stores.sqlite import segments
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing.agreement import assert_same_memory, assert_same_search
from perdure.testing.memory_store import MemoryStore
from perdure.testing.samples import DOCUMENTS, ENTITIES, MODEL, Sampler

SEEDS = st.integers(0, 2**32 - 1)
BANK = "sample"


class StoreMachine(RuleBasedStateMachine):
    """Both stores take the same steps; a second connection stands for another process."""

    @initialize(seed=SEEDS, segment=st.sampled_from((2, 5, segments.SEGMENT)))
    def start(self, seed: int, segment: int) -> None:
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(segments, "SEGMENT", segment)
        self.time = datetime(2024, 1, 1, tzinfo=UTC)
        self.folder = tempfile.TemporaryDirectory()
        self.path = path = Path(self.folder.name) / "memory.db"
        self.oracle = MemoryStore(clock=lambda: self.time)
        self.store = SqliteStore.open(path, clock=lambda: self.time)
        self.other = SqliteStore.open(path, clock=lambda: self.time)
        self.sampler = Sampler(Random(seed), bank=BANK)
        first = WriteBatch(
            bank=BANK,
            documents=self.sampler.documents(),
            chunks=self.sampler.chunks(),
            entities=self.sampler.entities(),
        )
        self.write(first)

    def write(self, batch: WriteBatch) -> None:
        self.time += timedelta(seconds=1)
        store = self.sampler.random.choice((self.store, self.other))
        assert store.write(batch) == self.oracle.write(batch)

    def pick(self, count: int) -> list[str]:
        made = self.sampler.made
        return self.sampler.random.sample(made, min(count, len(made)))

    def closure(self, fact: Fact, superseded_by: str | None) -> Closure:
        """An end at a moment that filters ask about, not before the fact's beginning."""
        retired, ended = self.sampler.moment(), self.sampler.maybe_moment()
        if fact.recorded_at is not None:
            retired = max(retired, fact.recorded_at)
        if ended is not None and fact.valid_from is not None:
            ended = max(ended, fact.valid_from)
        return Closure(fact_id=fact.id, retired_at=retired, valid_to=ended, superseded_by=superseded_by)

    @rule(count=st.integers(1, 6), links=st.integers(0, 6))
    def add(self, count: int, links: int) -> None:
        facts = [self.sampler.new_fact() for _ in range(count)]
        self.write(WriteBatch(bank=BANK, model=MODEL, facts=facts, links=self.sampler.links(links)))

    @precondition(lambda self: self.sampler.made)
    @rule(superseded=st.booleans())
    def close(self, superseded: bool) -> None:
        new = self.sampler.new_fact()
        closures = [
            self.closure(fact, new.fact.id if superseded else None)
            for fact in self.oracle.facts(BANK, self.pick(2))
        ]
        self.write(WriteBatch(bank=BANK, model=MODEL, facts=[new], closures=closures))

    @precondition(lambda self: self.sampler.made)
    @rule()
    def prove_and_update(self) -> None:
        proofs = [
            Proof(
                fact_id=ident,
                document_id=self.sampler.random.choice(DOCUMENTS),
                chunk_id=None,
                seen_at=self.time,
            )
            for ident in self.pick(2)
        ]
        updates = [
            replace(self.sampler.fact(), id=fact.id, recorded_at=fact.recorded_at, retired_at=fact.retired_at)
            for fact in self.oracle.facts(BANK, self.pick(1))
        ]
        features = {fact.id: self.sampler.features(fact) for fact in self.oracle.facts(BANK, self.pick(1))}
        features = {ident: replace(held, dedupe_key="") for ident, held in features.items()}
        links = self.sampler.links(2)
        self.write(
            WriteBatch(bank=BANK, model=MODEL, proofs=proofs, updates=updates, features=features, links=links)
        )

    @precondition(lambda self: self.sampler.made)
    @rule()
    def recall_some(self) -> None:
        ids = self.pick(3)
        for store in (self.oracle, self.store):
            store.record_recalls(BANK, ids, self.time)

    @precondition(lambda self: self.sampler.made)
    @rule(what=st.sampled_from(("fact", "document", "entity")))
    def forget(self, what: str) -> None:
        random = self.sampler.random
        target = {
            "fact": Target(fact_id=random.choice(self.sampler.made)),
            "document": Target(document_id=random.choice(DOCUMENTS)),
            "entity": Target(entity_id=random.choice(ENTITIES)),
        }[what]
        assert self.store.forget(BANK, target) == self.oracle.forget(BANK, target)

    @rule()
    def ask(self) -> None:
        for probe in self.sampler.probes():
            limit = self.sampler.random.choice((1, 3, 50))
            assert_same_search(self.oracle, self.store, BANK, probe, self.sampler.filter(), limit)

    @rule()
    def compare(self) -> None:
        store = self.sampler.random.choice((self.store, self.other))
        assert_same_memory(self.oracle, store, BANK, self.sampler.filter())

    @rule()
    def begin_anew(self) -> None:
        """An index that loads all, where others followed step by step."""
        self.store.close()
        self.store = SqliteStore.open(self.path, clock=lambda: self.time)

    @invariant()
    def the_second_process_sees_every_commit(self) -> None:
        if hasattr(self, "other"):
            assert self.other.stats(BANK).facts == self.oracle.stats(BANK).facts

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.other.close()
            self.folder.cleanup()
            self.patched.undo()


QUICK = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
LONG = settings(QUICK, max_examples=600, stateful_step_count=60)


class TestStoreMachine(StoreMachine.TestCase):
    settings = QUICK


@pytest.mark.long
class TestStoreMachineLong(StoreMachine.TestCase):
    settings = LONG
