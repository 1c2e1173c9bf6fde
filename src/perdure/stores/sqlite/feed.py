"""What a bank's index reads from the file, and the cache of packed facts that makes it quick."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from perdure.ports.embedder import Matrix
from perdure.ports.store import Features
from perdure.stores.index import packing
from perdure.stores.index.feed import BankState, Change, FactNos, PackedFact
from perdure.stores.sqlite.columns import Values, batches, from_float16, strings
from perdure.stores.sqlite.queries import BankRows

PACKED_FORMAT = bytes([packing.VERSION])
"""The first byte of a packed fact."""
_BLOCK = 512
"""Rows fetched at once: larger blocks start Python's garbage collector again and again."""


def read_state(db: sqlite3.Connection, bank_id: str) -> BankState | None:
    """The state of a bank in the file, None when there is no such bank."""
    row = db.execute(
        "SELECT no, version, vectors_version, changes_dropped, model, dimensions FROM bank WHERE id = ?",
        (bank_id,),
    ).fetchone()
    return None if row is None else BankState(*row)


class ConnectionRows(BankRows):
    """Rows of a bank as one connection sees them."""

    def __init__(self, db: sqlite3.Connection, bank_id: str, bank_no: int) -> None:
        super().__init__(bank_id, bank_no)
        self._db = db

    def _select(self, query: str, *parameters: object) -> list[Values]:
        return self._db.execute(query, parameters).fetchall()

    def cached_facts(self, numbers: Sequence[int]) -> dict[int, PackedFact]:
        """The rows of the index cache, sound or not."""
        query = "SELECT fact, id, body FROM index_cache WHERE bank = ?"
        return {fact.no: fact for fact in map(PackedFact._make, self._where(query, "fact", numbers))}


class SqliteFeed(ConnectionRows):
    """The Feed protocol; the connection is in a transaction."""

    def __init__(self, db: sqlite3.Connection, bank_id: str) -> None:
        self._state = read_state(db, bank_id)
        super().__init__(db, bank_id, self._state.key if self._state else 0)

    def state(self) -> BankState | None:
        return self._state

    def facts_after(self, no: int) -> Iterator[Sequence[PackedFact]]:
        query = "SELECT no FROM fact WHERE bank = ? AND no > ? ORDER BY no"
        return self._packed([number for (number,) in self._of_bank(query, no)])

    def facts_of(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        return self._packed(sorted(numbers))

    def _packed(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        """Cached facts; those that the cache lacks, or has damaged or in another format, are packed from their rows."""
        for block in batches(numbers):
            cached = self.cached_facts(block).values()
            packed = {fact.no: fact for fact in cached if packing.is_sound(fact.id, fact.body)}
            if len(packed) < len(block):
                missing = [no for no in block if no not in packed]
                packed |= {fact.no: fact for fact in pack_facts(self, missing)}
            yield [packed[no] for no in block if no in packed]

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
        """Rows of all facts or of these, by rising number."""
        if numbers is None:
            cursor = self._db.execute(f"{base} ORDER BY fact", (self.bank_no, *before))
            while rows := cursor.fetchmany(_BLOCK):
                yield rows
        else:
            for batch in batches(sorted(numbers)):
                if rows := sorted(self._where(base, "fact", batch, *before)):
                    yield rows


def pack_facts(rows: BankRows, numbers: Sequence[int]) -> list[PackedFact]:
    """Facts as the index loads them, packed from their rows; the one meaning of a row of `index_cache`."""
    facts, terms, links = rows.facts_by_number(numbers), rows.terms(numbers), rows.earlier_links(numbers)
    return [
        PackedFact(
            no,
            fact.id,
            packing.pack_fact(fact, Features(terms=terms.get(no, {})), links.get(no, ())),
        )
        for no, fact in facts.items()
    ]


def write_cache(db: sqlite3.Connection, bank_no: int, packed: Sequence[PackedFact]) -> None:
    """Keep packed facts for the indexes to come."""
    db.executemany(
        "INSERT OR REPLACE INTO index_cache (bank, fact, id, body) VALUES (?,?,?,?)",
        [(bank_no, fact.no, fact.id, fact.body) for fact in packed],
    )


def fill_cache(db: sqlite3.Connection) -> None:
    """Pack all facts of all banks; the caller holds a transaction."""
    for bank_no, bank_id in db.execute("SELECT no, id FROM bank").fetchall():
        rows = ConnectionRows(db, bank_id, bank_no)
        numbers = [no for (no,) in db.execute("SELECT no FROM fact WHERE bank = ? ORDER BY no", (bank_no,))]
        for block in batches(numbers):
            write_cache(db, bank_no, pack_facts(rows, block))
