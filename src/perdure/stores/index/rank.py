"""The best rows, ties in recorded order."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit
from perdure.stores.index.arrays import Rows, Scores, kth_highest
from perdure.stores.index.feed import FactNos


class NumberedRows(Protocol):
    """Rows that hold facts, as a FactTable has them."""

    @property
    def numbers(self) -> FactNos:
        """Return the number of the fact in each row."""

    @property
    def ids(self) -> NDArray[np.object_]:
        """Return the id of the fact in each row."""


def best(
    table: NumberedRows,
    rows: Rows,
    scores: Scores,
    limit: int,
    *,
    min_score: float | None = None,
    digits: int | None = None,
) -> tuple[Rows, Scores]:
    """Return at most `limit` rows and their scores, by falling score, ties by fact number.

    Scores that were added up are rounded to some digits, so that the order of addition does not decide ties.
    """
    if digits is not None:
        scores = np.round(scores, digits)
    if min_score is not None:
        kept = np.flatnonzero(scores >= min_score)
        rows, scores = rows.take(kept), scores.take(kept)
    if limit < 1:
        return rows[:0], scores[:0]
    if len(rows) > limit:
        # All above the border, and of those that tie with it the first recorded.
        border = kth_highest(scores, limit)
        above, tied = np.flatnonzero(scores > border), np.flatnonzero(scores == border)
        numbers = table.numbers.take(rows.take(tied))
        tied = tied.take(np.argpartition(numbers, limit - len(above) - 1)[: limit - len(above)])
        chosen = np.concatenate([above, tied])
        rows, scores = rows.take(chosen), scores.take(chosen)
    order = np.lexsort((table.numbers.take(rows), -scores))
    return rows.take(order), scores.take(order)


def hits(table: NumberedRows, ranked: tuple[Rows, Scores]) -> list[Hit]:
    """Return rows and scores as hits."""
    rows, scores = ranked
    return list(map(Hit, table.ids.take(rows).tolist(), scores.tolist()))
