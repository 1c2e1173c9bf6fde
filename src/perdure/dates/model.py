"""The reader's public types."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Prefer = Literal["past", "future", "sentence"]
Kind = Literal["date", "range", "datetime", "datetimerange", "time", "timerange", "duration", "recurring"]
Relation = Literal["before", "after", "since", "until", "when", "during"]


@dataclass(frozen=True, slots=True)
class DateWindow:
    """A span of time [start, end); None on a side means open."""

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.end is not None and self.start > self.end:
            raise ValueError(f"window from {self.start.isoformat()} ends before, at {self.end.isoformat()}")


@dataclass(frozen=True, slots=True)
class DateOptions:
    """How ambiguous expressions are read.

    `day_first`: 3/4 is 3 April; None follows the language's habit.
    `southern_hemisphere`: summer is December to February.
    `fiscal_year_start`: first month of the fiscal year, which is named after the year it ends in.
    """

    day_first: bool | None = None
    southern_hemisphere: bool = False
    fiscal_year_start: int = 1


@dataclass(frozen=True, slots=True)
class DateValue:
    """One reading of an expression, in the TIMEX convention.

    `start` is the moment or the range's first moment. `end` is the range's end as TIMEX writes it: for
    "from A to B" the beginning of B. `window` is what a search should use: it includes all of B.
    """

    start: datetime | None
    end: datetime | None
    window: DateWindow


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date expression found in a text; `window` is None for what has no place on the time line."""

    text: str
    start: int
    end: int
    kind: Kind
    precision: str
    window: DateWindow | None
    modifier: str | None = None
    timex: str = ""
    values: tuple[DateValue, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that bounds time: in "before Alice joined Google" the event is "Alice joined Google"."""

    relation: Relation
    text: str
    start: int
    end: int
