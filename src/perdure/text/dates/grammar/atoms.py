"""The smallest whole expressions: one day, one period, one time of day."""

from __future__ import annotations

from perdure.text.dates.grammar.clock import match_clock
from perdure.text.dates.grammar.counted import last_units, part_of_period, rest_of, to_date
from perdure.text.dates.grammar.dayparts import part_of_day
from perdure.text.dates.grammar.days import bare_ordinal_day, named_day, relative_day
from perdure.text.dates.grammar.feasts import holiday
from perdure.text.dates.grammar.moments import end_of_day, now
from perdure.text.dates.grammar.numeric import compact_day, numeric_day
from perdure.text.dates.grammar.periods import period
from perdure.text.dates.grammar.portions import portion
from perdure.text.dates.grammar.shifts import bounded_distance, distance, length_from, weekday_at_distance
from perdure.text.dates.grammar.weekdays import counted_weekdays, ordinal_weekday, week_then_weekday, weekday
from perdure.text.dates.nodes import Match
from perdure.text.dates.tokens import Scan

_DAYS = (holiday, relative_day, weekday_at_distance, week_then_weekday, ordinal_weekday, counted_weekdays, weekday, numeric_day, compact_day, named_day, bare_ordinal_day)
_SHIFTS = (distance, length_from, bounded_distance)
_PERIODS = (last_units, part_of_period, rest_of, to_date, portion, period)
_TIMES = (now, end_of_day, part_of_day, match_clock)


def day(scan: Scan, i: int) -> Match | None:
    """A single day."""
    for reader in _DAYS:
        found = reader(scan, i)
        if found is not None:
            return found
    return None


def atom(scan: Scan, i: int) -> Match | None:
    """The longest expression among days, distances, periods and times."""
    best: Match | None = None
    for group in (_DAYS, _SHIFTS, _PERIODS, _TIMES):
        for reader in group:
            found = reader(scan, i)
            if found is not None and (best is None or found[1] > best[1]):
                best = found
    return best
