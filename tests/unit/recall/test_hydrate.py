"""What a recall reads of the facts it ranks: what it returns, many at once, and nothing that vanished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from perdure.domain.fact import Fact, FactType
from perdure.domain.ranking import RankingFields, ranking_fields
from perdure.domain.recall import RecallResult
from perdure.domain.time import Window
from perdure.models.tokens import token_counter
from perdure.recall.hydrate import FEWEST, SHORT, PoolFacts
from perdure.recall.parts import RecallComponents
from perdure.recall.pipeline import recall
from perdure.recall.recipe import find_recipe
from perdure.recall.request import RecallRequest
from perdure.testing.making import BANK, make_fact, new, put
from perdure.testing.memory_store import MemoryStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)


class NotingStore(MemoryStore):
    """Notes how many facts each call reads, and knows nothing of those that vanished."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []
        self.vanished: set[str] = set()

    def facts(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        self.read.append(len(ids))
        return [fact for fact in super().facts(bank, ids) if fact.id not in self.vanished]

    def outlines(self, bank: str, ids: Sequence[str]) -> dict[str, RankingFields]:
        return {fact.id: ranking_fields(fact) for fact in super().facts(bank, ids)}


class OneNote:
    """Notes that hold one paragraph."""

    note = Fact(id="note:1", bank=BANK, text="cat", type=FactType.OBSERVATION, proof_count=7)

    def find(self, bank: str, words: Sequence[str], window: Window | None) -> list[Fact]:
        return [self.note]

    def read(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        return [self.note for ident in ids if ident == self.note.id]


@pytest.fixture
def store() -> NotingStore:
    store = NotingStore()
    put(store, *(new(make_fact(f"{number:03}", "cat"), words="cat") for number in range(200)))
    return store


@pytest.fixture
def parts(store: NotingStore) -> Iterator[RecallComponents]:
    with ThreadPoolExecutor(2) as executor:
        counter = token_counter("approximate")
        yield RecallComponents(store=store, tokens=counter, clock=lambda: NOW, executor=executor)


def ask(parts: RecallComponents, **options: object) -> RecallResult:
    request = RecallRequest(bank=BANK, query="cat", recipe=find_recipe("fast"), **options)  # type: ignore[arg-type]
    return recall(parts, request)


def test_no_more_is_read_than_asked_for(parts: RecallComponents, store: NotingStore) -> None:
    assert len(ask(parts, limit=5).recollections) == 5
    assert store.read == [5]


def test_what_may_fit_is_read_at_once(parts: RecallComponents, store: NotingStore) -> None:
    assert len(ask(parts, max_tokens=4096).recollections) == 200
    assert store.read == [4096 // SHORT, 200 - 4096 // SHORT]


def test_what_fits_beyond_that_is_read_many_at_a_time(parts: RecallComponents, store: NotingStore) -> None:
    result = ask(parts, max_tokens=100)
    count = len(result.recollections)
    assert result.tokens <= 100
    assert 2 * FEWEST < count < 200
    assert store.read == [FEWEST] * (count // FEWEST + 1)


def test_a_fact_that_vanished_meanwhile_is_left_out(parts: RecallComponents, store: NotingStore) -> None:
    store.vanished = {"001", "003"}
    found = [one.fact.id for one in ask(parts, limit=4).recollections]
    assert found == ["000", "002", "004", "005"]


def test_notes_are_outlined_with_the_facts(parts: RecallComponents, store: NotingStore) -> None:
    facts = PoolFacts(replace(parts, notes=OneNote()), BANK, ["000", "note:1", "note:2", "no"])
    assert set(facts) == set(facts.outlines) == {"000", "note:1"}
    assert facts.outlines["note:1"] == ranking_fields(OneNote.note)
    assert facts["note:1"] is OneNote.note
    assert "no" not in facts
