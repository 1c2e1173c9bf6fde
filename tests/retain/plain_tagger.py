"""A tagger for tests: capitalised words that are not the first of a line."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from perdure.ports.tagger import Mention

_NAME = re.compile(r"(?<=\s)[A-Z][\w&-]*(?:\s[A-Z][\w&-]*)*")
_PLACES = {"Lisbon", "Porto", "Paris", "Berlin", "Rome"}


class PlainTagger:
    """Counts its calls, so that tests can see the batching."""

    name = "plain"

    def __init__(self) -> None:
        self.calls = 0

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Mention]]:
        self.calls += 1
        return [
            [Mention(name[0], self._type(name[0], names), *name.span()) for name in _NAME.finditer(text)]
            for text in texts
        ]

    def _type(self, name: str, names: Collection[str]) -> str:
        if name in _PLACES:
            return "place"
        return "person" if name in names else "concept"
