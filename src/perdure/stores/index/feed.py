"""The feed: what a bank's index reads from a database, implemented by each store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from perdure.ports.embedder import Matrix

FactNos = NDArray[np.int64]
"""Numbers of facts within their bank: 1, 2, 3, ... in the order of recording, never used twice."""


class Change(IntEnum):
    """What an index that already holds a fact must do about it. The values are stored."""

    COLUMNS = 0
    """Filter columns changed; terms, memberships, tags, metadata and vectors did not."""
    REPLACED = 1
    """Anything else of the fact changed."""
    GONE = 2
    """The fact was deleted."""
    LINKS = 3
    """The fact gained links with facts recorded before it, or their weights changed."""


@dataclass(frozen=True, slots=True)
class BankState:
    """The state of a bank in the database, by which an index knows that it is out of date."""

    key: int
    """Tells a bank from a deleted one of the same id."""
    version: int
    """Grows with every transaction that an index must see."""
    vectors_version: int
    """The version at which all vectors were replaced (another model)."""
    changes_dropped: int
    """Changes up to this number are no longer listed: an index that has not seen them is built anew."""
    model: str | None
    dimensions: int | None
    server_started: float = 0.0
    """When the server that says so was started, where there is one. After a failover that lost transactions another one
    reaches the same version with other facts, so what was read of an earlier server is not relied upon."""


class PackedFact(NamedTuple):
    """A fact as the index loads it: number, id and the bytes of `packing.pack_fact`."""

    no: int
    id: str
    body: bytes


class Feed(Protocol):
    """Reads of one consistent state of one bank."""

    def state(self) -> BankState | None:
        """Return the bank's state, None when there is no such bank."""

    def facts_after(self, no: int) -> Iterator[Sequence[PackedFact]]:
        """Return facts with a higher number, by rising number, in blocks."""

    def facts_of(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        """Return the facts of these numbers, by rising number, in blocks; missing ones are left out."""

    def changes_after(self, number: int) -> list[tuple[int, int, Change]]:
        """Return (number of the change, number of the fact, kind) of later changes, by rising number."""

    def last_change(self) -> int:
        """Return the number of the bank's newest change, 0 without any."""

    def vector_count(self, view: str) -> int:
        """Return how many facts have a vector of the view."""

    def vectors(self, view: str, numbers: Sequence[int] | None = None) -> Iterator[tuple[FactNos, Matrix]]:
        """Yield (numbers, float32 matrix of as many rows) of all facts or these, by number, in blocks."""

    def words(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, Sequence[str]]]:
        """Return (number, plain words) of all facts or of these."""

    def signatures(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, bytes]]:
        """Return (number, signature) of all facts or of these; facts without one are left out."""

    def entity_names(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return entity id -> name and aliases."""
