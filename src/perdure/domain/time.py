"""Windows of time and the two axes on which a memory can be asked as of a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from perdure.errors import InvalidInput

_DAY = timedelta(days=1)


def aware(value: datetime) -> datetime:
    """The same instant with a time zone; a naive value is taken as UTC."""
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def parse_instant(value: str | datetime | None, field: str) -> datetime | None:
    """An aware datetime from ISO 8601 text, a datetime or None; errors name `field`."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return aware(value)
    try:
        return aware(datetime.fromisoformat(value.strip()))
    except (ValueError, AttributeError, TypeError, OverflowError) as error:
        raise InvalidInput(field, "an ISO 8601 date or datetime", value) from error


def check_instant(value: object, field: str) -> datetime | None:
    """An aware datetime from a datetime or None; anything else is refused by the name of the field."""
    if value is not None and not isinstance(value, datetime):
        raise InvalidInput(field, "a datetime", value)
    return None if value is None else aware(value)


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time [start, end); None on a side means open, a bound without a time zone is UTC."""

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check_instant(self.start, "window.start"))
        object.__setattr__(self, "end", check_instant(self.end, "window.end"))
        if self.start is not None and self.end is not None and self.start > self.end:
            raise InvalidInput(
                "window", "start not after end", f"{self.start.isoformat()} to {self.end.isoformat()}"
            )

    @property
    def is_open(self) -> bool:
        """Whether a side is unbounded."""
        return self.start is None or self.end is None

    @property
    def centre(self) -> datetime | None:
        """The middle; of an open window the known bound; None when unbounded."""
        if self.start is not None and self.end is not None:
            return self.start + (self.end - self.start) / 2
        return self.start if self.start is not None else self.end

    @property
    def days(self) -> float | None:
        """Length in days, None when open."""
        if self.start is None or self.end is None:
            return None
        return (self.end - self.start) / _DAY

    def overlaps(self, start: datetime | None, end: datetime | None) -> bool:
        """Whether [start, end] touches this window; an undated span never does."""
        first, last = start or end, end or start
        if first is None or last is None:
            return False
        return (self.start is None or last >= self.start) and (self.end is None or first < self.end)


@dataclass(frozen=True, slots=True)
class AsOf:
    """The moment asked for: `valid` in the world, `known` in what the system believed; None is now.

    A moment without a time zone is UTC.
    """

    valid: datetime | None = None
    known: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "valid", check_instant(self.valid, "as_of.valid"))
        object.__setattr__(self, "known", check_instant(self.known, "as_of.known"))

    @staticmethod
    def both(moment: datetime | None) -> AsOf:
        """The world as the system knew it at one moment: what it learned later does not count."""
        return AsOf(valid=moment, known=moment)
