"""The tokens of one text, the state of its parse, and the readers that other readers call.

A reader is a function of a scan and an index that returns the node it reads there and the index after it, or None.
The grammar is recursive: "the week of" wants any day, and "the second day of" wants any period. The four readers at
the joints are therefore not imported but looked up on the scan, which gets them as a `Grammar`.
"""

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
    """The readers that are defined in terms of each other."""

    day: Reader
    """The longest reading as a single day."""
    atom: Reader
    """The longest expression among days, distances, periods and times."""
    period: Reader
    """Any whole period: a month, "last week", a year."""
    operand: Reader
    """One expression with all its neighbours joined: a day with its time."""


class Scan(Reference):
    """Tokens of one text with the reference time; reading before the first or past the last gives empty words."""

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
        self.starts, self.ends = starts, ends
        padding = [True] * _PADDING
        self.spaced = (
            [True, *(a != b for a, b in zip(starts[1:], ends, strict=False)), *padding] if words else padding
        )
        self.words = [*(word.lower().replace("’", "'") for word in words), *[""] * _PADDING]
        self.numbers: list[int | None] = [
            int(word) if len(word) <= 6 and word.isascii() and word.isdigit() else None for word in words
        ]
        self.numbers += [None] * _PADDING
        self.depth = 0
        self.memo: dict[tuple[object, int], object] = {}

    def day(self, i: int) -> Match | None:
        """Any single day."""
        return self.grammar.day(self, i)

    def atom(self, i: int) -> Match | None:
        """Any day, distance, period or time."""
        return self.grammar.atom(self, i)

    def period(self, i: int) -> Match | None:
        """Any whole period."""
        return self.grammar.period(self, i)

    def operand(self, i: int) -> Match | None:
        """Any expression with all its neighbours joined."""
        return self.grammar.operand(self, i)

    def surface(self, index: int) -> str:
        """The token as written."""
        return self.text[self.starts[index] : self.ends[index]] if index < self.size else ""

    def at(self, index: int, *phrase: str) -> bool:
        """Whether the words of a phrase stand at an index."""
        return self.words[index : index + len(phrase)] == list(phrase)

    def skip(self, index: int, *words: str) -> int:
        """The index after one optional word out of `words`."""
        return index + 1 if self.words[index] in words else index

    def unit(self, index: int) -> str | None:
        """The unit of time named at an index, also in the plural and abbreviated."""
        return self.lex.units.get(self.words[index])

    def steps(self, index: int) -> int | None:
        """-1 for "last", 0 for "this", 1 for "next", None for any other word."""
        return self.lex.shifts.get(self.words[index])

    def shifted(self, index: int) -> tuple[int | None, int]:
        """The steps of "last", "next" or "this coming" and the index after; None and the same index elsewhere."""
        if (steps := self.steps(index)) is None:
            return None, index
        nearer = self.steps(index + 1) if steps == 0 else None
        return (nearer, index + 2) if nearer else (steps, index + 1)

    def year_by_word(self, index: int) -> tuple[int, int] | None:
        """The year of "last year" or "this year" and the index after."""
        steps = self.steps(index)
        return (
            None if steps is None or self.words[index + 1] != "year" else (self.now.year + steps, index + 2)
        )

    def digits(self, index: int) -> int:
        """How many digits the number at an index has, 0 for anything else."""
        return self.ends[index] - self.starts[index] if self.numbers[index] is not None else 0

    def year_in_digits(self, index: int) -> int | None:
        """A four-digit number from 1500 to 2199."""
        number = self.numbers[index]
        return number if number is not None and 1500 <= number <= 2199 and self.digits(index) == 4 else None

    def tight(self, index: int) -> bool:
        """Whether a token stands between its neighbours without spaces."""
        return not self.spaced[index] and not self.spaced[index + 1]

    def capitalised(self, index: int) -> bool:
        """Whether the token begins with a capital letter."""
        return index < self.size and self.text[self.starts[index]].isupper()


Reader = Callable[[Scan, int], Match | None]
Result = TypeVar("Result")


def memoised(reader: Callable[[Scan, int], Result | None]) -> Callable[[Scan, int], Result | None]:
    """Keeps what a reader read at each index of a scan, since several rules ask for the same."""

    @wraps(reader)
    def read(scan: Scan, i: int) -> Result | None:
        key = (reader, i)
        if key in scan.memo:
            return scan.memo[key]  # type: ignore[return-value]
        if scan.depth >= _DEEPEST:
            return None
        scan.depth += 1
        try:
            match = reader(scan, i)
        finally:
            scan.depth -= 1
        scan.memo[key] = match
        return match

    return read
