"""A tagger for tests: sentences by their marks, capitalised words as mentions, no parser."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from perdure.ports.tagger import Mention, Sentence

_SENTENCE = re.compile(r"\S.*?(?:[.!?]+[\"')\]]*(?=\s|$)|$)", re.DOTALL)
_NAME = re.compile(r"(?<=\s)[A-Z][\w&-]*(?:\s[A-Z][\w&-]*)*")
_PLACES = {"Lisbon", "Porto", "Paris", "Berlin", "Rome"}


class PlainTagger:
    """Counts its calls, so that tests can see the batching."""

    name = "plain"
    has_parser = False

    def __init__(self) -> None:
        self.calls = 0

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Sentence]]:
        self.calls += 1
        return [[self._sentence(match, names) for match in _SENTENCE.finditer(text)] for text in texts]

    def _sentence(self, match: re.Match[str], names: Collection[str]) -> Sentence:
        start, end = match.span()
        found = [
            Mention(name[0], self._type(name[0], names), start + name.start(), start + name.end())
            for name in _NAME.finditer(match[0])
        ]
        return Sentence(match[0], start, end, (), tuple(found))

    def _type(self, name: str, names: Collection[str]) -> str:
        if name in _PLACES:
            return "place"
        return "person" if name in names else "concept"
