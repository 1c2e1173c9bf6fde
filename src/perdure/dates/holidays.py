"""When holidays fall: fixed days, nth weekdays, Easter, and the Hebrew, Islamic and Chinese feasts.

New moons follow Meeus, Astronomical Algorithms, chapter 49 (largest terms; within about a quarter of an hour).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from math import floor, radians, sin

from perdure.dates.calendar import DAY, midnight, nth_weekday

_J2000 = datetime(2000, 1, 1, 12)
_SYNODIC = 29.530588861
_TERMS = (
    (-0.40720, 0, 1, 0), (0.17241, 1, 0, 0), (0.01608, 0, 2, 0), (0.01039, 0, 0, 2), (0.00739, -1, 1, 0),
    (-0.00514, 1, 1, 0), (0.00208, 2, 0, 0), (-0.00111, 0, 1, -2), (-0.00057, 0, 1, 2), (0.00056, 1, 2, 0),
)  # fmt: skip


def easter(year: int) -> datetime:
    """Easter Sunday of the Gregorian calendar."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return datetime(year, month, day + 1)


def orthodox_easter(year: int) -> datetime:
    """Easter Sunday of the Eastern churches, as a Gregorian date."""
    d = (19 * (year % 19) + 15) % 30
    e = (2 * (year % 4) + 4 * (year % 7) - d + 34) % 7
    month, day = divmod(d + e + 114, 31)
    return datetime(year, month, day + 1) + timedelta(days=year // 100 - year // 400 - 2)


@lru_cache(maxsize=512)
def new_moon(lunation: int) -> datetime:
    """The new moon number `lunation` (0: 6 January 2000) in universal time."""
    t = lunation / 1236.85
    sun = radians(2.5534 + 29.10535670 * lunation)
    moon = radians(201.5643 + 385.81693528 * lunation + 0.0107582 * t * t)
    latitude = radians(160.7108 + 390.67050284 * lunation - 0.0016118 * t * t)
    days = 2451550.09766 + _SYNODIC * lunation + 0.00015437 * t * t - 2451545.0
    days += sum(size * sin(s * sun + m * moon + f * latitude) for size, s, m, f in _TERMS)
    return _J2000 + timedelta(days=days, seconds=-65)


def _lunation_near(moment: datetime) -> int:
    return floor((moment - datetime(2000, 1, 6, 18, 14)).total_seconds() / 86400 / _SYNODIC + 0.5)


def chinese_new_year(year: int) -> datetime:
    """First day of the Chinese year: the new moon (China time) that falls from 21 January to 20 February."""
    number = _lunation_near(datetime(year, 2, 5))
    for candidate in (number - 1, number, number + 1):
        day = midnight(new_moon(candidate) + timedelta(hours=8))
        if datetime(year, 1, 21) <= day <= datetime(year, 2, 20):
            return day
    raise ValueError("no new moon found")


def islamic_day(year: int, month: int, day: int) -> datetime | None:
    """The day of the Islamic calendar (Umm al-Qura rule, without the moonset test) in a Gregorian year."""
    for hijri in range(int((year - 622) * 33 / 32) - 1, int((year - 622) * 33 / 32) + 3):
        moon = new_moon((hijri - 1421) * 12 + month + 2)
        date = midnight(moon) + DAY * (day + (moon.hour >= 15))
        if date.year == year:
            return date
    return None


def _hebrew_elapsed(hebrew: int) -> int:
    months = (235 * hebrew - 234) // 19
    days = 29 * months + (12084 + 13753 * months) // 25920
    return days + 1 if 3 * (days + 1) % 7 < 3 else days


def rosh_hashanah(year: int) -> datetime:
    """First day of the Hebrew year that begins in the Gregorian year."""
    hebrew = year + 3761
    before, here, after = (_hebrew_elapsed(hebrew + step) for step in (-1, 0, 1))
    correction = 2 if after - here == 356 else 1 if here - before == 382 else 0
    return datetime.fromordinal(here + correction - 1373427)


def passover(year: int) -> datetime:
    """15 Nisan in the Gregorian year."""
    return rosh_hashanah(year) - timedelta(days=163)


def hanukkah(year: int) -> datetime:
    """25 Kislev of the Hebrew year that begins in the Gregorian year."""
    start = rosh_hashanah(year)
    complete = (rosh_hashanah(year + 1) - start).days % 10 == 5
    return start + timedelta(days=84 if complete else 83)


def diwali(year: int) -> datetime:
    """The evening before the new moon of late October or November, by Indian time."""
    moon = new_moon(_lunation_near(datetime(year, 11, 1)))
    return midnight(moon - timedelta(hours=12, minutes=30))


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FEASTS = {
    "easter": easter, "orthodox_easter": orthodox_easter, "chinese_new_year": chinese_new_year,
    "rosh_hashanah": rosh_hashanah, "passover": passover, "hanukkah": hanukkah, "diwali": diwali,
}  # fmt: skip


@lru_cache(maxsize=4096)
def holiday_date(rule: str, year: int) -> datetime | None:
    """The day a holiday falls on in a year, None when that year has none.

    Rules: "12-25", "4 thu 11" (nth weekday of a month), "islamic 10 1" or a feast's name, each with "+1" or "-2" days.
    """
    words = rule.split()
    shift = int(words.pop()) if words[-1][0] in "+-" and len(words) > 1 else 0
    day = _base_date(words, year)
    return None if day is None else day + DAY * shift


def _base_date(words: list[str], year: int) -> datetime | None:
    if words[0] in _FEASTS:
        return _FEASTS[words[0]](year)
    if words[0] == "islamic":
        return islamic_day(year, int(words[1]), int(words[2]))
    if len(words) == 3:
        return nth_weekday(year, int(words[2]), _WEEKDAYS.index(words[1]), int(words[0]))
    month, day = words[0].split("-")
    return datetime(year, int(month), int(day))
