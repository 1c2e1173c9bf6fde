"""The words of one text, the state of its parse, and the readers that other readers call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import wraps
from typing import TypeVar

from perdure.dates.lexicon import TOKEN, Lexicon
from perdure.dates.model import DateOptions
from perdure.dates.nodes import Match, Reference

_PADDING = 12
# "Two days before the day after ..." may go on for ever; a real expression has a handful of links.
_DEEPEST = 48


@dataclass(frozen=True, slots=True)
class Grammar:
    """The readers that are defined in terms of each other; others reach them through the scan."""

    day: Reader
    atom: Reader
    period: Reader
    operand: Reader


class Scan(Reference):
    """Tokens of one text with the reference time; reading past the end gives empty words."""

    __slots__ = ("depth", "ends", "grammar", "memo", "numbers", "size", "spaced", "starts", "text", "words")

    def __init__(
        self, text: str, now: datetime, zone: tzinfo, lex: Lexicon, options: DateOptions, grammar: Grammar
    ) -> None:
        super().__init__(now, zone, lex, options)
        self.text = text
        self.grammar = grammar
        words: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for match in TOKEN.finditer(text):
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

    def day(self, i: int) -> Match | None:
        """The longest reading as a single day."""
        return self.grammar.day(self, i)

    def atom(self, i: int) -> Match | None:
        """The longest expression among days, distances, periods and times."""
        return self.grammar.atom(self, i)

    def period(self, i: int) -> Match | None:
        """Any whole period."""
        return self.grammar.period(self, i)

    def operand(self, i: int) -> Match | None:
        """One expression with all its neighbours joined: a day with its time."""
        return self.grammar.operand(self, i)


Reader = Callable[[Scan, int], Match | None]
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
