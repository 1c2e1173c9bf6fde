"""Outlines of facts from the index's columns; the file is read only for names that were never met."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import repeat
from types import MappingProxyType

import numpy as np

from perdure.domain.fact import FactType
from perdure.domain.ranking import RankingFields
from perdure.domain.revise import made
from perdure.stores.index.snapshot import Rows, Snapshot
from perdure.stores.sqlite import queries as catalog
from perdure.stores.sqlite.codec import EPOCH, NEVER, TYPES, digest, name_hash

_REMEMBERED = 50_000
_TYPE_OF = tuple(TYPES)


class Names:
    """Names by their hashes in an index. What a hash stands for never changes: so each is read once and remembered."""

    def __init__(
        self, hashed: Callable[[str], int], *, none: Mapping[int, None] = MappingProxyType({})
    ) -> None:
        self._hashed, self._none = hashed, none
        self._known: dict[int, str | None] = {**none}

    def tell(
        self, hashes: Sequence[int], read: Callable[[list[int]], Iterable[str]]
    ) -> Mapping[int, str | None]:
        """Hash -> name; `read` gets a place of each hash that was never met, and finds names that stand there.

        What was told stays as it is: names are only added to it, and forgotten by taking up a new one.
        """
        known = self._known
        if all(map(known.__contains__, hashes)):
            return known
        places = {held: place for place, held in enumerate(hashes)}
        met = {held: known[held] for held in places if held in known}
        read_now = read([place for held, place in places.items() if held not in met])
        fresh = {self._hashed(name): name for name in read_now}
        if len(known) + len(fresh) > _REMEMBERED:
            self._known = {**self._none, **met, **fresh}
        else:
            known |= fresh
        return {**met, **fresh}


class KnownNames:
    """The names that outlines tell."""

    def __init__(self) -> None:
        self.documents = Names(digest, none={0: None})
        self.speakers = Names(name_hash)


class _Moments(dict[int, datetime | None]):
    """Microseconds since 1970 -> time; the last ones met are kept."""

    def __missing__(self, micros: int) -> datetime | None:
        if len(self) > _REMEMBERED:
            self.clear()
        moment = self[micros] = None if micros == NEVER else EPOCH + timedelta(microseconds=micros)
        return moment


_MOMENTS = _Moments()


def outlines(
    db: sqlite3.Connection, bank: str, index: Snapshot, names: KnownNames, ids: Sequence[str]
) -> dict[str, RankingFields]:
    """The outlines of facts that are there, in the order of the ids."""
    rows = index.rows_of(ids)
    there = rows >= 0
    there &= index.alive.take(rows, mode="clip")
    if not there.all():
        ids = [ident for ident, held in zip(ids, there.tolist(), strict=True) if held]
        rows = rows[there]
    documents: list[int] = index.columns["document"].take(rows).tolist()
    speakers: list[int] = index.columns["speaker"].take(rows).tolist()
    document_of = names.documents.tell(
        documents, lambda places: catalog.document_ids(db, _numbers(index, rows, places))
    )
    speaker_of = names.speakers.tell(
        speakers,
        lambda places: [
            fact.speaker for fact in catalog.facts_by_number(db, bank, _numbers(index, rows, places))
        ],
    )
    made_of = made(
        RankingFields,
        type=map(_TYPE_OF.__getitem__, index.columns["type"].take(rows).tolist()),
        document_id=map(document_of.get, documents),
        speaker=map(speaker_of.get, speakers, repeat("")),
        event_date=map(_MOMENTS.__getitem__, _event_dates(index, rows).tolist()),
        proof_count=_proofs(db, bank, index, rows),
    )
    return dict(zip(ids, made_of, strict=True))


def _numbers(index: Snapshot, rows: Rows, places: Sequence[int]) -> list[int]:
    numbers: list[int] = index.numbers.take(rows.take(places)).tolist()
    return numbers


def _event_dates(index: Snapshot, rows: Rows) -> Rows:
    """The middle of when facts happened (or when they were said), rounded as datetimes are; NEVER where undated."""
    first = index.columns["first"].take(rows)
    span = index.columns["last"].take(rows) - first
    half = span >> 1
    return np.where(first == NEVER, NEVER, first + half + (span & half & 1))


def _proofs(db: sqlite3.Connection, bank: str, index: Snapshot, rows: Rows) -> Iterable[int]:
    """How often observations were proved, which the index does not hold; 1 for other facts."""
    observed = np.flatnonzero(index.columns["type"].take(rows) == TYPES[FactType.OBSERVATION])
    if len(observed) == 0:
        return repeat(1)
    counts = [1] * len(rows)
    place_of = {
        index.ids[row]: place
        for place, row in zip(observed.tolist(), rows.take(observed).tolist(), strict=True)
    }
    for fact in catalog.facts_by_number(db, bank, _numbers(index, rows, observed.tolist())):
        counts[place_of[fact.id]] = fact.proof_count
    return counts
