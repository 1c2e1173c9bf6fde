"""When what a text tells happened or is to happen: which of its dates counts, and which reading of it is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from perdure.dates.calendar import DAY, WEEK, add_months, aware
from perdure.dates.direction import Direction, Sign, sign_of
from perdure.dates.lexicon import word_set
from perdure.dates.mentions import TIME_LEADS, Mention, mention_of, tells_time
from perdure.dates.model import DateOptions, DateSpan, DateValue, DateWindow
from perdure.dates.reader import read_in_language
from perdure.dates.verbatim import Passage, is_reported, passage_at, verbatim_passages

_KINDS = word_set("date range datetime datetimerange")
_TIMED = word_set("datetime datetimerange")
_LENGTH = re.compile(
    r"(?i)in\s.*\b(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?)$"
)
_LATER = re.compile(r"(?i)\b(?:later|after|afterwards)$")
_DEICTIC = re.compile(r"(?i)\b(?:today|tomorrow|yesterday|tonight|ago|last|next|this|now|in)\b")
_SEASON_WORDS = word_set("spring summer autumn fall winter")
_EDGE = re.compile(r"(?i)(?:the\s+)?(end|close|beginning|start)\s+of\b")
_DAY_NAME = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_JOIN = r"\s*(?:to|through|thru|till|until|-|–|and)\s*"
_WEEKDAY_RANGE = re.compile(rf"(?i)(?:from |between )?{_DAY_NAME}{_JOIN}{_DAY_NAME}$")
_WORKING_WEEK = re.compile(rf"(?i)(?:from |between )?mon(?:day)?s?{_JOIN}(?:fri|sat|sun)\w*$")
_WEEKEND = re.compile(r"(?i)(?:(?:the|el|le) )?(?:weekend|week-end|wochenende|fin de semana|finde)$")
_HABITUAL = re.compile(
    r"(?i)\b(?:usually|normally|typically|generally|always|often|mostly|sometimes|rarely|whenever)\b[^.!?;,]*$"
)
_MID_MONTH = 15


@dataclass(frozen=True, slots=True)
class StatedTime:
    """When something happened or is to happen, as far as a text says.

    `planned`: it was still ahead when it was said. `sure` is False where no word tells which of several dates is meant;
    then it is the nearest one.
    """

    window: DateWindow
    planned: bool
    sure: bool
    span: DateSpan
    language: str


def stated_time(text: str, reference: datetime, *, options: DateOptions = DateOptions()) -> StatedTime | None:
    """The first date of a text that tells when its statement happened or is to happen; None where it has none."""
    return next(stated_times(text, reference, options=options), None)


def stated_times(
    text: str, reference: datetime, *, options: DateOptions = DateOptions(), quotations: bool = True
) -> Iterator[StatedTime]:
    """All dates of a text that tell when something happened or is to happen.

    Dates in quotation marks count where the quotation is reported as news and `quotations` says so; those in code never.
    """
    now = aware(reference)
    language, read = read_in_language(text, now, "past", options)
    spans = [span for span in read if span.window is not None and span.kind in _KINDS]
    spans = [span for span in spans if span.timex not in ("PRESENT_REF", "FUTURE_REF")]
    passages = verbatim_passages(text) if spans else []
    for span in spans:
        passage = passage_at(passages, span.start)
        if passage is not None and not (quotations and _is_news(text, span, passage)):
            continue
        mention = mention_of(text, span)
        stated = _stated(text, mention, now, language) if tells_time(mention, language) else None
        if stated is not None:
            yield stated


def _is_news(text: str, span: DateSpan, passage: Passage) -> bool:
    absolute = _DEICTIC.search(span.text) is None and not span.timex.startswith("XXXX-W")
    return passage.quotation and is_reported(text, passage, absolute)


def _stated(text: str, mention: Mention, now: datetime, language: str) -> StatedTime | None:
    """The reading that is meant; None where the clause makes a length or a habit of the date."""
    span = mention.span
    sign = sign_of(text, span.start, span.end, language)
    if _LATER.search(span.text) and (sign is None or sign.tense != "future"):
        return None
    if _LENGTH.match(span.text) and (sign is not None and sign.tense in ("past", "ability")):
        return None
    choices = _by_day(span)
    if language == "en" and _is_general(mention, sign, len(choices) > 1):
        return None
    if _WEEKEND.match(span.text) or (len(choices) == 1 and _WEEKDAY_RANGE.match(span.text)):
        choices = [[_moved(choices[0][0], by)] for by in (-WEEK, timedelta(0), WEEK)]
    if len(choices) > 1:
        direction = _direction(span, sign)
        value = _chosen(choices, direction or _nearest_direction(choices, now), span, now)
        sure = direction is not None
    else:
        value, sure = _clock_value(choices[0], sign, now), True
    window = _narrowed(span, value)
    return StatedTime(window, _is_ahead(window, sign, now), sure, span, language)


def _is_general(mention: Mention, sign: Sign | None, undecided: bool) -> bool:
    """Whether a date stands for every such day: "I usually shop on Saturday", "open Monday to Friday", "hot in summer"."""
    span, present = mention.span, sign is None or sign.tense == "present"
    if present and _WORKING_WEEK.match(span.text):
        return True
    if not undecided:
        return False
    if _HABITUAL.search(mention.before) and (present or (sign is not None and sign.tense == "past")):
        return True
    if span.precision == "season" and span.text.lower().removeprefix("the ") in _SEASON_WORDS:
        return present or mention.previous not in TIME_LEADS
    return False


def _by_day(span: DateSpan) -> list[list[DateValue]]:
    """The readings of a span by their day, in time; readings of one day differ in the half of the day."""
    days: dict[object, list[DateValue]] = {}
    for value in span.values:
        edge = value.window.start or value.window.end
        days.setdefault(edge.date() if edge is not None else None, []).append(value)
    return sorted(days.values(), key=lambda values: _edge(values[0].window))


def _edge(window: DateWindow) -> datetime:
    edge = window.start if window.start is not None else window.end
    assert edge is not None
    return edge


def _direction(span: DateSpan, sign: Sign | None) -> Direction | None:
    """What the clause says, else what the date's own bound does: "since" looks back, "until" ahead."""
    word = span.text.split(maxsplit=1)[0].lower()
    if word in ("since", "seit", "desde", "depuis"):
        return "past"
    if sign is not None:
        return sign.direction
    return "future" if span.modifier in ("before", "until") else None


