"""Hits in columns: a recall brings over a thousand of them and shows some dozens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]


class Hits(Sequence[Hit]):
    """What a channel found, best first; a Hit is made when it is asked for."""

    __slots__ = ("_names", "_places", "numbers", "scores")

    def __init__(self, numbers: Numbers, scores: Scores, names: Sequence[str], places: Numbers) -> None:
        """`numbers` are equal where facts of a bank are, whichever probe found them; ids are names[places]."""
        self.numbers, self.scores = numbers, scores
        self._names, self._places = names, places

    def ids_at(self, places: Numbers) -> list[str]:
        """The ids of the facts at some places."""
        return list(map(self._names.__getitem__, self._places[places].tolist()))

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> Hits: ...

    def __getitem__(self, place: int | slice) -> Hit | Hits:
        if isinstance(place, slice):
            return Hits(self.numbers[place], self.scores[place], self._names, self._places[place])
        return Hit(self._names[self._places[place]], float(self.scores[place]))

    def __iter__(self) -> Iterator[Hit]:
        return map(Hit, map(self._names.__getitem__, self._places.tolist()), self.scores.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def in_columns(lists: Sequence[Sequence[Hit]]) -> list[Hits]:
    """The same in columns; where a list has none, the facts of all are numbered in the order in which they appear."""
    columns = [found for found in lists if isinstance(found, Hits)]
    if len(columns) == len(lists):
        return columns
    number_of: dict[str, int] = {}
    return [_numbered(found, number_of) for found in lists]


def _numbered(found: Sequence[Hit], number_of: dict[str, int]) -> Hits:
    ids = [hit.fact_id for hit in found]
    numbers = np.array([number_of.setdefault(ident, len(number_of)) for ident in ids], np.int64)
    scores = np.array([hit.score for hit in found], np.float64)
    return Hits(numbers, scores, ids, np.arange(len(ids)))
