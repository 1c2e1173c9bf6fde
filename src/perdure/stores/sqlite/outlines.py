"""Outlines of facts from the index's columns; the file is read only for names that were never met."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import repeat

import numpy as np

from perdure.domain.fact import FactType
from perdure.domain.outline import Outline
from perdure.domain.revise import made
from perdure.stores.sqlite import catalog
from perdure.stores.sqlite.codec import EPOCH, NEVER, TYPES, digest, name_hash
from perdure.stores.sqlite.index.snapshot import Rows, Snapshot

_REMEMBERED = 50_000
_TYPE_OF = tuple(TYPES)


class Names:
    """Ids of documents and names of speakers by their hashes in an index: what a hash stands for never changes."""

    def __init__(self) -> None:
        self.documents: dict[int, str | None] = {0: None}
        self.speakers: dict[int, str] = {}

    def learn_documents(self, ids: Iterable[str]) -> None:
        """Take in ids of documents."""
        if len(self.documents) > _REMEMBERED:
            self.documents = {0: None}
        self.documents |= {digest(ident): ident for ident in ids}

    def learn_speakers(self, names: Iterable[str]) -> None:
        """Take in names of speakers."""
        if len(self.speakers) > _REMEMBERED:
            self.speakers = {}
        self.speakers |= {name_hash(name): name for name in names}


class _Moments(dict[int, datetime | None]):
    """Microseconds since 1970 -> time; the last ones met are kept."""

    def __missing__(self, micros: int) -> datetime | None:
        if len(self) > _REMEMBERED:
            self.clear()
        moment = self[micros] = None if micros == NEVER else EPOCH + timedelta(microseconds=micros)
        return moment


_MOMENTS = _Moments()


def outlines(
    db: sqlite3.Connection, bank: str, index: Snapshot, names: Names, ids: Sequence[str]
) -> dict[str, Outline]:
    """The outlines of facts that are there, in the order of the ids."""
    rows = index.rows_of(ids)
    there = rows >= 0
    there &= index.alive.take(rows, mode="clip")
    if not there.all():
        ids = [ident for ident, held in zip(ids, there.tolist(), strict=True) if held]
        rows = rows[there]
    documents: list[int] = index.columns["document"].take(rows).tolist()
    speakers: list[int] = index.columns["speaker"].take(rows).tolist()
    if strange := _strange(names.documents, documents):
        names.learn_documents(catalog.document_ids(db, _numbers(index, rows, strange)))
    if strange := _strange(names.speakers, speakers):
        facts = catalog.facts_by_number(db, bank, _numbers(index, rows, strange))
        names.learn_speakers(fact.speaker for fact in facts)
    made_of = made(
        Outline,
        type=map(_TYPE_OF.__getitem__, index.columns["type"].take(rows).tolist()),
        document_id=map(names.documents.get, documents),
        speaker=map(names.speakers.get, speakers, repeat("")),
        event_date=map(_MOMENTS.__getitem__, _event_dates(index, rows).tolist()),
        proof_count=_proofs(db, bank, index, rows),
    )
    return dict(zip(ids, made_of, strict=True))


def _numbers(index: Snapshot, rows: Rows, places: Sequence[int]) -> list[int]:
    numbers: list[int] = index.numbers.take(rows.take(places)).tolist()
    return numbers


def _strange(known: Container[int], hashes: Sequence[int]) -> list[int]:
    """Where hashes stand whose names are not known, one place for each."""
    if all(map(known.__contains__, hashes)):
        return []
    places = {held: place for place, held in enumerate(hashes)}
    return [place for held, place in places.items() if held not in known]


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
