"""Calendar arithmetic on naive local datetimes; dates outside years 1 to 9999 raise ValueError or OverflowError."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
UNIT_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}


def aware(value: datetime) -> datetime:
    """The same instant with a time zone; a naive value is taken as UTC."""
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def midnight(moment: datetime) -> datetime:
    """The beginning of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def is_date(year: int, month: int, day: int) -> bool:
    """Whether the three numbers name a day of the calendar."""
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days_in_month(year, month)


def add_months(moment: datetime, months: int) -> datetime:
    """The same day `months` later, the last day of the month where that day is missing."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, days_in_month(year, month + 1)))


def month_start(moment: datetime) -> datetime:
    """The first day of the moment's month."""
    return midnight(moment).replace(day=1)


def week_start(moment: datetime) -> datetime:
    """The Monday of the moment's week."""
    return midnight(moment) - DAY * moment.weekday()


def unit_start(unit: str, moment: datetime) -> datetime:
    """The beginning of the week, weekend, month, quarter, ... that contains the moment."""
    if unit in ("week", "fortnight"):
        return week_start(moment)
    if unit == "weekend":
        return week_start(moment) + 5 * DAY
    months = UNIT_MONTHS[unit]
    if months < 12:
        return midnight(moment).replace(month=(moment.month - 1) // months * months + 1, day=1)
    first = moment.year // (months // 12) * (months // 12)
    return datetime(max(1, first) if unit == "century" else first, 1, 1)


def unit_bounds(unit: str, moment: datetime, steps: int, length: int = 1) -> tuple[datetime, datetime]:
    """Bounds of `length` units, beginning `steps` units from the one that contains the moment."""
    start = unit_start(unit, moment)
    if unit in UNIT_MONTHS:
        start = add_months(start, steps * UNIT_MONTHS[unit])
        return start, add_months(start, length * UNIT_MONTHS[unit])
    if unit == "weekend":
        start += WEEK * steps
        return start, start + 2 * DAY + WEEK * (length - 1)
    size = 2 * WEEK if unit == "fortnight" else WEEK
    start += size * steps
    return start, start + size * length


def season_bounds(season: str, year: int, southern: bool) -> tuple[datetime, datetime]:
    """Bounds of a meteorological season; a winter (or southern summer) is named after the year it begins in."""
    first = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}[season]
    if southern:
        first = (first + 5) % 12 + 1
    start = datetime(year, first, 1)
    return start, add_months(start, 3)


def weeks_in_year(year: int) -> int:
    """52 or 53 by ISO 8601."""
    return date(year, 12, 28).isocalendar().week


def first_week(month: datetime) -> datetime:
    """The Monday of the first week that has most of its days in the month that begins on a day."""
    return week_start(month) + WEEK * (month.weekday() > 3)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> datetime | None:
    """The nth given weekday of a month, -1 for the last; None when there are fewer."""
    if nth < 0:
        last = datetime(year, month, days_in_month(year, month))
        return last - DAY * ((last.weekday() - weekday) % 7) + WEEK * (nth + 1)
    first = datetime(year, month, 1)
    day = first + DAY * ((weekday - first.weekday()) % 7) + WEEK * (nth - 1)
    return day if day.month == month else None


def add_business_days(moment: datetime, count: int) -> datetime:
    """The day `count` working days (Monday to Friday) away."""
    step = 1 if count > 0 else -1
    weeks, rest = divmod(abs(count), 5)
    day = moment + WEEK * weeks * step
    while rest or day.weekday() > 4:
        day += DAY * step
        if day.weekday() <= 4 and rest:
            rest -= 1
    return day
