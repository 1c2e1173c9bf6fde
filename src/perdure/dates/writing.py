"""Writes dates out: windows in words, and sentences with their relative dates made absolute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import cache
from typing import Protocol

from perdure.dates.calendar import DAY, WEEK, aware, midnight
from perdure.dates.lexicon import english, word_set
from perdure.dates.model import DateOptions, DateSpan, DateWindow, Prefer
from perdure.dates.reader import is_english, may_be_dated, read_text

_MONTHS = "January February March April May June July August September October November December".split()
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
_QUARTERS = {1: "first", 4: "second", 7: "third", 10: "fourth"}
_KINDS = word_set("date range datetime datetimerange")


_FUTURE = re.compile(
    r"(?i)\b(?:will|shall|won't|gonna|going to|plan(?:s|ning)? (?:to|on)|hop(?:e|es|ing) to|want(?:s)? to|about to|scheduled|upcoming"
    r"|starts?|begins?|ha(?:s|ve) to|needs? to|must|due|deadline|let's|let’s|remind|looking forward|can't wait|can’t wait"
    r"|ends|expires?|opens|closes|departs|arrives|(?:leaves|flies) (?:on|in|at|for|to)|next (?:visit|appointment|meeting|session)"
    r"|ha(?:s|ve) an? (?:\w+ ){0,2}(?:appointment|meeting|interview|exam|flight|reservation))\b|'ll\b|’ll\b"
    r"|(?:\b(?:am|is|are)|['’](?:m|s|re)) (?:not )?(?:coming|flying|leaving|moving|travell?ing|visiting|arriving|returning)\b"
)
_FUTURE_BEFORE = re.compile(
    r"(?i)(?:\b(?:is|are) (?:on|in)|\b(?:moved|postponed|rescheduled|pushed|delayed|set|planned|booked) (?:to|for|until)"
    r"|\b(?:book(?:ed)?|reserved?|reservation|schedule|appointment|tickets?|invited)\b[^.!?]{0,60} for)\s+(?:the\s+)?$"
)
"""Words before a date that is still to come: "is on 5 December", "moved to Friday"."""
_EVERY_YEAR = re.compile(r"(?i)\b(?:birthday|anniversary|name day) (?:is|falls) (?:on |in )?(?:the )?$")
_HABIT = re.compile(
    r"(?i)\b(?:usually|normally|typically|generally|always|often|mostly)\s+(?:(?:on|in|during|around|over)\s+)?$"
)
_WITHIN = re.compile(
    r"(?i)in\s.*\b(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)$"
)
_DONE_BEFORE = re.compile(
    r"(?i)\b(?:\w{2,}ed|ran|went|did|made|took|wrote|got|read|lost|won|built|sold|found|came|drove|flew|swam|grew|sent)"
    r"(?:\s+(?!(?:is|are|be|will|would|to)\b)[^\s.!?;,]+){0,5}\s+$"
)
_LIMIT = re.compile(r"(?i)(?:by|before|until|till)\s")
_PAST_SIGN = re.compile(
    r"(?i)\b(?:\w{2,}ed|was|were|had|did|didn['’]t|wasn['’]t|ran|went|made|took|wrote|got|slept|kept|built|spent|came|stood|sat|lay)\b"
)
_SHARE = re.compile(
    r"(?i)\b(?:attempt|step|page|part|chapter|scored?|rated|rating|round|stage|task|retry|phase)\s+$"
)
_FRACTION = re.compile(r"\d{1,2}/\d{1,2}$")
_NO_YEAR = re.compile(r"XXXX-\d\d")
_MOVED = re.compile(
    r"(?i)\b(?:moved?|moving|shift(?:ed)?|change[ds]?|postponed|rescheduled|pushed|switched|brought forward)\s+$"
)
_SENTENCE_END = re.compile(r"[.!?\n]+\s")
_WORD_BEFORE = re.compile(r"([^\s\"“(\[]+)\s+$")
_OPENS = re.compile(r"(?:^|[.!?:\n…]['\"”’)]*\s+|[\"“(\[*]\s*)$")
_NARRATIVE = re.compile(
    r"(?i)(?:the\s+)?(?:next|following|previous|same|other|day|that)\b.*\bday\b|(?:the\s+)?day\s+(?:before|after)$|the\s+day$|(?:that|same)\b"
)
_BOUND = re.compile(
    r"(?i)(?:before|after|since|until|till|by|prior to|around|about|circa|no later than|earlier than|later than|starting(?: (?:on|from))?|as of|up to|following)\s+"
)
_PREPOSITIONS = word_set(
    "on in at by from since until till before after of for during between to around about over through within than starting beginning for and or"
)
_WRONG_FOR_DAY = word_set("in at during over within")
_VERB_AFTER = re.compile(
    r"(?i)\s+(?:is|was|were|will|has|had|would|isn't|wasn't|won't|seems|felt|went|turned|became)\b"
)
_SPOKEN_YEAR = re.compile(r"(?i)\b(?:1[0-9]|20|21)\d\d\b|\d[/.-]\d+[/.-]\d\d|(?:teen|twenty)\s+\w+ty")
_RELATIVE_WORD = re.compile(
    r"(?i)\b(?:last|past|previous|next|this|coming|following|upcoming|ago|later|from|before|after|today|now)\b"
)
_POSSESSIVE = re.compile(r"(?i)['’]s\b")
_SEASON_NAMES = ("spring", "summer", "autumn", "fall", "winter")
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_FUNCTION_WORDS = word_set(
    "i we he she they you it the a an my our his her their this that at in on for with to from and or but so when while because as if by "
    "was is were will had has have did after before until during about around around there then who which where morning afternoon evening night"
)
_ON = re.compile(r"^on (?:on |in |over )?")


class Bounds(Protocol):
    """Anything with a start and an end; None means open."""

    @property
    def start(self) -> datetime | None: ...

    @property
    def end(self) -> datetime | None: ...


def describe_window(window: Bounds) -> str:
    """A window as an adverbial of time: "in June 2024", "on 7 May 2023", "between 3 and 9 May 2023"."""
    start, end = window.start, window.end
    if start is None:
        return "at some time" if end is None else f"before {_moment(end)}"
    if end is None:
        return f"since {_moment(start)}"
    if start == midnight(start) and end == midnight(end) and end > start:
        return _describe_days(start, end)
    return _describe_times(start, end)


def _month(moment: datetime) -> str:
    return f"{_MONTHS[moment.month - 1]} {moment.year}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {_month(moment)}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M}" if not moment.second else f"{moment:%H:%M:%S}"


def _moment(moment: datetime) -> str:
    """A moment as short as it can be said: "2022", "June 2024", "7 May 2023", "7 May 2023 17:00"."""
    if moment != midnight(moment):
        return f"{_day(moment)} {_clock(moment)}"
    if moment.day > 1:
        return _day(moment)
    return _month(moment) if moment.month > 1 else str(moment.year)


def _describe_days(start: datetime, end: datetime) -> str:
    last = end - DAY
    if start.day != 1 or end.day != 1:
        return f"on {_day(start)}" if last <= start else f"between {_pair(start, last, _day)}"
    if start.month == end.month == 1:
        return _describe_years(start.year, end.year - 1)
    months = (end.year - start.year) * 12 + end.month - start.month
    return f"in {_month(start)}" if months == 1 else f"between {_pair(start, last, _month)}"


def _pair(first: datetime, last: datetime, write: Callable[[datetime], str]) -> str:
    """Two days or months, without the month and the year that they share: "3 and 9 May 2023"."""
    early, late = write(first).split(), write(last).split()
    while early and late and early[-1] == late[-1]:
        early.pop()
        late.pop()
    return f"{' '.join(early)} and {write(last)}"


def _describe_years(first: int, last: int) -> str:
    if first == last:
        return f"in {first}"
    return f"in the {first}s" if last - first == 9 and first % 10 == 0 else f"between {first} and {last}"


def _describe_times(start: datetime, end: datetime) -> str:
    if end - start <= timedelta(hours=1):
        return f"on {_day(start)} at {_clock(start)}"
    ends_day = end == midnight(end) and end.date() - start.date() == DAY
    if start.date() == end.date() or ends_day:
        return f"on {_day(start)} between {_clock(start)} and {'24:00' if ends_day else _clock(end)}"
    return f"between {_day(start)} {_clock(start)} and {_day(end)} {_clock(end)}"


def make_absolute(
    text: str, reference: datetime, *, options: DateOptions = DateOptions(), leaning: Prefer = "past"
) -> str:
    """The text with relative and incomplete dates written out; vague words, durations and full dates stay.

    Sentences that speak of the future are read toward it, with `leaning` "future" all are.
    """
    if not may_be_dated(text) or not is_english(text):
        return text
    pieces: list[str] = []
    position = 0
    for span in _spans(text, aware(reference), options, leaning):
        change = _replacement(text, span, aware(reference), options)
        if change is not None and change[0] >= position:
            start, end, written = change
            pieces += [text[position:start], written]
            position = end
    return "".join([*pieces, text[position:]])


def occurred_window(
    text: str, reference: datetime, *, options: DateOptions = DateOptions()
) -> DateWindow | None:
    """When what the text tells happened: its first past date or range, None where it names none."""
    now = aware(reference)
    ended: DateWindow | None = None
    for span in _spans(text, now, options):
        window = span.window
        if window is None or not _is_dated(text, span):
            continue
        if window.start is not None and window.start <= now:
            return window
        if ended is None and window.start is None and window.end is not None and window.end <= now:
            ended = window
    return ended


def _is_dated(text: str, span: DateSpan) -> bool:
    """Whether a span tells when something was: no time of day, no "now", no "Christmas tree"."""
    if span.kind not in _KINDS or span.timex in ("PRESENT_REF", "FUTURE_REF") or _is_narrative(span):
        return False
    if _is_yearly(text, span) or _is_move(text, span) or _is_time_taken(text, span):
        return False
    if _FRACTION.match(span.text) and _SHARE.search(text, 0, span.start):
        return False
    return len(span.values) < 2 or not _is_attribute(text, span)


def _is_narrative(span: DateSpan) -> bool:
    """Whether a span counts from the story and not from the time of speaking: "the next day", "that weekend"."""
    return span.modifier == "ref_undef" or _NARRATIVE.match(span.text) is not None


def _is_yearly(text: str, span: DateSpan) -> bool:
    """Whether a date comes back: "my birthday is on 4 May" and "usually in August" are of no year."""
    if len(span.values) > 1 and _HABIT.search(text, 0, span.start):
        return True
    return _NO_YEAR.match(span.timex) is not None and _EVERY_YEAR.search(text, 0, span.start) is not None


def _is_move(text: str, span: DateSpan) -> bool:
    """Whether a range is none: "moved from Monday to Wednesday" names two days and no time between."""
    return span.text[:5].lower() == "from " and _MOVED.search(text, 0, span.start) is not None


def _is_time_taken(text: str, span: DateSpan) -> bool:
    """Whether "in 55 minutes" tells how long something took: "ran 10 km in 55 minutes"."""
    return _WITHIN.match(span.text) is not None and _DONE_BEFORE.search(text, 0, span.start) is not None


def _is_attribute(text: str, span: DateSpan) -> bool:
    """Whether a date without a preposition only describes the noun behind it, or a table's row: "Monday blues"."""
    spaced = text[: span.start][-1:].isspace()
    before = text[: span.start].rsplit(maxsplit=1)[-1:] if spaced else []
    if before and before[0].lower() in _PREPOSITIONS:
        return False
    if before and before[0].endswith("|"):
        return True
    after = _NEXT_WORD.match(text, span.end)
    return after is not None and after.group(1).lower() not in _FUNCTION_WORDS


