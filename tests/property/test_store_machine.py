"""Random transactions and questions: SQLite answers as the in-memory oracle does."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import Fact
from perdure.domain.record import Record
from perdure.ports.store import Proof, StagedVectors, Store, Traces, Transaction
from perdure.stores.postgres.connections import Db
from perdure.stores.postgres.rows import TransactionRows
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql.columns import Values
from perdure.stores.sql.feed import pack_facts
from perdure.stores.sql.queries import BankRows
from perdure.stores.sqlite.rows import ConnectionRows
from perdure.stores.sqlite.store import SqliteStore
from tests.support.agreement import assert_same_memory, assert_same_search
from tests.support.memory_store import MemoryStore
from tests.support.postgres import LargeBanksStore, new_database
from tests.support.sampler import DOCUMENTS, ENTITIES, MODEL, Sampler

SEEDS = st.integers(0, 2**32 - 1)
BANK = "sample"


class StoreMachine(RuleBasedStateMachine):
    """Both stores take the same steps; a second connection stands for another process."""

    @initialize(seed=SEEDS)
    def start(self, seed: int) -> None:
        self.time = datetime(2024, 1, 1, tzinfo=UTC)
        self.place = ExitStack()
        self.path = self.new_place()
        self.oracle = MemoryStore(clock=lambda: self.time)
        self.store = self.open()
        self.other = self.open()
        self.sampler = Sampler(Random(seed), bank=BANK)
        self.write(self.furnish)

    def new_place(self) -> str:
        """Where a new database is, until the machine ends."""
        return str(Path(self.place.enter_context(tempfile.TemporaryDirectory())) / "memory.db")

    def open(self) -> SqliteStore | PostgresStore:
        return SqliteStore.open(self.path, clock=lambda: self.time)

    def raw(self) -> sqlite3.Connection | psycopg.Connection[Values]:
        """A connection that passes the store by."""
        return sqlite3.connect(self.path)

    def furnish(self, tx: Transaction) -> None:
        """What facts refer to."""
        tx.set_model(MODEL)
        tx.put_documents(self.documents)
        tx.put_chunks(self.chunks)
        tx.put_entities(self.entities)

    def write(self, act: Callable[[Transaction], object]) -> None:
        self.documents, self.chunks = self.sampler.documents(), self.sampler.chunks()
        self.entities = self.sampler.entities()
        self.time += timedelta(seconds=1)
        for store in (self.oracle, self.sampler.random.choice((self.store, self.other))):
            with store.transaction(BANK) as tx:
                act(tx)

    def pick(self, count: int) -> list[str]:
        drawn = self.sampler.drawn_ids
        return self.sampler.random.sample(drawn, min(count, len(drawn)))

    def stored(self, count: int) -> list[Fact]:
        with self.oracle.reading(BANK) as reading:
            return reading.facts(self.pick(count))

    def ended(self, fact: Fact) -> Fact:
        """The fact closed at a moment that filters ask about, not before its beginning."""
        retired, ended = self.sampler.moment(), self.sampler.maybe_moment()
        if fact.recorded_at is not None:
            retired = max(retired, fact.recorded_at)
        if ended is not None and fact.valid_from is not None:
            ended = max(ended, fact.valid_from)
        by = self.sampler.random.choice((None, *self.pick(1)))
        return replace(fact, retired_at=retired, valid_to=ended, superseded_by=by)

    @rule(count=st.integers(1, 6), links=st.integers(0, 6))
    def add(self, count: int, links: int) -> None:
        facts = [self.sampler.new_fact() for _ in range(count)]
        joined = self.sampler.links(links)
        self.write(lambda tx: (tx.insert_facts(facts), tx.put_links(joined)))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule()
    def close_some(self) -> None:
        closed = [self.ended(fact) for fact in self.stored(2)]
        new = self.sampler.new_fact()
        self.write(lambda tx: (tx.update_facts(closed), tx.insert_facts([new])))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule()
    def edit(self) -> None:
        edited = [
            replace(self.sampler.fact(), id=fact.id, source_fact_ids=tuple(self.pick(2)))
            for fact in self.stored(2)
        ]
        features = {fact.id: self.sampler.features(fact) for fact in self.stored(1)}
        links = self.sampler.links(2)
        self.write(lambda tx: (tx.update_facts(edited), tx.put_features(features), tx.put_links(links)))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(replacing=st.booleans())
    def prove(self, replacing: bool) -> None:
        proofs = [
            Proof(fact_id, self.sampler.random.choice(DOCUMENTS), "c-d-1", self.time)
            for fact_id in self.pick(2)
        ]
        if replacing:
            self.write(lambda tx: tx.replace_proofs({proof.fact_id: [proof, proof] for proof in proofs}))
        else:
            self.write(lambda tx: tx.add_proofs(proofs))

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule()
    def recall_some(self) -> None:
        recalls = [(fact_id, self.time) for fact_id in self.pick(3) * 2]
        for store in (self.oracle, self.store):
            store.record_recalls(BANK, recalls)

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule(count=st.integers(1, 3))
    def delete(self, count: int) -> None:
        doomed, entity = self.pick(count), self.sampler.random.choice(ENTITIES)
        document = self.sampler.random.choice(DOCUMENTS)

        def act(tx: Transaction) -> None:
            tx.delete_facts(doomed)
            tx.delete_entities([entity])
            tx.delete_documents([document])
            tx.delete_chunks([f"c-{document}"])
            tx.erased_content()

        self.write(act)

    @rule()
    def furnish_again(self) -> None:
        self.write(self.furnish)

    @precondition(lambda self: self.sampler.drawn_ids)
    @rule()
    def change_model(self) -> None:
        model = EmbeddingModel(f"model of {self.time}", MODEL.dimensions)
        staged = [StagedVectors(fact.id, {"fact": self.sampler.vector()}) for fact in self.stored(50)]
        self.write(lambda tx: tx.stage_vectors(model, staged))
        self.write(lambda tx: tx.switch_model(model))

    @rule()
    def record(self) -> None:
        number = self.sampler.random.randrange(3)
        record = Record(kind="note", id=f"r{number}", bank=BANK, body={"text": f"{self.time}"})
        self.write(lambda tx: (tx.put_records([record]), tx.delete_records("note", [f"r{number + 1}"])))

    @rule()
    def fail_in_the_middle(self) -> None:
        facts = [self.sampler.new_fact() for _ in range(2)]

        def act(tx: Transaction) -> None:
            tx.insert_facts(facts)
            tx.delete_facts(self.sampler.drawn_ids)
            raise LookupError

        for store in (self.oracle, self.store):
            with pytest.raises(LookupError), store.transaction(BANK) as tx:
                act(tx)

    @precondition(lambda self: self.sampler.count > 20)
    @rule(sure=st.integers(0, 3))
    def delete_bank(self, sure: int) -> None:
        if not sure:
            self.write(lambda tx: tx.delete_bank())
            self.write(self.furnish)

    @rule()
    def clear_traces(self) -> None:
        for store in (self.oracle, self.store):
            assert store.clear_traces() is Traces.CLEARED

    @rule()
    def empty_the_index_cache(self) -> None:
        with closing(self.raw()) as raw:
            raw.execute("DELETE FROM index_cache WHERE mod(fact, 3) = 0")
            raw.commit()
        self.begin_anew()

    @rule()
    def ask(self) -> None:
        for probe in self.sampler.probes():
            limit = self.sampler.random.choice((1, 3, 50))
            assert_same_search(self.oracle, self.store, BANK, probe, self.sampler.filter(), limit)

    @rule()
    def compare(self) -> None:
        store = self.sampler.random.choice((self.store, self.other))
        assert_same_memory(self.oracle, store, BANK, self.sampler.filter())
        assert records(store) == records(self.oracle)

    @rule()
    def begin_anew(self) -> None:
        """An index that loads all, where others followed step by step."""
        self.store.close()
        self.store = self.open()

    @invariant()
    def the_second_process_sees_every_commit(self) -> None:
        if hasattr(self, "other"):
            assert count(self.other) == count(self.oracle)

    @invariant()
    def the_index_cache_repeats_the_rows(self) -> None:
        if hasattr(self, "other"):
            self.check_index_cache()

    def check_index_cache(self) -> None:
        with closing(sqlite3.connect(self.path)) as raw:
            check_index_cache(raw)

    def teardown(self) -> None:
        with suppress(AttributeError):
            self.store.close()
            self.other.close()
            self.place.close()


def records(store: Store) -> list[Record]:
    with store.reading(BANK) as reading:
        return reading.records("note")


def count(store: Store) -> int:
    with store.reading(BANK) as reading:
        return reading.stats().facts


def check_index_cache(raw: sqlite3.Connection) -> None:
    check_cached_facts(lambda bank_id, no: ConnectionRows(raw, bank_id, no))


def check_cached_facts(rows_of: Callable[[str, int], BankRows]) -> None:
    """Every cached fact is as it would be packed from its rows."""
    for bank_no, bank_id in rows_of("", 0)._select("SELECT no, id FROM bank"):
        rows = rows_of(bank_id, bank_no)
        cached = rows._of_bank("SELECT fact, id, body FROM index_cache WHERE bank = ? ORDER BY fact")
        assert [tuple(fact) for fact in pack_facts(rows, [no for no, _, _ in cached])] == cached


class PostgresStoreMachine(StoreMachine):
    """The same steps on PostgreSQL."""

    def new_place(self) -> str:
        return self.place.enter_context(new_database())

    def open(self) -> PostgresStore:
        return PostgresStore.open(self.path, clock=lambda: self.time, connections=4)

    def raw(self) -> psycopg.Connection[Values]:
        return psycopg.connect(self.path, options="-c search_path=perdure")

    def check_index_cache(self) -> None:
        with closing(self.raw()) as raw:
            check_cached_facts(lambda bank_id, no: RawRows(raw, bank_id, no))


class LargeBanksMachine(PostgresStoreMachine):
    """The same steps where every bank is searched in SQL."""

    def open(self) -> PostgresStore:
        return LargeBanksStore.open(self.path, clock=lambda: self.time, connections=4, large_bank_facts=0)


class RawRows(TransactionRows):
    def __init__(self, db: Db, bank_id: str, bank_no: int) -> None:
        super().__init__(bank_id, bank_no)
        self._db = db


QUICK = settings(
    max_examples=12, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
FEW = settings(QUICK, max_examples=6)
LONG = settings(QUICK, max_examples=600, stateful_step_count=60)


class TestStoreMachine(StoreMachine.TestCase):
    settings = QUICK


@pytest.mark.long
class TestStoreMachineLong(StoreMachine.TestCase):
    settings = LONG


class TestPostgresStoreMachine(PostgresStoreMachine.TestCase):
    settings = FEW


class TestLargeBanksMachine(LargeBanksMachine.TestCase):
    settings = settings(QUICK, max_examples=3)


@pytest.mark.long
class TestLargeBanksMachineLong(LargeBanksMachine.TestCase):
    settings = settings(LONG, max_examples=60)


@pytest.mark.long
class TestPostgresStoreMachineLong(PostgresStoreMachine.TestCase):
    settings = settings(LONG, max_examples=100)
