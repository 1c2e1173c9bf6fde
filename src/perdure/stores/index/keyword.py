"""BM25 over hashed terms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import KeywordProbe
from perdure.stores.index.rank import best, contenders
from perdure.stores.index.snapshot import Admission, Snapshot
from perdure.stores.sqlite.codec import term_hash


def keyword(index: Snapshot, probe: KeywordProbe, admission: Admission, limit: int) -> Sequence[Hit]:
    """The formula of `perdure.testing.memory_search`; counts go over the facts that are not closed."""
    current, count, average = index.open.mask, index.open.count, index.open.average_length
    lengths, by_length = index.columns["length"], probe.k1 * probe.b / average if average else 0.0
    constant = probe.k1 * (1.0 - probe.b) if average else probe.k1
    scores = np.zeros(index.size)
    terms, touched = sorted(probe.terms), [np.empty(0, np.int64)]
    for term, (rows, tf) in zip(terms, index.terms.of_each([*map(term_hash, terms)]), strict=True):
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
        touched.append(rows)
    contending = contenders(scores, limit, digits=9)
    rows = np.unique(np.concatenate(touched)) if contending is None else contending
    return best(index, rows, scores.take(rows), limit, probe.min_score, digits=9)