def _nearest_direction(choices: list[list[DateValue]], now: datetime) -> Direction:
    """The side of the reading with the shorter distance."""
    first, last = choices[0][0].window, choices[-1][0].window
    since = now - (first.end if first.end is not None and first.end <= now else _edge(first))
    return "past" if since <= _edge(last) - now else "future"


def _chosen(choices: list[list[DateValue]], direction: Direction, span: DateSpan, now: datetime) -> DateValue:
    """The reading on a side of now, nearest to it; a weekday's name does not mean today."""
    if direction == "past":
        begun = [values for values in choices if _edge(values[0].window) <= now]
        begun = [values for values in begun if _is_over(values[0].window, now)] or begun
        value = (begun[-1] if begun else choices[0])[0]
    else:
        coming = [values for values in choices if (values[0].window.end or _edge(values[0].window)) > now]
        if _WEEKDAY_RANGE.match(span.text):
            coming = [values for values in coming if _edge(values[0].window) > now] or coming
        value = (coming[0] if coming else choices[-1])[0]
    if span.timex.startswith("XXXX-WXX-") and _edge(value.window).date() == now.date():
        return _moved(value, -WEEK if direction == "past" else WEEK)
    return value


def _is_over(window: DateWindow, now: datetime) -> bool:
    return window.end is None or window.end <= now


def _moved(value: DateValue, by: timedelta) -> DateValue:
    edges = (value.start, value.end, value.window.start, value.window.end)
    start, end, low, high = (None if edge is None else edge + by for edge in edges)
    return DateValue(start, end, DateWindow(low, high))


def _clock_value(values: list[DateValue], sign: Sign | None, now: datetime) -> DateValue:
    """The time of day as it was said; its other half only where the first is over and the clause looks ahead."""
    ahead = sign is not None and sign.direction == "future"
    if ahead and _edge(values[0].window).date() == now.date():
        return next((value for value in values if _edge(value.window) > now), values[0])
    return values[0]


def _narrowed(span: DateSpan, value: DateValue) -> DateWindow:
    """The window as a statement means it: a week ago is a day, the end of a month its last day."""
    window = value.window
    if span.kind == "date" and span.precision == "week" and value.start is not None:
        return DateWindow(value.start, value.start + DAY)
    if window.start is None or window.end is None or span.kind in _TIMED:
        return window
    edge = _EDGE.match(span.text)
    if edge is not None and span.precision in ("month", "year", "week", "quarter"):
        last = edge.group(1).lower() in ("end", "close")
        return (
            DateWindow(window.end - DAY, window.end) if last else DateWindow(window.start, window.start + DAY)
        )
    if span.precision == "month" and span.modifier == "mid":
        middle = window.start.replace(day=_MID_MONTH)
        return DateWindow(middle, middle + DAY)
    if span.precision == "year" and span.modifier == "start":
        return DateWindow(window.start, add_months(window.start, 3))
    if span.precision == "year" and span.modifier == "end":
        return DateWindow(add_months(window.end, -3), window.end)
    return window


def _is_ahead(window: DateWindow, sign: Sign | None, now: datetime) -> bool:
    """Whether a window is still to come, or runs and the clause looks ahead."""
    if window.start is not None and window.start > now:
        return True
    if window.end is not None and window.end <= now:
        return False
    if window.start is None:
        return sign is None or sign.direction == "future"
    return window.end is not None and sign is not None and sign.tense == "future"
