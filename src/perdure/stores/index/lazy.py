"""Parts of an index that are loaded when first asked for: vector views, vocabulary, signatures."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from perdure.errors import StoreCorrupt
from perdure.stores.index.growing import GrowingRows
from perdure.stores.index.packed import FACTS, unpack_codes, view_part
from perdure.stores.index.rows import BLOCK
from perdure.stores.index.vectors import EXACT_UP_TO, CodedBuilder, ExactBuilder, VectorView
from perdure.stores.index.vocabulary import Vocabulary, VocabularyBuilder
from perdure.stores.sqlite import codec

SIGNATURE_BYTES = 32
Numbers = NDArray[np.int64]
RowOfNumber = tuple[Numbers, Numbers]
"""Numbers of facts in rising order, and their rows."""


class LazyParts:
    """What was asked for so far, grown along with the index."""

    def __init__(self) -> None:
        self.bank_no = 0
        self.size = 0
        """Rows of the index, those of erased facts included."""
        self._views: dict[str, ExactBuilder | CodedBuilder | None] = {}
        self._vocabulary: VocabularyBuilder | None = None
        self._signatures: GrowingRows | None = None

    @property
    def nbytes(self) -> int:
        """Memory held."""
        held = [builder.nbytes for builder in self._views.values() if builder is not None]
        held += [part.nbytes for part in (self._vocabulary, self._signatures) if part is not None]
        return sum(held)

    def views(self) -> dict[str, VectorView]:
        """The views loaded so far; one without vectors is empty."""
        nothing = VectorView(rows=np.empty(0, np.int64), exact=np.empty((0, 0), np.float32))
        return {name: builder.view() if builder else nothing for name, builder in self._views.items()}

    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary when loaded."""
        return self._vocabulary.state() if self._vocabulary else None

    def signatures(self) -> NDArray[np.uint8] | None:
        """A flag and the signature for each row, when loaded."""
        return self._signatures.view if self._signatures else None

    def drop_vectors(self) -> None:
        """Forget views that another model replaced."""
        self._views.clear()

    def append(self, db: sqlite3.Connection, numbers: Numbers, rows: Numbers) -> None:
        """Extend what is loaded by facts that the index took in."""
        self.size += len(rows)
        order = np.argsort(numbers, kind="stable")
        lookup = (numbers[order], rows[order])
        condition = _condition(numbers)
        for view, builder in list(self._views.items()):
            if builder is None or (
                isinstance(builder, ExactBuilder) and builder.size + len(rows) > EXACT_UP_TO
            ):
                del self._views[view]
            else:
                self._extend_view(db, view, builder, condition, lookup)
        if self._vocabulary is not None:
            self._extend_vocabulary(db, self._vocabulary, condition, lookup)
        if self._signatures is not None:
            self._signatures.append(_signatures(db, self.bank_no, condition, lookup, int(rows[0]), len(rows)))

    def load_view(self, db: sqlite3.Connection, view: str, lookup: RowOfNumber) -> None:
        """Read a view that is not there yet."""
        if view in self._views:
            return
        key = (self.bank_no, view)
        (count,) = db.execute(
            "SELECT count(*) FROM (SELECT 1 FROM vector_original WHERE bank = ? AND view = ? LIMIT ?)",
            (*key, EXACT_UP_TO + 1),
        ).fetchone()
        builder: ExactBuilder | CodedBuilder | None = None
        if count:
            (value,) = db.execute(
                "SELECT value FROM vector_original WHERE bank = ? AND view = ? LIMIT 1", key
            ).fetchone()
            dimensions = len(value) // codec.ORIGINAL.itemsize
            if count <= EXACT_UP_TO:
                builder = ExactBuilder(dimensions, count)
                self._extend_view(db, view, builder, "true", lookup)
            else:
                builder = CodedBuilder(dimensions, len(lookup[0]))
                packed = self._load_packed(db, view, builder, lookup)
                self._extend_view(db, view, builder, f"fact > {packed}", lookup)
        self._views[view] = builder

    def _load_packed(
        self, db: sqlite3.Connection, view: str, builder: CodedBuilder, lookup: RowOfNumber
    ) -> int:
        """Add the vectors that are packed; returns the number of the last fact up to which all are."""
        (last,) = db.execute(
            "SELECT max(last) FROM segment WHERE bank = ? AND part = ?", (self.bank_no, FACTS)
        ).fetchone()
        bodies = db.execute(
            "SELECT body FROM segment WHERE bank = ? AND part = ? ORDER BY last",
            (self.bank_no, view_part(view)),
        )
        for (body,) in bodies:
            numbers, scales, codes = unpack_codes(body)
            rows = find_rows(numbers, lookup)
            known = slice(None) if rows.min(initial=0) >= 0 else rows >= 0
            try:
                builder.append(rows[known], scales[known], codes[known])
            except ValueError as error:
                raise StoreCorrupt(f"vectors of view {view!r} cannot be read: {error}") from error
        return int(last or 0)

    def load_vocabulary(self, db: sqlite3.Connection, lookup: RowOfNumber) -> None:
        """Read all words."""
        if self._vocabulary is None:
            self._vocabulary = VocabularyBuilder()
            self._extend_vocabulary(db, self._vocabulary, "true", lookup)

    def load_signatures(self, db: sqlite3.Connection, lookup: RowOfNumber) -> None:
        """Read all signatures."""
        if self._signatures is None:
            held = _signatures(db, self.bank_no, "true", lookup, 0, self.size)
            self._signatures = GrowingRows(held, self.size)

    def _extend_view(
        self,
        db: sqlite3.Connection,
        view: str,
        builder: ExactBuilder | CodedBuilder,
        condition: str,
        lookup: RowOfNumber,
    ) -> None:
        """Add the vectors of the facts in the lookup, a block at a time."""
        cursor = db.execute(
            f"SELECT fact, value FROM vector_original WHERE bank = ? AND view = ? AND {condition} ORDER BY fact",
            (self.bank_no, view),
        )
        while found := cursor.fetchmany(BLOCK):
            numbers, values = zip(*found, strict=True)
            rows = find_rows(np.array(numbers, np.int64), lookup)
            known = slice(None) if rows.min() >= 0 else rows >= 0
            try:
                matrix = codec.decode_originals(values)[known]
                if isinstance(builder, ExactBuilder):
                    builder.append(rows[known], matrix)
                else:
                    builder.append(rows[known], *codec.encode_vectors(matrix))
            except ValueError as error:
                raise StoreCorrupt(f"vectors of view {view!r} cannot be read: {error}") from error

    def _extend_vocabulary(
        self, db: sqlite3.Connection, vocabulary: VocabularyBuilder, condition: str, lookup: RowOfNumber
    ) -> None:
        held = f"SELECT fact FROM feature WHERE bank = ? AND {condition}"
        found = db.execute(
            f"SELECT fact, words FROM detail WHERE fact IN ({held})", (self.bank_no,)
        ).fetchall()
        rows = find_rows(np.array([no for no, _ in found], np.int64), lookup).tolist()
        known = [(row, json.loads(words)) for row, (_, words) in zip(rows, found, strict=True) if row >= 0]
        vocabulary.append([row for row, _ in known], [words for _, words in known])


