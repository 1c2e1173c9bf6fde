"""The bank's words by their trigrams, and which rows use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.stores.index.growing import Growing
from perdure.stores.index.runs import Runs

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Words and their use at one state."""

    words: Sequence[str]
    """At least as many as this state knows: the list grows with later states."""
    uses: Runs
    """Word -> rows."""
    grams: Runs
    """Trigram -> words."""
    gram_of: dict[str, int]
    gram_count: NDArray[np.int32]

    def similar(self, wanted: str, threshold: float) -> tuple[Places, NDArray[np.float64]]:
        """Words at least that similar, with their similarity."""
        ours = trigrams(wanted)
        known = np.array([self.gram_of[gram] for gram in ours if gram in self.gram_of], np.int64)
        found = self.grams.of_all(known).tail
        found = found[found < len(self.gram_count)]
        words, shared = np.unique(found, return_counts=True)
        scores = shared / (len(ours) + self.gram_count[words] - shared)
        if len(wanted) >= 3:
            inner = {wanted[place : place + 3] for place in range(len(wanted) - 2)}
            for place in np.flatnonzero(shared >= len(inner)).tolist():
                word = self.words[int(words[place])]
                if wanted in word:
                    scores[place] = max(scores[place], 0.5 + 0.5 * len(wanted) / len(word))
        kept = (scores >= threshold) & (scores > 0)
        return words[kept], scores[kept]


def trigrams(word: str) -> set[str]:
    """Trigrams of the word padded by two blanks before and one after."""
    padded = f"  {word} "
    return {padded[place : place + 3] for place in range(len(padded) - 2)}


class VocabularyBuilder:
    """Grows a vocabulary and hands out its states."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._number: dict[str, int] = {}
        self._grams = Runs()
        self._gram_of: dict[str, int] = {}
        self._gram_count = Growing(np.empty(0, np.int32))
        self._uses = Runs()

    @property
    def nbytes(self) -> int:
        """Memory held, roughly."""
        return self._uses.nbytes + self._grams.nbytes + 160 * len(self._words)

    def append(self, rows: Iterable[int], words: Iterable[Sequence[str]]) -> None:
        """Add the words of some rows."""
        first_new = len(self._words)
        heads: list[int] = []
        tails: list[int] = []
        for row, held in zip(rows, words, strict=True):
            for word in set(held):
                number = self._number.get(word)
                if number is None:
                    number = self._number[word] = len(self._words)
                    self._words.append(word)
                heads.append(number)
                tails.append(row)
        self._uses = _added(self._uses, heads, tails)
        self._index_words(first_new)

    def _index_words(self, first: int) -> None:
        heads: list[int] = []
        tails: list[int] = []
        counts: list[int] = []
        for number in range(first, len(self._words)):
            grams = trigrams(self._words[number])
            counts.append(len(grams))
            for gram in grams:
                heads.append(self._gram_of.setdefault(gram, len(self._gram_of)))
                tails.append(number)
        self._gram_count.append(np.array(counts, np.int32))
        self._grams = _added(self._grams, heads, tails)

    def state(self) -> Vocabulary:
        """The present state."""
        return Vocabulary(self._words, self._uses, self._grams, self._gram_of, self._gram_count.view)


def _added(runs: Runs, heads: list[int], tails: list[int]) -> Runs:
    return runs.add(np.array(heads, np.int64), np.array(tails, np.int64), np.ones(len(heads), np.float32))
