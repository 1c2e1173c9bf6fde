"""BM25 over hashed terms."""

from __future__ import annotations

import math

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import KeywordProbe
from perdure.stores.sqlite.codec import term_hash
from perdure.stores.sqlite.index.rank import best, contenders
from perdure.stores.sqlite.index.snapshot import Mask, Snapshot


def keyword(index: Snapshot, probe: KeywordProbe, mask: Mask, limit: int) -> list[Hit]:
    """The formula of `perdure.testing.memory_search`; counts go over the facts that are not closed."""
    current, count, average = index.open.mask, index.open.count, index.open.average_length
    lengths = index.columns["length"]
    scores = np.zeros(index.size)
    touched = np.zeros(index.size, np.bool_)
    for term in sorted(probe.terms):
        rows, tf = index.terms.of(term_hash(term))
        frequency = int(current[rows].sum())
        kept = mask[rows]
        rows, tf = rows[kept], tf[kept].astype(np.float64)
        idf = math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
        relative = lengths[rows] / average if average else np.ones(len(rows))
        norm = probe.k1 * (1 - probe.b + probe.b * relative)
        scores[rows] += probe.terms[term] * idf * tf * (probe.k1 + 1) / (tf + norm)
        touched[rows] = True
    found = contenders(scores, limit, digits=9)
    rows = np.flatnonzero(touched) if found is None else found
    return best(index, rows, scores.take(rows), limit, probe.min_score, digits=9)
