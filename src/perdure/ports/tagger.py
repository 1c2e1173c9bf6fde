"""Port of name tagging: the named things in texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mention:
    """A named entity: person, place, organisation, product, event, work, group, handle, url or concept."""

    text: str
    type: str
    start: int
    end: int


class Tagger(Protocol):
    """Splits texts into sentences and finds named entities."""

    @property
    def name(self) -> str:
        """Return the name of the model, or `rules`."""

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Mention]]:
        """Return the sentences of each text; `names` are names (speakers) to find even in lower case."""
