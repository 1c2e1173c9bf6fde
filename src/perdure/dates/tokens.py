"""Splits text into words, numbers and signs, and carries the parse state."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from perdure.dates.calendar import midnight
from perdure.dates.model import DateOptions

if TYPE_CHECKING:
    from perdure.dates.lexicon import Lexicon

_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’](?![sS]\b)[^\W\d_]+)*|['’][sS]\b|\S")
_PADDING = 12
# "Two days before the day after ..." may go on for ever; a real expression has a handful of links.
_DEEPEST = 48


def split_words(text: str) -> list[str]:
    """The lower-case tokens of a text."""
    return [token.lower().replace("’", "'") for token in _TOKEN.findall(text)]


class Scan:
    """Tokens of one text with the reference time; reading past the end gives empty words."""

    __slots__ = (
        "depth",
        "ends",
        "lex",
        "memo",
        "now",
        "numbers",
        "options",
        "size",
        "spaced",
        "starts",
        "text",
        "today",
        "words",
        "zone",
    )

    def __init__(self, text: str, now: datetime, zone: tzinfo, lex: Lexicon, options: DateOptions) -> None:
        self.text = text
        self.now = now
        self.today = midnight(now)
        self.zone = zone
        self.lex = lex
        self.options = options
        words: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for match in _TOKEN.finditer(text):
            words.append(match.group())
            starts.append(match.start())
            ends.append(match.end())
        self.size = len(words)
        self.spaced = [True, *(a != b for a, b in zip(starts[1:], ends, strict=False))] if words else []
        self.words = [word.lower().replace("’", "'") for word in words]
        self.numbers: list[int | None] = [
            int(word) if len(word) <= 6 and word.isascii() and word.isdigit() else None for word in words
        ]
        self.starts, self.ends = starts, ends
        self.depth = 0
        self.memo: dict[tuple[object, int], object] = {}
        self.words += [""] * _PADDING
        self.spaced += [True] * _PADDING
        self.numbers += [None] * _PADDING

    def surface(self, index: int) -> str:
        """The token as written."""
        return self.text[self.starts[index] : self.ends[index]] if index < self.size else ""

    def span(self, start: int, stop: int) -> str:
        """The text of tokens [start, stop)."""
        return self.text[self.starts[start] : self.ends[stop - 1]]

    def at(self, index: int, *phrase: str) -> bool:
        """Whether the words of a phrase stand at an index."""
        return self.words[index : index + len(phrase)] == list(phrase)

    def skip(self, index: int, *words: str) -> int:
        """The index after one optional word out of `words`."""
        return index + 1 if self.words[index] in words else index

    def digits(self, index: int) -> int:
        """How many digits the number at an index has, 0 for anything else."""
        return (
            self.ends[index] - self.starts[index]
            if index < self.size and self.numbers[index] is not None
            else 0
        )

    def capitalised(self, index: int) -> bool:
        """Whether the token begins with a capital letter."""
        return index < self.size and self.text[self.starts[index]].isupper()


Result = TypeVar("Result")


def memoised(reader: Callable[[Scan, int], Result | None]) -> Callable[[Scan, int], Result | None]:
    """Keeps what a reader found at each index of a scan, since several rules ask for the same."""

    @wraps(reader)
    def read(scan: Scan, i: int) -> Result | None:
        key = (reader, i)
        if key in scan.memo:
            return scan.memo[key]  # type: ignore[return-value]
        if scan.depth >= _DEEPEST:
            return None
        scan.depth += 1
        try:
            found = reader(scan, i)
        finally:
            scan.depth -= 1
        scan.memo[key] = found
        return found

    return read
