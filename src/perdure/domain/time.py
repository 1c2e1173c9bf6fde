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


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time [start, end); None on a side means open."""

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
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
        if start is None and end is None:
            return False
        first = start if start is not None else end
        last = end if end is not None else start
        assert first is not None
        assert last is not None
        if self.start is not None and last < self.start:
            return False
        return self.end is None or first < self.end


@dataclass(frozen=True, slots=True)
class AsOf:
    """The moment asked for: `valid` in the world, `known` in what the system believed; None is now."""

    valid: datetime | None = None
    known: datetime | None = None

    @staticmethod
    def both(moment: datetime | None) -> AsOf:
        """The world as the system knew it at one moment."""
        return AsOf(valid=moment, known=moment)
