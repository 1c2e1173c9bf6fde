"""Damage in a store: what was met, and what a check of everything says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Something stored that cannot be read, or is not what was written."""

    kind: str
    """What it is: file, log, index, cache, fact, document, chunk, features, vector, link, or the name of a table."""
    name: str
    """Which one: an id, a number, or what SQLite says about the file."""
    problem: str
    """Never holds stored text."""
    bank: str = ""
    repair: str = ""
    """How `repair` mends it without losing anything; empty where only a backup helps."""
    repaired: bool = False

    def __str__(self) -> str:
        where = f" of bank {self.bank}" if self.bank else ""
        return f"{self.kind} {self.name}{where}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a check of a store looked at and what it met."""

    checked: Mapping[str, int] = field(default_factory=dict)
    """Kind -> how many were compared with their checksum or counterpart."""
    damage: tuple[Damage, ...] = ()
    quick: bool = False

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged any more."""
        return not self.left

    @property
    def left(self) -> tuple[Damage, ...]:
        """What was not repaired."""
        return tuple(one for one in self.damage if not one.repaired)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """A backup that was put in the place of a file."""

    file: str
    aside: str | None
    """Where what stood there is now; None where nothing did."""
    verification: Verification
