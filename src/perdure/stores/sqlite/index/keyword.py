"""BM25 over hashed terms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import KeywordProbe
from perdure.stores.sqlite.codec import term_hash
from perdure.stores.sqlite.index.rank import best, contenders
from perdure.stores.sqlite.index.snapshot import Admission, Snapshot


def keyword(index: Snapshot, probe: KeywordProbe, admission: Admission, limit: int) -> Sequence[Hit]:
    """The formula of `perdure.testing.memory_search`; counts go over the facts that are not closed."""
    current, count, average = index.open.mask, index.open.count, index.open.average_length
    lengths, by_length = index.columns["length"], probe.k1 * probe.b / average if average else 0.0
    constant = probe.k1 * (1.0 - probe.b) if average else probe.k1
    scores = np.zeros(index.size)
    touched = np.zeros(index.size, np.bool_)
    for term in sorted(probe.terms):
        rows, tf = index.terms.of(term_hash(term))
        frequency = len(rows) if count == index.size else int(np.count_nonzero(current.take(rows)))
        if not admission.everything:
            kept = admission.mask.take(rows)
            rows, tf = rows[kept], tf[kept]
        idf = math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
        norms = lengths.take(rows)
        norms *= by_length
        norms += constant
        norms += tf
        scores[rows] += (probe.terms[term] * idf * (probe.k1 + 1)) * (tf / norms)
        touched[rows] = True
    found = contenders(scores, limit, digits=9)
    rows = np.flatnonzero(touched) if found is None else found
    return best(index, rows, scores.take(rows), limit, probe.min_score, digits=9)