def _spans(text: str, reference: datetime, options: DateOptions, leaning: Prefer = "past") -> list[DateSpan]:
    """Spans read toward the future in sentences that speak of it, else as they lean."""
    spans = read_text(text, reference, leaning, options)
    future = [leaning == "past" and _leans(text, span) == "future" for span in spans]
    if not any(future):
        return spans
    later = read_text(text, reference, "future", options)
    return [late if coming else early for early, late, coming in zip(spans, later, future, strict=True)]


def _leans(text: str, span: DateSpan) -> Prefer:
    """Whether the sentence speaks of the past or the future."""
    begin = max((end.end() for end in _SENTENCE_END.finditer(text, 0, span.start)), default=0)
    finish = _SENTENCE_END.search(text, span.end)
    sentence = text[begin : finish.start() if finish else len(text)]
    if _FUTURE.search(sentence) or _FUTURE_BEFORE.search(text, begin, span.start):
        return "future"
    return "future" if _LIMIT.match(span.text) and not _PAST_SIGN.search(sentence) else "past"


def _replacement(
    text: str, span: DateSpan, reference: datetime, options: DateOptions
) -> tuple[int, int, str] | None:
    """Where a span is written anew, and the words; None where it stays as it is."""
    if span.window is None or not _is_dated(text, span) or span.text.lower() in _SEASON_NAMES:
        return None
    if _SPOKEN_YEAR.search(span.text) and not _RELATIVE_WORD.search(span.text):
        return None
    bound = _BOUND.match(span.text)
    if bound is not None and span.modifier is not None:
        inner = "on " + span.text[bound.end() :]
        inner = make_absolute(inner, reference, options=options, leaning=_leans(text, span))
        return span.start, span.end, bound.group() + _ON.sub("", inner)
    if span.modifier in ("ref_undef", "more_than", "less_than", "before", "after", "since", "until"):
        return None
    if (phrase := _phrase(span)) is None:
        return None
    if _feasts().search(span.text.replace("’", "'")):
        dated = _RELATIVE_WORD.search(span.text)
        return (span.start, span.end, f"{span.text} ({phrase[1]})") if dated else None
    return _placed(text, span, *phrase)


