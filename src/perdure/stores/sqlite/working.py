"""The facts that a transaction touches, changed in memory and written back once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from perdure.domain.fact import Fact
from perdure.ports.embedder import Vector
from perdure.ports.store import Features
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.fact_body import FACT_COLUMNS, decode_facts, encode_fact

AT_ONCE = 500
"""Values that go into one statement."""


class Change(IntEnum):
    """What an index must do about a fact that it may already hold."""

    COLUMNS = 0
    REPLACED = 1
    GONE = 2
    EDGES = 3


@dataclass(slots=True)
class Held:
    """A fact in the transaction; `features` is None when they are not to be written."""

    no: int
    fact: Fact
    features: Features | None = None
    new: bool = False
    changed: bool = False


def chunked(values: Iterable[str], size: int = AT_ONCE) -> Iterator[tuple[str, ...]]:
    """The distinct values in groups that fit into one statement."""
    distinct = tuple(dict.fromkeys(values))
    for start in range(0, len(distinct), size):
        yield distinct[start : start + size]


def marks(values: Sequence[object]) -> str:
    """One placeholder a value."""
    return ",".join("?" * len(values))


class WorkingSet:
    """Facts of one bank by id, read when first asked for."""

    def __init__(self, connection: sqlite3.Connection, bank_no: int, bank: str) -> None:
        self._db = connection
        self._bank_no = bank_no
        self._bank = bank
        self._held: dict[str, Held | None] = {}
        self.links: dict[int, bytes] = {}
        """Packed links of new facts, by number."""
        self.changes: dict[Change, set[int]] = {kind: set() for kind in Change}
        """Numbers of facts by what indexes were told of them."""
        self._last = _last_number(connection)
        self._next = self._last + 1

    def load(self, ids: Iterable[str]) -> None:
        """Read facts that will be needed, many at once."""
        for group in chunked(ident for ident in ids if ident not in self._held):
            self._held |= dict.fromkeys(group)
            query = f"SELECT {FACT_COLUMNS} FROM fact WHERE bank = ? AND id IN ({marks(group)})"
            found = decode_facts(self._bank, self._db.execute(query, (self._bank_no, *group)).fetchone())
            self._held |= {fact.id: Held(no, fact) for no, fact in found.items()}

    def load_where(self, condition: str, values: Sequence[object]) -> list[Held]:
        """The facts for which a condition on the fact table holds, as they are in this transaction."""
        rows = self._db.execute(
            f"SELECT id FROM fact WHERE bank = ? AND {condition} ORDER BY no", (self._bank_no, *values)
        )
        ids = [ident for (ident,) in rows]
        self.load(ids)
        return [held for ident in ids if (held := self._held[ident]) is not None]

    def get(self, ident: str) -> Held | None:
        """A fact of the bank."""
        if ident not in self._held:
            self.load([ident])
        return self._held[ident]

    def numbers(self, ids: Iterable[str]) -> dict[str, int]:
        """Numbers of those facts that are there."""
        wanted = set(ids)
        found = {ident: held.no for ident in wanted if (held := self._held.get(ident)) is not None}
        for group in chunked(sorted(wanted - self._held.keys())):
            query = f"SELECT id, no FROM fact WHERE bank = ? AND id IN ({marks(group)})"
            found |= dict(self._db.execute(query, (self._bank_no, *group)))
        return found

    def insert(self, fact: Fact, features: Features) -> None:
        """A fact to be written."""
        self._held[fact.id] = Held(self._next, fact, features, new=True)
        self._next += 1

    def put(self, fact: Fact) -> None:
        """Change a fact that is there."""
        held = self._held[fact.id]
        assert held is not None
        if held.fact != fact:
            held.fact, held.changed = fact, True

    def put_features(self, ident: str, features: Features) -> None:
        """Replace the features of a fact that is there."""
        held = self._held[ident]
        assert held is not None
        held.features, held.changed = features, True

    def drop(self, ident: str) -> None:
        """Leave a fact out of what is written back."""
        self._held[ident] = None

    def is_new(self, no: int) -> bool:
        """Whether the transaction inserted the fact of that number."""
        return no > self._last

    def flush(self) -> None:
        """Write everything."""
        held = [one for one in self._held.values() if one is not None]
        new = [one for one in held if one.new]
        replaced = [one for one in held if not one.new and one.changed and one.features is not None]
        changed = [one for one in held if not one.new and one.changed and one.features is None]
        self._rewrite(changed)
        self._delete_details(replaced)
        self._write_facts(new, replaced)
        self._write_features([*new, *replaced])
        self.log((one.no, Change.REPLACED) for one in replaced)

    def log(self, changes: Iterable[tuple[int, Change]]) -> None:
        """Tell indexes what changed."""
        told = list(changes)
        for no, kind in told:
            self.changes[kind].add(no)
        self._db.executemany(
            "INSERT INTO change (bank, fact, kind) VALUES (?, ?, ?)",
            [(self._bank_no, no, int(kind)) for no, kind in told],
        )

    def _write_facts(self, new: list[Held], replaced: list[Held]) -> None:
        self._db.executemany(
            "INSERT INTO fact (bank, id, document_id, chunk_id, open_key, text, body, no, recalls, recall_times)"
            " VALUES (?,?,?,?,?,?,?,?,?,?)",
            [(*self._fact_row(one), *_recall_row(one.fact)) for one in new],
        )
        self._db.executemany(
            "UPDATE fact SET bank=?, id=?, document_id=?, chunk_id=?, open_key=?, text=?, body=? WHERE no=?",
            [self._fact_row(one) for one in replaced],
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO derived (bank, source_id, fact) VALUES (?,?,?)",
            [
                (self._bank_no, source, one.no)
                for one in (*new, *replaced)
                for source in one.fact.source_fact_ids
            ],
        )

    def _fact_row(self, one: Held) -> tuple[object, ...]:
        fact = one.fact
        key = one.features.dedupe_key if one.features is not None else ""
        open_key = key if key and fact.retired_at is None else None
        body = encode_fact(fact)
        return (self._bank_no, fact.id, fact.document_id, fact.chunk_id, open_key, fact.text, body, one.no)

    def _rewrite(self, changed: list[Held]) -> None:
        """Fields changed, features did not; the index only reloads rows whose memberships differ."""
        for one in changed:
            fact = one.fact
            terms, entities, metadata, tags, columns = self._db.execute(
                "SELECT terms, entities, metadata, tags, columns FROM feature WHERE bank = ? AND fact = ?",
                (self._bank_no, one.no),
            ).fetchone()
            length = float(np.frombuffer(columns, codec.COLUMNS)["length"][0])
            packed = codec.columns_of(fact, length, len(terms) // codec.TERM.itemsize)
            lists = (codec.entity_hashes(fact), codec.metadata_hashes(fact), codec.tags_text(fact))
            self._db.execute(
                "UPDATE feature SET columns=?, entities=?, metadata=?, tags=? WHERE bank=? AND fact=?",
                (packed, *lists, self._bank_no, one.no),
            )
            self._db.execute(
                "UPDATE fact SET document_id=?, chunk_id=?, text=?, body=?, open_key="
                "(SELECT CASE WHEN ? OR dedupe_key = '' THEN NULL ELSE dedupe_key END FROM detail WHERE fact=?)"
                " WHERE no=?",
                (
                    fact.document_id,
                    fact.chunk_id,
                    fact.text,
                    encode_fact(fact),
                    fact.retired_at is not None,
                    one.no,
                    one.no,
                ),
            )
            self._db.execute("DELETE FROM derived WHERE fact = ?", (one.no,))
            self._db.executemany(
                "INSERT OR IGNORE INTO derived (bank, source_id, fact) VALUES (?,?,?)",
                [(self._bank_no, source, one.no) for source in fact.source_fact_ids],
            )
            same = lists == (entities, metadata, tags)
            self.log([(one.no, Change.COLUMNS if same else Change.REPLACED)])

    def _delete_details(self, replaced: list[Held]) -> None:
        for one in replaced:
            self._db.execute("DELETE FROM detail WHERE fact = ?", (one.no,))
            self._db.execute("DELETE FROM derived WHERE fact = ?", (one.no,))
        delete_vectors(self._db, self._bank_no, [one.no for one in replaced])

    def _write_features(self, written: list[Held]) -> None:
        inserts, updates, detail_rows = [], [], []
        views: dict[str, tuple[list[int], list[Vector]]] = {}
        for one in written:
            fact, features = one.fact, one.features
            assert features is not None
            terms = codec.pack_terms(features.terms)
            length = float(sum(features.terms.values()))
            columns = (
                codec.columns_of(fact, length, len(terms) // codec.TERM.itemsize),
                terms,
                codec.entity_hashes(fact),
                codec.metadata_hashes(fact),
                codec.tags_text(fact),
                features.signature,
            )
            if one.new:
                inserts.append((self._bank_no, one.no, fact.id, *columns, self.links.get(one.no, b"")))
            else:
                updates.append((*columns, self._bank_no, one.no))
            detail_rows.append(
                (
                    one.no,
                    features.dedupe_key,
                    codec.compact(dict(features.terms)),
                    codec.compact(list(features.words)),
                    features.passage,
                    features.tokens,
                )
            )
            for view, vector in features.vectors.items():
                numbers, vectors = views.setdefault(view, ([], []))
                numbers.append(one.no)
                vectors.append(vector)
        self._db.executemany("INSERT INTO feature VALUES (?,?,?,?,?,?,?,?,?,?)", inserts)
        self._db.executemany(
            "UPDATE feature SET columns=?, terms=?, entities=?, metadata=?, tags=?, signature=?"
            " WHERE bank=? AND fact=?",
            updates,
        )
        self._db.executemany("INSERT INTO detail VALUES (?,?,?,?,?,?)", detail_rows)
        for view, (numbers, vectors) in views.items():
            write_vectors(self._db, self._bank_no, view, numbers, vectors)


def write_vectors(
    connection: sqlite3.Connection, bank_no: int, view: str, numbers: list[int], vectors: list[Vector]
) -> None:
    """Insert a view's vectors of some facts."""
    connection.executemany(
        "INSERT INTO vector_original VALUES (?,?,?,?)",
        [
            (bank_no, view, no, value)
            for no, value in zip(numbers, codec.encode_originals(vectors), strict=True)
        ],
    )


