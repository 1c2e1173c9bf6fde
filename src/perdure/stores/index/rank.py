"""The best rows, ties in recorded order."""

from __future__ import annotations

import numpy as np

from perdure.domain.recall import Hit
from perdure.stores.index.arrays import Rows, Scores
from perdure.stores.index.table import FactTable


def best(
    table: FactTable,
    rows: Rows,
    scores: Scores,
    limit: int,
    *,
    min_score: float | None = None,
    digits: int | None = None,
) -> tuple[Rows, Scores]:
    """At most `limit` rows and their scores, by falling score, ties by fact number.

    Scores that were added up are rounded to some digits, so that the order of addition does not decide ties.
    """
    if digits is not None:
        scores = np.round(scores, digits)
    if min_score is not None:
        kept = np.flatnonzero(scores >= min_score)
        rows, scores = rows.take(kept), scores.take(kept)
    chosen = highest(table, rows, scores, limit)
    rows, scores = rows.take(chosen), scores.take(chosen)
    order = np.lexsort((table.numbers.take(rows), -scores))
    return rows.take(order), scores.take(order)


def highest(table: FactTable, rows: Rows, scores: Scores, limit: int) -> Rows:
    """Positions of the `limit` highest scores, in no order; of those that tie at the border the first recorded."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    if limit < 1:
        return np.empty(0, np.int64)
    border = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    above = np.flatnonzero(scores > border)
    tied = np.flatnonzero(scores == border)
    room = limit - len(above)
    if len(tied) > room:
        numbers = table.numbers.take(rows.take(tied))
        tied = tied.take(np.argpartition(numbers, room - 1)[:room])
    return np.concatenate([above, tied])


def hits(table: FactTable, ranked: tuple[Rows, Scores]) -> list[Hit]:
    """Rows and scores as hits."""
    rows, scores = ranked
    return list(map(Hit, table.ids.take(rows).tolist(), scores.tolist()))