@cache
def _feasts() -> re.Pattern[str]:
    """Names of feasts: they say more than their date and are kept."""
    names = {words for entries in english().holidays.values() for words, _ in entries}
    worded = sorted((r"\s?".join(map(re.escape, words)) for words in names), key=len, reverse=True)
    return re.compile(rf"(?i)\b(?:{'|'.join(worded)})\b")


def _phrase(span: DateSpan) -> tuple[str, str] | None:
    """The preposition and the words for a span."""
    assert span.window is not None
    start, end = span.window.start, span.window.end
    if start is None or end is None:
        return None
    if span.kind in ("datetime", "datetimerange"):
        return _timed_phrase(span, start, end)
    if span.precision == "day" and end - start <= DAY:
        return "on", _day(start)
    if span.precision == "week" and end - start == WEEK:
        return "in", f"the week of {_day(start)}"
    if span.precision == "weekend":
        return "over", f"the weekend of {_day(start)}"
    if span.precision == "season" and start.month in _SEASONS and span.modifier is None:
        years = str(start.year) if start.month != 12 else f"{start.year}/{(start.year + 1) % 100:02}"
        return "in", f"{_said(span, _SEASON_NAMES) or _SEASONS[start.month]} {years}"
    if span.precision == "quarter" and start.month in _QUARTERS and (end - start).days < 93:
        return "in", f"the {_QUARTERS[start.month]} quarter of {start.year}"
    preposition, _, words = describe_window(span.window).partition(" ")
    return preposition, words


