"""Hits in columns: a recall brings over a thousand of them and shows some dozens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit

Places = NDArray[np.int64]
Scores = NDArray[np.float64]


class Hits(Sequence[Hit]):
    """What a channel found, best first: the ids are names[places]. A Hit is made when it is asked for.

    No name is in `names` twice; what a store finds by several probes should share them.
    """

    __slots__ = ("names", "places", "scores")

    def __init__(self, names: Sequence[str], places: Places, scores: Scores) -> None:
        self.names, self.places, self.scores = names, places, scores

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> Hit: ...

    @overload
    def __getitem__(self, at: slice) -> Hits: ...

    def __getitem__(self, at: int | slice) -> Hit | Hits:
        if isinstance(at, slice):
            return Hits(self.names, self.places[at], self.scores[at])
        return Hit(self.names[self.places[at]], float(self.scores[at]))

    def __iter__(self) -> Iterator[Hit]:
        return map(Hit, map(self.names.__getitem__, self.places.tolist()), self.scores.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def sharing_names(lists: Sequence[Sequence[Hit]]) -> list[Hits]:
    """The same hits in columns that share their names, so that equal places are the same fact."""
    columns = [found for found in lists if isinstance(found, Hits)]
    if len(columns) == len(lists) and all(found.names is columns[0].names for found in columns):
        return columns
    place_of: dict[str, int] = {}
    for found in lists:
        for hit in found:
            place_of.setdefault(hit.fact_id, len(place_of))
    names = list(place_of)
    return [
        Hits(
            names,
            np.array([place_of[hit.fact_id] for hit in found], np.int64),
            np.array([hit.score for hit in found], np.float64),
        )
        for found in lists
    ]
