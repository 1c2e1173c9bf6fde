"""The fuzzy channel: words of the bank that resemble those of the question, by their trigrams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit
from perdure.ports.probe import FuzzyProbe
from perdure.stores.index.arrays import AppendOnlyArray, Mask, Positions, Rows, Scores, rows_of
from perdure.stores.index.feed import Feed
from perdure.stores.index.postings import Postings
from perdure.stores.index.rank import best, hits
from perdure.stores.index.table import FactTable


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The words of a bank at one state, and the rows that use them."""

    words: NDArray[np.object_]
    trigram_counts: NDArray[np.int32]
    """Per word."""
    by_trigram: Postings
    """Trigram -> words."""
    rows: Postings
    """Word -> rows."""

    def similar(self, word: str, threshold: float) -> tuple[Positions, Scores]:
        """Return words that are at least that similar, and how similar they are."""
        trigrams = trigram_keys(word)
        _, sharing, _ = self.by_trigram.of_all(np.array(trigrams, np.uint64))
        candidates, shared = np.unique(sharing, return_counts=True)
        scores = similarities(
            word, shared, self.trigram_counts.take(candidates), lambda at: self.words[candidates[at]]
        )
        kept = np.flatnonzero((scores >= threshold) & (scores > 0))
        return candidates.take(kept), scores.take(kept)


def similarities(
    word: str, shared: Positions, theirs: NDArray[np.int32], candidate: Callable[[int], str]
) -> Scores:
    """Return the similarity of a word to candidates that share trigrams with it and have `theirs`."""
    scores = jaccard(shared, len(trigram_keys(word)), theirs)
    if len(word) >= 3:
        # Only a word that shares all trigrams without padding can contain it.
        for at in np.flatnonzero(shared >= inner_trigrams(word)).tolist():
            longer = candidate(at)
            if word in longer:
                scores[at] = max(scores[at], containment(word, longer))
    return scores


def inner_trigrams(word: str) -> int:
    """Return how many distinct trigrams a word has without padding."""
    return len({word[at : at + 3] for at in range(len(word) - 2)})


def search_fuzzy(
    table: FactTable, probe: FuzzyProbe, vocabulary: Vocabulary, mask: Mask, limit: int
) -> list[Hit]:
    """Score facts by the mean over the question's words of the best similarity with a word of the fact."""
    words = tuple(dict.fromkeys(probe.words))
    total = np.zeros(table.size)
    for word in words:
        similar, scores = vocabulary.similar(word, probe.threshold)
        position, rows, _ = vocabulary.rows.of_all(similar.astype(np.uint64))
        # The vocabulary may know rows that this table does not have yet.
        there = np.flatnonzero(rows < table.size)
        nearest = np.zeros(table.size)
        np.maximum.at(nearest, rows.take(there), scores.take(position.take(there)))
        total += nearest
    rows = np.flatnonzero(mask & (total > 0))
    means = total.take(rows) / max(len(words), 1)
    return hits(table, best(table, rows, means, limit, min_score=probe.min_score, digits=9))


def trigram_keys(word: str) -> list[int]:
    """Return the distinct trigrams of the padded word, each as three 21-bit code points."""
    points = [ord(character) for character in f"  {word} "]
    return list({a << 42 | b << 21 | c for a, b, c in zip(points, points[1:], points[2:], strict=False)})


def jaccard(shared: Positions, own: int, theirs: NDArray[np.int32]) -> Scores:
    """Return |A and B| / |A or B| of two words' trigrams, as PostgreSQL's pg_trgm has it."""
    similarity: Scores = shared / (own + theirs - shared)
    return similarity


def containment(word: str, longer: str) -> float:
    """Return the least similarity with a word that contains it: above one half, and 1 for the word itself."""
    return 0.5 + 0.5 * len(word) / len(longer)


class VocabularyBuilder:
    """Grows a vocabulary and hands out its states."""

    key = "vocabulary"

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words = AppendOnlyArray(np.empty(0, np.object_))
        self._trigram_counts = AppendOnlyArray(np.empty(0, np.int32))
        self._by_trigram, self._rows = Postings(), Postings()

    @property
    def nbytes(self) -> int:
        """Return memory in use, roughly."""
        return self._rows.nbytes + self._by_trigram.nbytes + 160 * len(self._numbers)

    def read(self, feed: Feed, row_of: Rows, numbers: Sequence[int] | None = None) -> None:
        """Add the words of all facts, or of those of some numbers; `row_of` tells the row per number."""
        facts = list(feed.words(numbers))
        rows = rows_of(row_of, np.array([no for no, _ in facts], np.int64)).tolist()
        self.append((row, words) for row, (_, words) in zip(rows, facts, strict=True) if row >= 0)

    def append(self, facts: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Add (row, words) of facts."""
        numbers: list[int] = []
        rows: list[int] = []
        fresh: list[str] = []
        for row, words in facts:
            for word in set(words):
                if word not in self._numbers:
                    self._numbers[word] = len(self._numbers)
                    fresh.append(word)
                numbers.append(self._numbers[word])
                rows.append(row)
        self._rows = self._rows.add(np.array(numbers, np.uint64), np.array(rows, np.int64))
        self._add_words(fresh)

    def state(self) -> Vocabulary:
        """Return the present state."""
        return Vocabulary(self._words.view, self._trigram_counts.view, self._by_trigram, self._rows)

    def _add_words(self, words: Sequence[str]) -> None:
        trigrams = [trigram_keys(word) for word in words]
        counts = np.array([len(keys) for keys in trigrams], np.int32)
        first = len(self._words.view)
        numbers = np.repeat(np.arange(first, first + len(words)), counts)
        keys = np.array([key for keys in trigrams for key in keys], np.uint64)
        self._words.append(np.array(words, np.object_))
        self._trigram_counts.append(counts)
        self._by_trigram = self._by_trigram.add(keys, numbers)