def views_of(connection: sqlite3.Connection, bank_no: int) -> list[str]:
    """The names of a bank's vector views, each found by one step into the key."""
    views: list[str] = []
    while True:
        after = views[-1] if views else ""
        (view,) = connection.execute(
            "SELECT min(view) FROM vector_original WHERE bank = ? AND view > ?", (bank_no, after)
        ).fetchone()
        if view is None:
            return views
        views.append(view)


def delete_vectors(connection: sqlite3.Connection, bank_no: int, numbers: Sequence[int]) -> None:
    """Remove all vectors of some facts, those of another model that are kept aside too."""
    if not numbers:
        return
    staged = connection.execute(
        "SELECT DISTINCT model, dimensions FROM staged WHERE bank = ?", (bank_no,)
    ).fetchall()
    for model, dimensions in staged:
        connection.executemany(
            "DELETE FROM staged WHERE bank = ? AND model = ? AND dimensions = ? AND fact = ?",
            [(bank_no, model, dimensions, no) for no in numbers],
        )
    for view in views_of(connection, bank_no):
        rows = [(bank_no, view, no) for no in numbers]
        connection.executemany("DELETE FROM vector_original WHERE bank = ? AND view = ? AND fact = ?", rows)


def _recall_row(fact: Fact) -> tuple[int, str | None]:
    times = [time.isoformat() for time in fact.recall_times]
    return fact.recall_count, codec.compact(times) if times else None


def _last_number(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'fact'").fetchone()
    return int(row[0]) if row else 0


def proven(fact: Fact) -> Fact:
    """The fact seen once more."""
    return replace(fact, proof_count=fact.proof_count + 1)
