"""What a recall reads of the facts it ranks: what it returns, many at once, and nothing that vanished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter
from perdure.domain.ranking import RankingFields, ranking_fields
from perdure.domain.recall import Candidate, RecallResult
from perdure.domain.time import Window
from perdure.domain.trace import Trace
from perdure.models.tokens import token_counter
from perdure.ports.store import Features, NewFact
from perdure.recall.components import RecallComponents, RecallRun
from perdure.recall.current import HEAD
from perdure.recall.options import RecallRequest
from perdure.recall.pipeline import recall
from perdure.recall.recipes import find_recipe
from tests.support.memory_store import MemoryReading, MemoryStore

BANK = "b"
NOW = datetime(2024, 6, 1, tzinfo=UTC)


class CountingStore(MemoryStore):
    """Notes how many facts each call reads, and has no facts of those that vanished after they were ranked."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []
        self.vanished: set[str] = set()

    @contextmanager
    def reading(self, bank: str) -> Iterator[MemoryReading]:
        with super().reading(bank) as reading:
            facts = reading.facts

            def counted_facts(ids: Sequence[str]) -> list[Fact]:
                self.reads.append(len(ids))
                return [fact for fact in facts(ids) if fact.id not in self.vanished]

            def all_ranking_fields(ids: Sequence[str]) -> dict[str, RankingFields]:
                return {fact.id: ranking_fields(fact) for fact in facts(ids)}

            reading.facts = counted_facts  # type: ignore[method-assign]
            reading.ranking_fields = all_ranking_fields  # type: ignore[method-assign]
            yield reading


class OneNote:
    """Notes that hold one paragraph."""

    note = Fact(id="note:1", bank=BANK, text="cat", type=FactType.OBSERVATION, proof_count=7)

    def find(self, bank: str, words: Sequence[str], window: Window | None) -> list[Fact]:
        return [self.note]

    def read(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        return [self.note for fact_id in ids if fact_id == self.note.id]


@pytest.fixture
def store() -> CountingStore:
    store = CountingStore()
    features = Features(terms={"cat": 1.0}, words=("cat",))
    with store.transaction(BANK) as tx:
        tx.insert_facts([NewFact(Fact(id=f"{n:03}", bank=BANK, text="cat"), features) for n in range(200)])
    return store


@pytest.fixture
def components(store: CountingStore) -> Iterator[RecallComponents]:
    with ThreadPoolExecutor(2) as executor:
        counter = token_counter("approximate")
        yield RecallComponents(store=store, tokens=counter, clock=lambda: NOW, executor=executor)


def ask(components: RecallComponents, **options: object) -> RecallResult:
    request = RecallRequest(bank=BANK, query="cat", recipe=find_recipe("fast"), **options)  # type: ignore[arg-type]
    return recall(components, request)


def test_no_more_is_read_than_the_head_of_the_ranking(
    components: RecallComponents, store: CountingStore
) -> None:
    assert len(ask(components, limit=5).recollections) == 5
    assert store.reads == [HEAD]


def test_a_fact_that_vanished_meanwhile_is_left_out(
    components: RecallComponents, store: CountingStore
) -> None:
    store.vanished = {"001", "003"}
    assert [one.fact.id for one in ask(components, limit=4).recollections] == ["000", "002", "004", "005"]


def test_notes_have_ranking_fields_like_facts_and_what_is_gone_is_left_out(
    components: RecallComponents, store: CountingStore
) -> None:
    with store.reading(BANK) as reading:
        run = RecallRun(
            components=replace(components, notes=OneNote()),
            request=RecallRequest(bank=BANK, query="cat", recipe=find_recipe("fast")),
            reading=reading,
            where=Filter(now=NOW),
            trace=Trace(),
        )
        pool = [Candidate(fact_id=fact_id) for fact_id in ("000", "note:1", "note:2", "no")]
        fact, note = run.read_ranking_fields(pool)
    assert (fact.fact_id, note.fact_id) == ("000", "note:1")
    assert fact.fact is None
    assert note.fields == ranking_fields(OneNote.note)
    assert note.fact is OneNote.note
