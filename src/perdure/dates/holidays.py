"""Dates of holidays, computed from the short rules of the language files."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache

from perdure.dates import lunar
from perdure.dates.calendar import nth_weekday

_WEEKDAYS = {name: number for number, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_FEASTS = {
    "easter": lunar.easter,
    "orthodox_easter": lunar.orthodox_easter,
    "chinese_new_year": lunar.chinese_new_year,
    "rosh_hashanah": lunar.rosh_hashanah,
    "passover": lunar.passover,
    "hanukkah": lunar.hanukkah,
    "diwali": lunar.diwali,
}


@lru_cache(maxsize=4096)
def holiday_date(rule: str, year: int) -> datetime | None:
    """The day a holiday falls on in a year, None when that year has none.

    Rules: "12-25", "4 thu 11" (nth weekday of a month), "islamic 10 1" or a feast's name, each with "+1" or "-2" days.
    """
    words = rule.split()
    shift = 0
    if words[-1][0] in "+-" and len(words) > 1:
        shift = int(words.pop())
    found = _base_date(words, year)
    return None if found is None else found + timedelta(days=shift)


def _base_date(words: list[str], year: int) -> datetime | None:
    if words[0] in _FEASTS:
        return _FEASTS[words[0]](year)
    if words[0] == "islamic":
        return lunar.islamic_day(year, int(words[1]), int(words[2]))
    if len(words) == 3:
        return nth_weekday(year, int(words[2]), _WEEKDAYS[words[1]], int(words[0]))
    month, day = words[0].split("-")
    return datetime(year, int(month), int(day))
