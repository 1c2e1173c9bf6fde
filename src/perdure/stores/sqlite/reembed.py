"""Changing a bank over to another embedding model while it is in use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from perdure.domain.bank import EmbeddingModel
from perdure.ports.embedder import Vector
from perdure.stores.sqlite import codec
from perdure.stores.sqlite.segments import repack, touch
from perdure.stores.sqlite.working import chunked, marks, views_of, write_vectors
from perdure.stores.sqlite.writer import check_dimensions

Staged = tuple[str, Mapping[str, Vector], bytes]
_AT_ONCE = 256


def groups(vectors: Iterable[Staged]) -> Iterator[list[Staged]]:
    """Groups of vectors that are written together; none is held back while the lock is."""
    rest = iter(vectors)
    while group := list(islice(rest, _AT_ONCE)):
        yield group


def stage(db: sqlite3.Connection, bank_no: int, model: EmbeddingModel, group: list[Staged]) -> None:
    """Keep vectors of another model aside."""
    for _, views, _ in group:
        check_dimensions(list(views.values()), model)
    numbers: dict[str, int] = {}
    for ids in chunked(ident for ident, _, _ in group):
        query = f"SELECT id, no FROM fact WHERE bank = ? AND id IN ({marks(ids)})"
        numbers |= dict(db.execute(query, (bank_no, *ids)))
    db.executemany(
        "INSERT OR REPLACE INTO staged VALUES (?,?,?,?,?,?)",
        [
            (bank_no, model.name, model.dimensions, numbers[ident], codec.pack_views(views), tokens)
            for ident, views, tokens in group
            if ident in numbers
        ],
    )


def lacking(db: sqlite3.Connection, bank_no: int, model: EmbeddingModel) -> list[str]:
    """Ids of facts for which no vectors are staged."""
    rows = db.execute(
        "SELECT id FROM fact WHERE bank = ?1 AND no NOT IN"
        " (SELECT fact FROM staged WHERE bank = ?1 AND model = ?2 AND dimensions = ?3) ORDER BY id",
        (bank_no, model.name, model.dimensions),
    )
    return [ident for (ident,) in rows]


def switch(db: sqlite3.Connection, bank_no: int, model: EmbeddingModel) -> None:
    """Make the staged vectors the bank's own."""
    key = (bank_no, model.name, model.dimensions)
    for view in views_of(db, bank_no):
        db.execute("DELETE FROM vector_original WHERE bank = ? AND view = ?", (bank_no, view))
    rows = db.execute("SELECT fact, views, tokens FROM staged WHERE bank=? AND model=? AND dimensions=?", key)
    while group := rows.fetchmany(_AT_ONCE):
        by_view: dict[str, tuple[list[int], list[Vector]]] = {}
        for no, packed, _ in group:
            for view, vector in codec.unpack_views(packed).items():
                numbers, vectors = by_view.setdefault(view, ([], []))
                numbers.append(no)
                vectors.append(vector)
        for view, (numbers, vectors) in by_view.items():
            write_vectors(db, bank_no, view, numbers, vectors)
        db.executemany(
            "UPDATE detail SET tokens = ? WHERE fact = ?", [(tokens, no) for no, _, tokens in group]
        )
    db.execute("DELETE FROM staged WHERE bank = ? AND model = ? AND dimensions = ?", key)
    db.execute(
        "UPDATE bank SET model = ?, dimensions = ?, vectors_since = version + 1 WHERE no = ?",
        (model.name, model.dimensions, bank_no),
    )
    repack(db, bank_no)
    touch(db, bank_no)