def _said(span: DateSpan, names: Iterable[str]) -> str | None:
    """The first of some names that a span contains."""
    return next((name for name in names if name in span.text.lower()), None)


def _timed_phrase(span: DateSpan, start: datetime, end: datetime) -> tuple[str, str] | None:
    if span.precision == "part_of_day":
        name = _said(span, ("morning", "afternoon", "evening", "night", "lunchtime"))
        return None if name is None else ("on", f"the {name} of {_day(start)}")
    if span.kind == "datetime" and span.precision in ("hour", "minute", "second"):
        return "on", f"{_day(start)} at {_said_clock(span, start)}"
    if span.kind == "datetimerange" and start.date() == end.date() and len(span.values) == 1:
        return "on", f"{_day(start)} from {_clock(start)} to {_clock(end)}"
    return None


def _said_clock(span: DateSpan, moment: datetime) -> str:
    """The hour as it was said where morning and evening are both possible."""
    hours = {value.start and value.start.hour for value in span.values}
    if len(hours) > 1 and moment.hour % 12:
        return f"{moment.hour % 12}" + (f":{moment.minute:02}" if moment.minute else "")
    return _clock(moment)


def _placed(text: str, span: DateSpan, preposition: str, words: str) -> tuple[int, int, str]:
    """Where the words go, and with which preposition, so that the sentence stays grammatical."""
    start, (before, previous) = span.start, _word_before(text, span.start)
    if previous.lower() == "the":
        start, (before, previous) = before, _word_before(text, before)
    first = text[start].isupper() and _OPENS.search(text, 0, start) is not None
    word = previous.lower()
    if word in _PREPOSITIONS:
        if word == preposition or not (
            word in _WRONG_FOR_DAY or (word in ("on", "for") and preposition == "between")
        ):
            return start, span.end, words
        return before, span.end, f"{_cased(previous[0].isupper(), preposition)} {words}"
    opens = word == "" or word[-1] in ".,!?;:" or word in ("that", "because", "but")
    # "Last week was great": a sentence's subject takes no preposition, nor does "last week's".
    if (opens and _VERB_AFTER.match(text, span.end)) or _POSSESSIVE.match(text, span.end):
        return start, span.end, _cased(first, words)
    return start, span.end, f"{_cased(first, preposition)} {words}"


def _word_before(text: str, end: int) -> tuple[int, str]:
    """Where the word before an index begins, and the word; empty where none stands before white space."""
    match = _WORD_BEFORE.search(text, 0, end)
    return (match.start(1), match.group(1)) if match else (end, "")


def _cased(capital: bool, words: str) -> str:
    return words[0].upper() + words[1:] if capital else words
