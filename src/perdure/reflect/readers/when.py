"""When: the stored time of a fact, in the words of a calendar, and the speaker's own words beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from perdure.dates import describe_window
from perdure.domain.fact import Fact
from perdure.domain.time import Window
from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import Place, Reading, places

_DAY = timedelta(days=1)
_LEAST_COVERAGE = 0.34
_NEAR = 2.5
"""How far below the best sentence one may stand that has a time where the best has none."""
_RELATIVE = re.compile(
    r"\b(?:last|this past|past|the previous)\s+(?P<unit>week(?:end)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_AGO = re.compile(
    r"\b(?:(?:about|around|almost|nearly|over|roughly) )?(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a few|a couple of|several|\d+) "
    r"(?:minute|hour|day|week|month|year|decade)s? (?:ago|back)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"^(?:on|in|between|at) ")
_MONTHS = "January February March April May June July August September October November December".split()


def read_when(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The time of the best sentence whose fact has one; when it was said, where no fact near it tells more."""
    ranked = [place for place in places(asked, passages) if not place.sentence.is_question]
    if not ranked:
        return None
    best = ranked[0]
    dated = [
        place
        for place in ranked
        if place.score >= best.score - _NEAR
        and place.passage.about is not About.OTHER
        and place.coverage >= _LEAST_COVERAGE
        and stated_time(place.passage.fact) is not None
    ]
    if dated:
        place = _first_or_last(asked, dated)
        return Reading(answer=time_in_words(asked, place), passages=(place.passage,), reader="when")
    said = best.passage.fact.mentioned_at
    if said is None or best.coverage < _LEAST_COVERAGE:
        return None
    note = "no fact tells when it happened; this is when it was said"
    return Reading(answer=f"said on {day_in_words(said)}", passages=(best.passage,), reader="when", note=note)


def _first_or_last(asked: Asked, dated: Sequence[Place]) -> Place:
    if not (asked.first or asked.last):
        return dated[0]
    best = max(place.coverage for place in dated)
    equal = [place for place in dated if place.coverage >= best]
    moment = {id(place): place.passage.fact.likely_dated for place in equal}
    with_moment = [place for place in equal if moment[id(place)] is not None]
    return sorted(with_moment, key=lambda place: moment[id(place)] or datetime.max)[0 if asked.first else -1]


def stated_time(fact: Fact) -> Window | None:
    """When a fact surely happened, None where its words leave that open."""
    return None if fact.has_unsure_date else fact.occurred


def day_in_words(moment: datetime) -> str:
    """7 May 2023."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def window_in_words(window: Window) -> str:
    """A window without its preposition: "7 May 2023", "June 2023", "29 May and 4 June 2023" becomes "29 May to 4 June 2023"."""
    words = describe_window(window)
    if words.startswith("between "):
        return words.removeprefix("between ").replace(" and ", " to ", 1)
    return _ADVERB.sub("", words)


def time_in_words(asked: Asked, place: Place) -> str:
    """The stored time as it is asked for: a year, a month, or as exact as it is known."""
    fact = place.passage.fact
    window = stated_time(fact) or Window()
    start, end = window.start or window.end, window.end or window.start
    if start is None or end is None:
        raise ValueError("time_in_words: a fact with a sure time is needed")
    if asked.unit.endswith(" ago") or asked.text.lower().startswith("how long ago"):
        ago = _AGO.search(place.sentence.text)
        return ago[0] if ago is not None else distance(asked, start)
    if asked.unit == "year" and start.year == (end - timedelta(microseconds=1)).year:
        return str(start.year)
    if asked.unit == "month" and (start.year, start.month) == _month_of_last(end):
        return f"{_MONTHS[start.month - 1]} {start.year}"
    if asked.unit == "weekday" and end - start <= _DAY:
        return f"{start:%A}"
    words = window_in_words(window)
    relative = _RELATIVE.search(place.sentence.text)
    if relative is not None and fact.mentioned_at is not None and end <= fact.mentioned_at:
        unit = relative["unit"].lower()
        unit = unit.capitalize() if unit.endswith("day") and not unit.startswith("week") else unit
        return f"{words}, the {unit} before {day_in_words(fact.mentioned_at)}"
    return words


def _month_of_last(end: datetime) -> tuple[int, int]:
    last = end - timedelta(microseconds=1)
    return last.year, last.month


def distance(asked: Asked, moment: datetime) -> str:
    """How long before the question a moment was, in the unit asked for."""
    days = max((asked.asked_at - moment) / _DAY, 0.0) if asked.asked_at is not None else 0.0
    unit = asked.unit.removesuffix(" ago").rstrip("s") or _unit_for(days)
    number = round(days / _DAYS_OF.get(unit, 1.0))
    return f"{number} {unit}{'' if number == 1 else 's'} ago"


_DAYS_OF = {
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": 30.44,
    "year": 365.25,
    "decade": 3652.5,
}


def _unit_for(days: float) -> str:
    return next(
        (unit for unit, length in (("year", 700.0), ("month", 60.0), ("week", 20.0)) if days >= length), "day"
    )
