"""The best rows, ties broken by fact id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


def best_rows(
    ids: Sequence[str], rows: Rows, scores: Scores, limit: int, min_score: float | None = None
) -> list[tuple[int, float]]:
    """(row, score) by falling score, ties by id."""
    if min_score is not None:
        kept = scores >= min_score
        rows, scores = rows[kept], scores[kept]
    if limit < 1 or len(rows) == 0:
        return []
    if len(rows) > limit:
        border = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        above = scores > border
        rows_above, scores_above = rows[above], scores[above]
        tied = rows[scores == border]
        room = limit - len(rows_above)
        if len(tied) > room:
            tied = np.array(sorted(tied.tolist(), key=ids.__getitem__)[:room], np.int64)
        rows = np.concatenate([rows_above, tied])
        scores = np.concatenate([scores_above, np.full(len(tied), border)])
    pairs = list(zip(rows.tolist(), scores.tolist(), strict=True))
    pairs.sort(key=lambda pair: (-pair[1], ids[pair[0]]))
    return pairs


def best(
    ids: Sequence[str], rows: Rows, scores: Scores, limit: int, min_score: float | None = None
) -> list[Hit]:
    """The same as hits."""
    return [Hit(ids[row], score) for row, score in best_rows(ids, rows, scores, limit, min_score)]
