"""What the grammar builds: a node is an expression with its possible readings, in naive local time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import NamedTuple

from perdure.dates.calendar import midnight
from perdure.dates.lexicon import Lexicon
from perdure.dates.model import DateOptions, Kind


class Reference:
    """The time a text was said, the caller's options and the words of English: what a reading depends on besides the text."""

    __slots__ = ("lex", "now", "options", "today", "zone")

    def __init__(self, now: datetime, zone: tzinfo, lex: Lexicon, options: DateOptions) -> None:
        self.now = now
        self.today = midnight(now)
        self.zone = zone
        self.lex = lex
        self.options = options


class Alt(NamedTuple):
    """One reading: `start` and `stop` by TIMEX, `end` the exclusive end of the window.

    `begin` is the window's start where it differs: "two years ago" names a day but means a year.
    """

    start: datetime | None
    stop: datetime | None
    end: datetime | None
    begin: datetime | None = None


class Parts(NamedTuple):
    """What was said of a calendar date, so that ranges can complete it."""

    year: int | None
    month: int | None
    day: int | None


@dataclass(slots=True)
class Node:
    """An expression; alternatives are ordered past before future, morning before afternoon."""

    kind: Kind
    grain: str
    alts: list[Alt]
    mod: str | None = None
    parts: Parts | None = None
    timex: str = ""
    seconds: float | None = None
    length: Length | None = None
    part: str = ""
    clock_open: bool = False
    tags: frozenset[str] = field(default_factory=frozenset)

    def changed(self, **changes: object) -> Node:
        """A copy with other values."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time as it was said."""

    months: float = 0
    days: float = 0
    seconds: float = 0
    business: int = 0
    grain: str = "day"
    timex: str = ""
    total: float = 0


Match = tuple[Node, int]
