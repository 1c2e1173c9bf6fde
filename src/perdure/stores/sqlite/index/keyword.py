"""BM25 over hashed terms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import KeywordProbe
from perdure.stores.sqlite.codec import term_hash
from perdure.stores.sqlite.index.rank import Scores, best, contenders
from perdure.stores.sqlite.index.snapshot import Admission, Snapshot


def keyword(index: Snapshot, probe: KeywordProbe, admission: Admission, limit: int) -> Sequence[Hit]:
    """The formula of `perdure.testing.memory_search`; counts go over the facts that are not closed."""
    current, count = index.open.mask, index.open.count
    norms = _norms(index, probe.k1, probe.b)
    scores = np.zeros(index.size)
    touched = np.zeros(index.size, np.bool_)
    for term in sorted(probe.terms):
        rows, tf = index.terms.of(term_hash(term))
        frequency = len(rows) if count == index.size else int(np.count_nonzero(current.take(rows)))
        if not admission.everything:
            kept = admission.mask.take(rows)
            rows, tf = rows[kept], tf[kept]
        idf = math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
        share = tf.astype(np.float64)
        share /= share + norms.take(rows)
        scores[rows] += (probe.terms[term] * idf * (probe.k1 + 1)) * share
        touched[rows] = True
    found = contenders(scores, limit, digits=9)
    rows = np.flatnonzero(touched) if found is None else found
    return best(index, rows, scores.take(rows), limit, probe.min_score, digits=9)


def _norms(index: Snapshot, k1: float, b: float) -> Scores:
    """What BM25 adds to a term's frequency in each row, kept for the next question."""
    known = index.norms.get((k1, b))
    if known is None:
        average = index.open.average_length
        relative = index.columns["length"] / average if average else np.ones(index.size)
        index.norms.clear()
        known = index.norms[k1, b] = k1 * (1 - b + b * relative)
    return known