def _signatures(
    db: sqlite3.Connection, bank_no: int, condition: str, lookup: RowOfNumber, first: int, count: int
) -> NDArray[np.uint8]:
    """Lines for `count` rows from `first` on: 1 and the signature, or zeros without one."""
    found = db.execute(
        f"SELECT fact, signature FROM feature WHERE bank = ? AND length(signature) = {SIGNATURE_BYTES}"
        f" AND {condition}",
        (bank_no,),
    ).fetchall()
    rows = find_rows(np.array([no for no, _ in found], np.int64), lookup)
    held = np.zeros((count, SIGNATURE_BYTES + 1), np.uint8)
    if found:
        values = np.frombuffer(b"".join(value for _, value in found), np.uint8).reshape(-1, SIGNATURE_BYTES)
        known = rows >= 0
        held[rows[known] - first, 0] = 1
        held[rows[known] - first, 1:] = values[known]
    return held


def find_rows(numbers: Numbers, lookup: RowOfNumber) -> Numbers:
    """Rows of facts by number, -1 where unknown."""
    held, rows = lookup
    if len(held) == 0:
        return np.full(len(numbers), -1, np.int64)
    places = np.minimum(np.searchsorted(held, numbers), len(held) - 1)
    return np.where(held[places] == numbers, rows[places], -1)


def _condition(numbers: Numbers) -> str:
    """Selects exactly these facts."""
    if len(numbers) <= 1000:
        return f"fact IN ({','.join(map(str, numbers.tolist()))})"
    return f"fact BETWEEN {numbers.min()} AND {numbers.max()}"
