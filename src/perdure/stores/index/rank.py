"""The best rows, ties broken by fact id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perdure.ports.hits import Hits
from perdure.stores.index.snapshot import Snapshot

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]

_FEW = 2
"""So many times as many as are wanted are sorted as they are."""
_DRAWN = 64
"""One of so many scores is drawn to guess where the best begin."""


def ranked(
    index: Snapshot,
    rows: Rows,
    scores: Scores,
    limit: int,
    min_score: float | None = None,
    digits: int | None = None,
) -> tuple[Rows, Scores]:
    """The best rows and their scores, rounded to some digits, by falling score, ties by id."""
    if digits is not None:
        if len(rows) > _FEW * limit > 0:
            # Who is more than the last digit below `limit` others stays behind them when all are rounded.
            border = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            near = np.flatnonzero(scores >= border - 10.0**-digits)
            rows, scores = rows.take(near), scores.take(near)
        scores = np.round(scores, digits)
    if min_score is not None:
        kept = scores >= min_score
        rows, scores = rows[kept], scores[kept]
    if limit < 1 or len(rows) == 0:
        return np.empty(0, np.int64), np.empty(0)
    if len(rows) > _FEW * limit:
        places = highest(index, rows, scores, limit)
        rows, scores = rows.take(places), scores.take(places)
    order = in_order(index, rows, scores)[:limit]
    return rows.take(order), scores.take(order)


def contenders(scores: Scores, limit: int, digits: int) -> Rows | None:
    """Few places with the `limit` highest of many scores, also when rounded; None when most have to be looked at.

    A sample tells a border above which there are likely enough; below it none can be among them if there are.
    """
    drawn = 2 * limit // _DRAWN + 8
    if limit < 1 or len(scores) < 2 * drawn * _DRAWN:
        return None
    sample = np.partition(scores[::_DRAWN], -drawn)
    border = float(sample[-drawn])
    if border <= 0:
        return None
    found = np.flatnonzero(scores >= border - 10.0**-digits)
    return found if np.count_nonzero(scores.take(found) >= border) >= limit else None


def in_order(index: Snapshot, rows: Rows, scores: Scores, group: Rows | None = None) -> Rows:
    """What puts rows in order: by rising group, then by falling score, ties by id.

    Of the ids so much is compared as tells them apart: eight bytes, then sixteen, then the whole.
    """
    before = [-scores] if group is None else [-scores, group]
    beginnings: list[NDArray[np.uint64]] = []
    for keys in index.id_keys:
        beginnings.insert(0, keys.take(rows))
        order = np.lexsort((*beginnings, *before))
        alike = np.ones(max(len(rows) - 1, 0), np.bool_)
        for column in (*beginnings, *before):
            ordered = column.take(order)
            alike &= ordered[1:] == ordered[:-1]
        if not alike.any():
            return order
    columns = [column.tolist() for column in reversed(before)]
    ids = [index.ids[row] for row in rows.tolist()]
    whole = sorted(zip(*columns, ids, range(len(ids)), strict=True))
    return np.array([place for *_, place in whole], np.int64)


def best(
    index: Snapshot,
    rows: Rows,
    scores: Scores,
    limit: int,
    min_score: float | None = None,
    digits: int | None = None,
) -> Hits:
    """The same as hits."""
    return as_hits(index, *ranked(index, rows, scores, limit, min_score, digits))


def as_hits(index: Snapshot, rows: Rows, scores: Scores) -> Hits:
    """Hits in the order given."""
    return Hits(index.ids, rows, scores)


def highest(index: Snapshot, rows: Rows, scores: Scores, limit: int) -> Rows:
    """Places of the highest scores, in no order; of those that tie at the border the first by id."""
    border = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above = np.flatnonzero(scores > border)
    tied = np.flatnonzero(scores == border)
    room = limit - len(above)
    if len(tied) > room:
        tied = _first_by_id(index, rows, tied, room)
    return np.concatenate([above, tied])


def _first_by_id(index: Snapshot, rows: Rows, places: Rows, count: int) -> Rows:
    """The places of the `count` first ids; whole ids are compared only where their beginnings are equal."""
    chosen = []
    for keys in index.id_keys:
        held = keys[rows[places]]
        border = np.partition(held, count - 1)[count - 1]
        before = places[held < border]
        chosen.append(before)
        places = places[held == border]
        count -= len(before)
        if len(places) == count:
            return np.concatenate([*chosen, places])
    by_id = sorted(places.tolist(), key=lambda place: index.ids[int(rows[place])])[:count]
    return np.concatenate([*chosen, np.array(by_id, np.int64)])


def id_keys(ids: Sequence[str]) -> NDArray[np.uint64]:
    """The first and the second eight bytes of each id as numbers that sort as the ids do."""
    if "".join(ids).isascii():
        packed = np.array(ids, "S16").tobytes()
    else:
        packed = b"".join(ident.encode()[:16].ljust(16, b"\0") for ident in ids)
    return np.frombuffer(packed, ">u8").reshape(-1, 2).T.astype(np.uint64)
