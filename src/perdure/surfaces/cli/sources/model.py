"""A document to retain, as read from any source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One document: its items in the form that retain takes, and where it was read."""

    name: str
    """For messages: a file, or a conversation in it."""
    items: tuple[dict[str, Any], ...]

    @property
    def characters(self) -> int:
        """Length of all its texts."""
        return sum(len(item["content"]) for item in self.items)

    def filled(self, defaults: dict[str, Any]) -> Reading:
        """With `defaults` for the fields that its items leave open."""
        return replace(self, items=tuple({**defaults, **item} for item in self.items))
