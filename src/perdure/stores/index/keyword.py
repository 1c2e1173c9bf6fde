"""The keyword channel: BM25 over hashed terms."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import MOST_TERMS, KeywordProbe
from perdure.stores.index.arrays import Mask, Scores
from perdure.stores.index.packing import term_hash
from perdure.stores.index.rank import best, hits
from perdure.stores.index.table import FactTable


def inverse_document_frequency(count: int, containing: int) -> float:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)): the IDF of Lucene's BM25, never negative."""
    return math.log(1 + (count - containing + 0.5) / (containing + 0.5))


def saturated_frequency(frequency: Scores, relative_length: Scores, k1: float, b: float) -> Scores:
    """Return tf (k1 + 1) / (tf + k1 (1 - b + b len / avglen)): BM25, Robertson and Zaragoza 2009."""
    return frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * relative_length))


def search_keyword(table: FactTable, probe: KeywordProbe, mask: Mask, limit: int) -> list[Hit]:
    """Rank by BM25; counts and the mean length cover all open facts, whatever the filter."""
    count, average, length = table.open_count, table.average_length, table.columns["length"]
    scores, matched = np.zeros(table.size), np.zeros(table.size, np.bool_)
    for containing, term in _rarest(table, probe.terms):
        # The rows that contain the term, and its frequency in each: shape (postings of the term,).
        rows, frequency = table.terms.of(term_hash(term))
        idf = inverse_document_frequency(count, containing)
        kept = np.flatnonzero(mask.take(rows))
        rows, frequency = rows.take(kept), frequency.take(kept)
        relative = length.take(rows) / average if average else np.ones(len(rows))
        scores[rows] += (
            probe.terms[term]
            * idf
            * saturated_frequency(frequency.astype(np.float64), relative, probe.k1, probe.b)
        )
        matched[rows] = True
    rows = np.flatnonzero(matched)
    return hits(table, best(table, rows, scores.take(rows), limit, min_score=probe.min_score, digits=9))


def _rarest(table: FactTable, terms: Iterable[str]) -> list[tuple[int, str]]:
    """Return the terms that are looked for, each after the number of open facts that contain it."""
    counted = []
    for term in sorted(terms):
        rows, _ = table.terms.of(term_hash(term))
        if len(rows):
            counted.append((int(np.count_nonzero(table.open.take(rows))), term))
    if len(counted) <= MOST_TERMS:
        return counted
    return sorted(counted, key=lambda one: (one[0], term_hash(one[1])))[:MOST_TERMS]
