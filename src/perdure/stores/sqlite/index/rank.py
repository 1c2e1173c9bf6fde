"""The best rows, ties broken by fact id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit
from perdure.stores.sqlite.index.snapshot import Snapshot

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


def best_rows(
    index: Snapshot, rows: Rows, scores: Scores, limit: int, min_score: float | None = None
) -> list[tuple[int, float]]:
    """(row, score) by falling score, ties by id."""
    if min_score is not None:
        kept = scores >= min_score
        rows, scores = rows[kept], scores[kept]
    if limit < 1 or len(rows) == 0:
        return []
    if len(rows) > limit:
        places = _highest(index, rows, scores, limit)
        rows, scores = rows[places], scores[places]
    high, low = index.id_keys[:, rows]
    order = np.lexsort((low, high, -scores))
    rows, scores, high, low = rows[order], scores[order], high[order], low[order]
    pairs = list(zip(rows.tolist(), scores.tolist(), strict=True))
    alike = (scores[1:] == scores[:-1]) & (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    if alike.any():
        pairs.sort(key=lambda pair: (-pair[1], index.ids[pair[0]]))
    return pairs


def best(
    index: Snapshot, rows: Rows, scores: Scores, limit: int, min_score: float | None = None
) -> list[Hit]:
    """The same as hits."""
    return [Hit(index.ids[row], score) for row, score in best_rows(index, rows, scores, limit, min_score)]


def _highest(index: Snapshot, rows: Rows, scores: Scores, limit: int) -> Rows:
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
