"""Windows of time and the two time axes of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from perdure.errors import InvalidInput

_DAY = timedelta(days=1)
_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)
"""An end from this day on is no bound."""
_FIRST_YEAR, _LAST_YEAR = 2, 9998


def aware(value: datetime) -> datetime:
    """Return the same instant with a time zone; a naive value is taken as UTC."""
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def parse_instant(value: object, field: str) -> datetime | None:
    """Return an aware datetime from a datetime, a date (its first moment), ISO 8601 text or None."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return aware(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, str):
        try:
            return aware(datetime.fromisoformat(value.strip()))
        except (ValueError, OverflowError) as error:
            raise InvalidInput(field, "an ISO 8601 date or datetime", value) from error
    raise InvalidInput(field, "a datetime, a date or ISO 8601 text", value)


def parse_utc(value: object, field: str) -> datetime | None:
    """Return the same in UTC, in a year that calendar arithmetic cannot overflow."""
    moment = parse_instant(value, field)
    if moment is None:
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise InvalidInput(field, f"a year from {_FIRST_YEAR} to {_LAST_YEAR}", value)
    return moment.astimezone(UTC)


def parse_end(value: object, field: str) -> datetime | None:
    """Return the end of a span. A date without a time includes its day; None if nothing is later."""
    moment = parse_instant(value, field)
    is_day = isinstance(value, str) and len(value.strip()) == len("2025-01-31")
    if moment is None or not (is_day or (isinstance(value, date) and not isinstance(value, datetime))):
        return moment
    return moment + _DAY if moment < _LAST_DAY else None


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time [start, end); None on a side means open, a bound without a time zone is UTC."""

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", parse_instant(self.start, "window.start"))
        object.__setattr__(self, "end", parse_instant(self.end, "window.end"))
        if self.start is not None and self.end is not None and self.start > self.end:
            raise InvalidInput(
                "window", "start not after end", f"{self.start.isoformat()} to {self.end.isoformat()}"
            )

    @property
    def is_open(self) -> bool:
        return self.start is None or self.end is None

    @property
    def centre(self) -> datetime | None:
        """Return the middle; of an open window the known bound; None if unbounded."""
        if self.start is not None and self.end is not None:
            return self.start + (self.end - self.start) / 2
        return self.start if self.start is not None else self.end

    @property
    def days(self) -> float | None:
        """Return the length in days, or None if open."""
        if self.start is None or self.end is None:
            return None
        return (self.end - self.start) / _DAY

    def overlaps(self, start: datetime | None, end: datetime | None) -> bool:
        """Return whether [start, end] touches this window; an undated span never does."""
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
        object.__setattr__(self, "valid", parse_instant(self.valid, "as_of.valid"))
        object.__setattr__(self, "known", parse_instant(self.known, "as_of.known"))

    @staticmethod
    def both(moment: datetime | None) -> AsOf:
        """Return the world as the system knew it at one moment."""
        return AsOf(valid=moment, known=moment)


def parse_span(since: object, until: object, names: tuple[str, str] = ("since", "until")) -> Window | None:
    """Return the window from `since` to before `until`, which may be open; a last day is included."""
    start, end = parse_instant(since, names[0]), parse_end(until, names[1])
    if start is not None and end is not None and start > end:
        raise InvalidInput(names[0], f"a date not after {names[1]} ({until})", since)
    return Window(start, end) if start is not None or end is not None else None


def read_as_of(value: object, name: str = "as_of") -> AsOf:
    """Return what a moment asks: what was true then, as far as is known now; None asks for the present."""
    if isinstance(value, AsOf):
        return value
    if isinstance(value, Mapping):
        _check_keys(value, name, ("valid", "known"))
        return AsOf(
            valid=parse_utc(value.get("valid"), f"{name}.valid"),
            known=parse_utc(value.get("known"), f"{name}.known"),
        )
    return AsOf(valid=parse_utc(value, name))


def read_window(value: object, name: str) -> Window | None:
    """Return a window, also from an object with `start` and `end`."""
    if value is None or isinstance(value, Window):
        return value
    if not isinstance(value, Mapping):
        raise InvalidInput(name, "a Window, or an object with start and end", value)
    _check_keys(value, name, ("start", "end"))
    return Window(
        parse_instant(value.get("start"), f"{name}.start"), parse_instant(value.get("end"), f"{name}.end")
    )


def _check_keys(value: Mapping[object, object], name: str, keys: tuple[str, str]) -> None:
    for key in value:
        if key not in keys:
            raise InvalidInput(f"{name}.{str(key)[:80]}", " or ".join(keys))
