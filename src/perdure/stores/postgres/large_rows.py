"""Writes the search tables of a large bank: rows of `large_...` that follow from the rows of facts.

Everything runs in the transaction that changed the facts, under the lock of the bank, or in one of the job
that fills the tables; so a search sees the facts and what they are found by in one state. What the rows say
is what an index in memory would have loaded: they are made of the same packed facts.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perdure.stores.index.arrays import Array, Positions
from perdure.stores.index.feed import PackedFact
from perdure.stores.index.fuzzy import trigram_keys
from perdure.stores.index.packing import NEVER, UnpackedFacts, unpack_facts, unpack_tags
from perdure.stores.index.signature import SIGNATURE_BYTES
from perdure.stores.postgres.large_postings import PostingChanges
from perdure.stores.sql.columns import Values, strings

TABLES = ("large_fact", "large_member", "large_term", "large_word", "large_trigram", "large_posting")
"""Tables with rows of large banks, but for `large_bank` and `large_vector`."""
VECTORS = "large_vector"
"""The table of vectors; it is made with the first large bank, since it needs the extension `vector`."""
_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"
_COPIED = 64
"""Vectors from which on they are inserted by COPY."""
_COLUMNS = (
    "type", "tier", "classification", "unsure", "question", "recorded", "retired", "valid_from", "valid_to", "end_recorded", "expires",
    "first", "last", "dated", "document", "topic", "subject", "relation", "object", "speaker", "ordinal", "length",
)  # fmt: skip
"""Columns of `large_fact` that an unpacked fact has by the same names."""
_OPEN = f"retired = {NEVER} AND end_recorded = {NEVER}"


@dataclass(frozen=True, slots=True)
class LargeBank:
    """The row of a bank in `large_bank`."""

    filled: int
    ready: bool
    open_facts: int
    open_length: float


class Writer(Protocol):
    """What is needed of a transaction."""

    bank_no: int
    _by_copy: bool

    def _select(self, query: str, *parameters: object) -> list[Values]: ...
    def _execute(self, statement: str, *parameters: object) -> None: ...
    def _insert_rows(self, table: str, names_of_row: Sequence[str], rows: Sequence[Values]) -> None: ...
    def copy_bytes(self, statement: str, parts: Iterable[bytes]) -> None:
        """Run a COPY with these bytes."""


LARGE_BANK = "SELECT filled, ready, open_facts, open_length FROM large_bank WHERE bank = ?"


def read_large_bank(rows: Sequence[Values]) -> LargeBank | None:
    """Return the bank's row, None where it is searched in memory."""
    return LargeBank(rows[0][0], bool(rows[0][1]), rows[0][2], rows[0][3]) if rows else None


