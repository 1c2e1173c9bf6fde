"""Damage in a store, and the result of a verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A stored item that cannot be read or fails its checksum."""

    kind: str
    """file, log, index, cache, fact, document, chunk, features, vector, link, or the name of a table."""
    name: str
    """An id, a number, or what SQLite reports about the file."""
    problem: str
    """Never contains stored text."""
    bank: str = ""
    repair: str = ""
    """How `repair` restores it without loss; empty if only a backup helps."""
    repaired: bool = False

    def __str__(self) -> str:
        where = f" of bank {self.bank}" if self.bank else ""
        return f"{self.kind} {self.name}{where}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a verification checked and the damage that it found."""

    checked: Mapping[str, int] = field(default_factory=dict)
    """Kind -> number of items compared with their checksum or counterpart."""
    damage: tuple[Damage, ...] = ()
    quick: bool = False

    @property
    def sound(self) -> bool:
        """Return whether no damage is left."""
        return not self.left

    @property
    def left(self) -> tuple[Damage, ...]:
        """Return the damage that was not repaired."""
        return tuple(one for one in self.damage if not one.repaired)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """A backup that replaced a file."""

    file: str
    aside: str | None
    """Where the replaced file is now; None if there was none."""
    verification: Verification
