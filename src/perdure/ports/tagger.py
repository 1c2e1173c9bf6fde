"""Port of name tagging: the named things in texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mention:
    """A named thing in the text; type is person, place, organisation, product, event, work, group, handle, url or concept."""

    text: str
    type: str
    start: int
    end: int


class Tagger(Protocol):
    """Finds the named things in texts."""

    @property
    def name(self) -> str:
        """Name of the model, or `rules`."""

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Mention]]:
        """Return the mentions of each text in order; `names` are known names (speakers) to find even in lower case."""
