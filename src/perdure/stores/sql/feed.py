"""What a bank's index reads from the database, and the cache of packed facts that makes it quick."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from perdure.ports.embedder import Matrix
from perdure.ports.store import Features
from perdure.stores.index import packing
from perdure.stores.index.feed import BankState, Change, FactNos, PackedFact
from perdure.stores.sql.columns import Values, batches, from_float16, strings
from perdure.stores.sql.queries import BankRows, Select

PACKED_FORMAT = bytes([packing.VERSION])
"""The first byte of a packed fact."""
BLOCK = 512
"""Rows fetched at once: larger blocks start Python's garbage collector again and again."""
STATE = "SELECT no, version, vectors_version, changes_dropped, model, dimensions FROM bank WHERE id = ?"


def read_state(select: Select, bank_id: str, query: str = STATE) -> BankState | None:
    """Return the state of a bank in the database, None when there is no such bank."""
    rows = select(query, bank_id)
    return BankState(*rows[0]) if rows else None


def cached_facts(rows: BankRows, numbers: Sequence[int]) -> dict[int, PackedFact]:
    """Return the rows of the index cache, sound or not."""
    query = "SELECT fact, id, body FROM index_cache WHERE bank = ?"
    return {fact.no: fact for fact in map(PackedFact._make, rows._where(query, "fact", numbers))}


def packed_facts(rows: BankRows, numbers: Sequence[int]) -> list[PackedFact]:
    """Return packed facts from the cache; pack those that it lacks or has damaged."""
    cached = cached_facts(rows, numbers).values()
    packed = {fact.no: fact for fact in cached if packing.is_sound(fact.id, fact.body)}
    if len(packed) < len(numbers):
        missing = [no for no in numbers if no not in packed]
        packed |= {fact.no: fact for fact in pack_facts(rows, missing)}
    return [packed[no] for no in numbers if no in packed]


class BankFeed(BankRows):
    """The Feed protocol; all its reads see one state of the database."""

    state_query = STATE

    def __init__(self, bank_id: str) -> None:
        self._state = read_state(self._select, bank_id, self.state_query)
        super().__init__(bank_id, self._state.key if self._state else 0)

    @abstractmethod
    def _stream(self, query: str, *parameters: object) -> Iterator[list[Values]]:
        """Return the rows of a query in blocks."""

    def state(self) -> BankState | None:
        return self._state

    def facts_after(self, no: int) -> Iterator[Sequence[PackedFact]]:
        query = "SELECT no FROM fact WHERE bank = ? AND no > ? ORDER BY no"
        return self._packed([number for (number,) in self._of_bank(query, no)])

    def facts_of(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        return self._packed(sorted(numbers))

    def _packed(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        for block in batches(numbers):
            yield packed_facts(self, block)

    def changes_after(self, number: int) -> list[tuple[int, int, Change]]:
        query = "SELECT no, fact, kind FROM change WHERE bank = ? AND no > ? ORDER BY no"
        return [(no, fact, Change(kind)) for no, fact, kind in self._of_bank(query, number)]

    def last_change(self) -> int:
        rows = self._of_bank("SELECT last_change FROM bank WHERE no = ?")
        return int(rows[0][0]) if rows else 0

    def vector_count(self, view: str) -> int:
        query = "SELECT count(*) FROM vector WHERE bank = ? AND view = ?"
        return int(self._of_bank(query, view)[0][0])

    def vectors(self, view: str, numbers: Sequence[int] | None = None) -> Iterator[tuple[FactNos, Matrix]]:
        base = "SELECT fact, value FROM vector WHERE bank = ? AND view = ?"
        for rows in self._blocks(base, numbers, view):
            yield np.array([no for no, _ in rows], np.int64), from_float16([value for _, value in rows])

    def words(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, Sequence[str]]]:
        for rows in self._blocks("SELECT fact, words FROM fact_features WHERE bank = ?", numbers):
            yield from ((no, strings(words)) for no, words in rows)

    def signatures(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, bytes]]:
        for rows in self._blocks("SELECT fact, signature FROM fact_features WHERE bank = ?", numbers):
            yield from ((no, signature) for no, signature in rows if signature)

    def entity_names(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        entities = [keyed.entity for keyed in self.entities(ids=ids)]
        return {entity.id: (entity.name, *entity.aliases) for entity in entities}

    def _blocks(self, base: str, numbers: Sequence[int] | None, *before: object) -> Iterator[list[Values]]:
        """Return rows of all facts or of these, by rising number."""
        if numbers is None:
            yield from self._stream(f"{base} ORDER BY fact", self.bank_no, *before)
        else:
            for batch in batches(sorted(numbers)):
                if rows := sorted(self._where(base, "fact", batch, *before)):
                    yield rows


def pack_facts(rows: BankRows, numbers: Sequence[int]) -> list[PackedFact]:
    """Return facts as the index loads them, packed from their rows."""
    facts, terms, links = rows.facts_by_number(numbers), rows.terms(numbers), rows.earlier_links(numbers)
    return [
        PackedFact(
            no,
            fact.id,
            packing.pack_fact(fact, Features(terms=terms.get(no, {})), links.get(no, ())),
        )
        for no, fact in facts.items()
    ]
