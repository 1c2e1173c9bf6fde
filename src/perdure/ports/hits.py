"""Hits and ids in columns: a recall brings over a thousand hits and shows some dozens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit

Places = NDArray[np.int64]
Scores = NDArray[np.float64]
T = TypeVar("T")


class _Columns(Sequence[T]):
    """A sequence that keeps facts as places among `all_ids`, and reads as the list of what it stands for."""

    __slots__ = ("all_ids", "places")

    def __init__(self, all_ids: Sequence[str], places: Places) -> None:
        self.all_ids, self.places = all_ids, places

    def __len__(self) -> int:
        return len(self.places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class Hits(_Columns[Hit]):
    """What a channel found, best first: the facts are all_ids[places]. A Hit is made when it is asked for.

    A store should give what several probes find the same `all_ids`; where it does, a fact must have the same place in each.
    """

    __slots__ = ("scores",)

    def __init__(self, all_ids: Sequence[str], places: Places, scores: Scores) -> None:
        super().__init__(all_ids, places)
        self.scores = scores

    @overload
    def __getitem__(self, at: int) -> Hit: ...

    @overload
    def __getitem__(self, at: slice) -> Hits: ...

    def __getitem__(self, at: int | slice) -> Hit | Hits:
        if isinstance(at, slice):
            return Hits(self.all_ids, self.places[at], self.scores[at])
        return Hit(self.all_ids[self.places[at]], float(self.scores[at]))

    def __iter__(self) -> Iterator[Hit]:
        return map(Hit, map(self.all_ids.__getitem__, self.places.tolist()), self.scores.tolist())


class FactIds(_Columns[str]):
    """Ids of facts that a store found: all_ids[places]. The store that gave `all_ids` knows them by their places."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> FactIds: ...

    def __getitem__(self, at: int | slice) -> str | FactIds:
        if isinstance(at, slice):
            return FactIds(self.all_ids, self.places[at])
        return self.all_ids[int(self.places[at])]

    def __iter__(self) -> Iterator[str]:
        return map(self.all_ids.__getitem__, self.places.tolist())


def sharing_ids(lists: Sequence[Sequence[Hit]]) -> list[Hits]:
    """The same hits in columns that share `all_ids`, so that equal places are the same fact."""
    columns = [found for found in lists if isinstance(found, Hits)]
    if len(columns) == len(lists) and all(found.all_ids is columns[0].all_ids for found in columns):
        return columns
    place_of: dict[str, int] = {}
    for found in lists:
        for hit in found:
            place_of.setdefault(hit.fact_id, len(place_of))
    all_ids = list(place_of)
    return [
        Hits(
            all_ids,
            np.array([place_of[hit.fact_id] for hit in found], np.int64),
            np.array([hit.score for hit in found], np.float64),
        )
        for found in lists
    ]