class LargeRows:
    """The search tables of one bank within one transaction."""

    def __init__(self, tx: Writer, state: LargeBank) -> None:
        self._tx = tx
        self._bank = tx.bank_no
        self._state = state
        self._open_facts, self._open_length = state.open_facts, state.open_length

    def put(self, facts: Sequence[PackedFact]) -> None:
        """Write the rows of facts, in the place of those that are there."""
        if not facts:
            return
        numbers = [fact.no for fact in facts]
        unpacked = unpack_facts([fact.body for fact in facts])
        query = "SELECT fact, words, signature FROM fact_features WHERE bank = ? AND fact = ANY(?::int8[])"
        rows = self._tx._select(query, self._bank, numbers)
        words = {no: strings(text) for no, text, _ in rows}
        signatures = {no: signature for no, _, signature in rows}
        changes, open_terms = PostingChanges(self._state.filled), Counter[int]()
        self._take_out(numbers, changes, open_terms)
        keys = self._add_postings(numbers, unpacked, words, changes)
        columns = unpacked.columns
        is_open = (columns["retired"] == NEVER) & (columns["end_recorded"] == NEVER)
        for own, counts, length in zip(keys, is_open.tolist(), columns["length"].tolist(), strict=True):
            if counts:
                self._open_facts += 1
                self._open_length += length
                open_terms.update(key for key in own if key >= 0)
        self._insert(
            "large_fact",
            ("no", "id", *_COLUMNS, "tags", "pairs", "keys", "signature"),
            _fact_rows(facts, unpacked, keys, [signatures.get(no, b"") for no in numbers]),
        )
        entities = _split(unpacked.entities.view(np.int64), unpacked.entity_counts)
        members = [
            (no, entity, 0) for no, own in zip(numbers, entities, strict=True) for entity in sorted(set(own))
        ]
        self._insert("large_member", ("fact", "entity", "degree"), members)
        distinct, places = np.unique(unpacked.terms, return_inverse=True)
        most = np.zeros(len(distinct))
        np.maximum.at(most, places, unpacked.frequencies)
        self._write_terms(open_terms, dict(zip(distinct.tolist(), most.tolist(), strict=True)))
        self._write_postings(changes)
        self._copy_vectors(numbers)
        self._write_state()

    def _add_postings(
        self,
        numbers: Sequence[int],
        unpacked: UnpackedFacts,
        words: Mapping[int, Sequence[str]],
        changes: PostingChanges,
    ) -> list[list[int]]:
        """Post the terms and words of facts; return the keys of each fact."""
        own_words = [sorted(set(words.get(no, ()))) for no in numbers]
        word_numbers = self._word_numbers(own_words)
        of_words = [[-word_numbers[word] for word in own] for own in own_words]
        facts, lengths = np.array(numbers, np.int64), unpacked.columns["length"]
        # Terms: one line per term and fact, as they were packed.
        changes.add(
            unpacked.terms.view(np.int64),
            np.repeat(facts, unpacked.term_counts),
            unpacked.frequencies.astype(np.float64),
            np.repeat(lengths, unpacked.term_counts),
        )
        # Words: one line per word and fact.
        counts = np.array([len(own) for own in of_words], np.int64)
        flat = np.array([key for own in of_words for key in own], np.int64)
        changes.add(flat, np.repeat(facts, counts), np.ones(len(flat)), np.repeat(lengths, counts))
        terms = _split(unpacked.terms.view(np.int64), unpacked.term_counts)
        return [[*own, *more] for own, more in zip(terms, of_words, strict=True)]

    def remove(self, numbers: Sequence[int]) -> None:
        """Take out facts that are deleted."""
        changes, open_terms = PostingChanges(self._state.filled), Counter[int]()
        self._take_out(numbers, changes, open_terms)
        self._write_terms(open_terms, {})
        self._write_postings(changes)
        self._write_state()

    def covers(self, no: int) -> bool:
        """Return whether a fact has rows here, or has them as soon as it is recorded."""
        return self._state.ready or no <= self._state.filled

    def set_degrees(self, numbers: Iterable[int]) -> None:
        """Count the entities and links of facts anew."""
        if some := sorted(set(numbers)):
            links = "SELECT count(*) FROM link WHERE link.bank = m.bank AND"
            self._tx._execute(
                "UPDATE large_member AS m SET degree = (SELECT count(*) FROM large_member AS own"
                " WHERE own.bank = m.bank AND own.fact = m.fact)"
                f" + ({links} link.source = m.fact) + ({links} link.target = m.fact)"
                " WHERE m.bank = ? AND m.fact = ANY(?::int8[])",
                self._bank,
                some,
            )

    def _take_out(self, numbers: Sequence[int], changes: PostingChanges, open_terms: Counter[int]) -> None:
        """Delete the rows of facts that are there, and what they count for."""
        if not any(no <= self._state.filled for no in numbers):
            return
        query = f"SELECT no, keys, {_OPEN}, length FROM large_fact WHERE bank = ? AND no = ANY(?::int8[])"
        rows = self._tx._select(query, self._bank, list(numbers))
        for no, keys, is_open, length in rows:
            for key in keys:
                changes.remove(key, no)
            if is_open:
                self._open_facts -= 1
                self._open_length -= length
                open_terms.subtract(key for key in keys if key >= 0)
        if stored := [no for no, *_ in rows]:
            for table, column in (("large_fact", "no"), ("large_member", "fact"), (VECTORS, "fact")):
                statement = f"DELETE FROM {table} WHERE bank = ? AND {column} = ANY(?::int8[])"
                self._tx._execute(statement, self._bank, stored)

    def _word_numbers(self, facts: Iterable[Sequence[str]]) -> dict[str, int]:
        """Return word -> number; write new words with their trigrams."""
        words = sorted({word for some in facts for word in some})
        if not words:
            return {}
        query = "SELECT word, no FROM large_word WHERE bank = ? AND word = ANY(?::text[])"
        numbers: dict[str, int] = dict(self._tx._select(query, self._bank, words))
        ((last,),) = self._tx._select(
            "SELECT coalesce(max(no), 0) FROM large_word WHERE bank = ?", self._bank
        )
        fresh = {word: last + at for at, word in enumerate((w for w in words if w not in numbers), 1)}
        trigrams = {word: trigram_keys(word) for word in fresh}
        self._insert(
            "large_word",
            ("no", "word", "trigrams"),
            [(no, word, len(trigrams[word])) for word, no in fresh.items()],
        )
        rows = [(trigram, no) for word, no in fresh.items() for trigram in trigrams[word]]
        self._insert("large_trigram", ("trigram", "word"), rows)
        return numbers | fresh

    def _write_terms(self, open_terms: Counter[int], highest: dict[int, float]) -> None:
        """Add to the counts of terms; those that no fact has any more go with their postings."""
        keys = sorted({key for key, count in open_terms.items() if count} | highest.keys())
        if keys:
            self._tx._execute(
                "INSERT INTO large_term (bank, key, open_facts, max_frequency)"
                " SELECT ?::int8, row.* FROM unnest(?::int8[], ?::int8[], ?::float8[]) AS row"
                " ON CONFLICT (bank, key) DO UPDATE SET open_facts = large_term.open_facts + excluded.open_facts,"
                " max_frequency = greatest(large_term.max_frequency, excluded.max_frequency)",
                self._bank,
                keys,
                [open_terms.get(key, 0) for key in keys],
                [highest.get(key, 0.0) for key in keys],
            )

    def _write_postings(self, changes: PostingChanges) -> None:
        blocks = changes.blocks(self._tx._select, self._bank)
        if blocks.deleted:
            self._tx._execute(
                "DELETE FROM large_posting AS p USING unnest(?::int8[], ?::int8[]) AS gone (key, block)"
                " WHERE p.bank = ? AND p.key = gone.key AND p.block = gone.block",
                [key for key, _ in blocks.deleted],
                [block for _, block in blocks.deleted],
                self._bank,
            )
        rows = [(key, block, body) for (key, block), body in blocks.written.items()]
        self._insert("large_posting", ("key", "block", "body"), rows)
        if blocks.emptied:
            self._drop_unused(blocks.emptied)

    def _drop_unused(self, keys: Sequence[int]) -> None:
        """Delete terms and words that no fact has any more."""
        gone = "NOT EXISTS (SELECT 1 FROM large_posting AS p WHERE p.bank = ? AND p.key = {})"
        terms, words = [key for key in keys if key >= 0], [-key for key in keys if key < 0]
        self._tx._execute(
            f"DELETE FROM large_term WHERE bank = ? AND key = ANY(?::int8[]) AND {gone.format('large_term.key')}",
            self._bank,
            terms,
            self._bank,
        )
        for table, column in (("large_trigram", "word"), ("large_word", "no")):
            self._tx._execute(
                f"DELETE FROM {table} WHERE bank = ? AND {column} = ANY(?::int8[])"
                f" AND {gone.format(f'-{table}.{column}')}",
                self._bank,
                words,
                self._bank,
            )

    def _copy_vectors(self, numbers: Sequence[int]) -> None:
        """Copy vectors from `vector` to `large_vector`: many by binary COPY in pgvector's own format."""
        query = "SELECT view, fact, value FROM vector WHERE bank = ? AND fact = ANY(?::int8[]) ORDER BY view, fact"
        rows = self._tx._select(query, self._bank, list(numbers))
        if len(rows) < _COPIED or not self._tx._by_copy:
            for view, fact, value in rows:
                halves = np.frombuffer(value, "<f2").astype(np.float32).tolist()
                self._tx._execute(
                    f"INSERT INTO {VECTORS} (bank, view, fact, value) VALUES (?, ?, ?, ?)",
                    self._bank,
                    view,
                    fact,
                    str(halves),
                )
            return
        statement = f"COPY {VECTORS} (bank, view, fact, value) FROM STDIN (FORMAT BINARY)"
        copied = (_copy_row(self._bank, view.encode(), fact, value) for view, fact, value in rows)
        self._tx.copy_bytes(statement, chain([_COPY_HEADER], copied, [_COPY_END]))

    def _write_state(self) -> None:
        self._tx._execute(
            "UPDATE large_bank SET open_facts = ?, open_length = ? WHERE bank = ?",
            self._open_facts,
            self._open_length,
            self._bank,
        )

    def _insert(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> None:
        if rows:
            self._tx._insert_rows(table, ("bank", *names), [(self._bank, *row) for row in rows])


def _split(values: NDArray[np.int64], counts: Positions) -> list[list[int]]:
    """Return a flat array as one list per fact."""
    ends = np.cumsum(counts).tolist()
    flat = values.tolist()
    return [flat[end - count : end] for end, count in zip(ends, counts.tolist(), strict=True)]


def _fact_rows(
    facts: Sequence[PackedFact],
    unpacked: UnpackedFacts,
    keys: Sequence[list[int]],
    signatures: Sequence[bytes],
) -> list[Values]:
    """Return rows of `large_fact`."""
    columns = [_as_stored(unpacked.columns[name]) for name in _COLUMNS]
    pairs = _split(unpacked.pairs.view(np.int64), unpacked.pair_counts)
    words = [
        np.frombuffer(signature, "<i8").tolist() if len(signature) == SIGNATURE_BYTES else []
        for signature in signatures
    ]
    tags = [sorted(unpack_tags(text)) for text in unpacked.tags]
    named = ((fact.no, fact.id) for fact in facts)
    lists = zip(tags, pairs, keys, words, strict=True)
    return [
        (*name, *own, *some) for name, own, some in zip(named, zip(*columns, strict=True), lists, strict=True)
    ]


def _as_stored(values: Array) -> list[object]:
    """Return a column's values as PostgreSQL holds them."""
    stored: list[object] = (values.view(np.int64) if values.dtype == np.uint64 else values).tolist()
    return stored


def _copy_row(bank: int, view: bytes, fact: int, value: bytes) -> bytes:
    """Return a row of `large_vector` for binary COPY: a halfvec is length, zero, and float16."""
    halves = np.frombuffer(value, "<f2").astype(">f2").tobytes()
    return b"".join(
        (
            struct.pack(">hiqi", 4, 8, bank, len(view)),
            view,
            struct.pack(">iqihh", 8, fact, 4 + len(halves), len(halves) // 2, 0),
            halves,
        )
    )
