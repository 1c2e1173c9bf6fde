"""Writes dates out: windows in words, and sentences with their relative dates made absolute."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from typing import Protocol

from perdure.dates.calendar import aware
from perdure.dates.lexicon import english, word_set
from perdure.dates.model import DateOptions, DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.reader import is_english, may_be_dated, read_text

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAY = timedelta(days=1)


class Bounds(Protocol):
    """Anything with a start and an end; None means open."""

    @property
    def start(self) -> datetime | None: ...

    @property
    def end(self) -> datetime | None: ...


def month_name(moment: datetime) -> str:
    """The English month."""
    return _MONTHS[moment.month - 1]


def day_text(moment: datetime) -> str:
    """ "7 May 2023"."""
    return f"{moment.day} {month_name(moment)} {moment.year}"


def clock_text(moment: datetime) -> str:
    """ "17:05"."""
    return f"{moment:%H:%M}" if not moment.second else f"{moment:%H:%M:%S}"


def describe_window(window: Bounds) -> str:
    """A window as an adverbial of time, for text that is embedded or shown."""
    start, end = window.start, window.end
    if start is None and end is None:
        return "at some time"
    if start is None:
        assert end is not None
        return f"before {moment_text(end)}"
    if end is None:
        return f"since {moment_text(start)}"
    if _is_midnight(start) and _is_midnight(end) and end > start:
        return _describe_days(start, end)
    return _describe_times(start, end)


def moment_text(moment: datetime) -> str:
    """A moment as short as it can be said: "2022", "June 2024", "7 May 2023", "7 May 2023 17:00"."""
    if not _is_midnight(moment):
        return f"{day_text(moment)} {clock_text(moment)}"
    if moment.day == 1 and moment.month == 1:
        return str(moment.year)
    return f"{month_name(moment)} {moment.year}" if moment.day == 1 else day_text(moment)


def _is_midnight(moment: datetime) -> bool:
    return not (moment.hour or moment.minute or moment.second or moment.microsecond)


def _months_between(start: datetime, end: datetime) -> int | None:
    if start.day != 1 or end.day != 1:
        return None
    return (end.year - start.year) * 12 + end.month - start.month


def _describe_days(start: datetime, end: datetime) -> str:
    months = _months_between(start, end)
    if months is not None and months % 12 == 0 and start.month == 1:
        return _describe_years(start.year, end.year - 1)
    if months == 1:
        return f"in {month_name(start)} {start.year}"
    if months is not None:
        return f"between {_shared_year(start, end - _DAY)}"
    last = end - _DAY
    if last <= start:
        return f"on {day_text(start)}"
    return f"between {_shared_days(start, last)}"


def _describe_years(first: int, last: int) -> str:
    if first == last:
        return f"in {first}"
    if last - first == 9 and first % 10 == 0:
        return f"in the {first}s"
    return f"between {first} and {last}"


def _shared_year(first: datetime, last: datetime) -> str:
    if first.year == last.year:
        return f"{month_name(first)} and {month_name(last)} {last.year}"
    return f"{month_name(first)} {first.year} and {month_name(last)} {last.year}"


def _shared_days(first: datetime, last: datetime) -> str:
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} and {day_text(last)}"
    if first.year == last.year:
        return f"{first.day} {month_name(first)} and {day_text(last)}"
    return f"{day_text(first)} and {day_text(last)}"


def _describe_times(start: datetime, end: datetime) -> str:
    if end - start <= timedelta(hours=1):
        return f"on {day_text(start)} at {clock_text(start)}"
    midnight_end = start.date() + _DAY == end.date() and _is_midnight(end)
    if start.date() == end.date() or midnight_end:
        return f"on {day_text(start)} between {clock_text(start)} and {'24:00' if midnight_end else clock_text(end)}"
    return f"between {day_text(start)} {clock_text(start)} and {day_text(end)} {clock_text(end)}"


_FUTURE = re.compile(
    r"\b(?:will|shall|won't|gonna|going to|plan(?:s|ning)? (?:to|on)|hop(?:e|es|ing) to|want(?:s)? to|about to|scheduled|upcoming"
    r"|starts?|begins?|ha(?:s|ve) to|needs? to|must|due|deadline|let's|let’s|remind|looking forward|can't wait|can’t wait"
    r"|ends|expires?|opens|closes|departs|arrives|(?:leaves|flies) (?:on|in|at|for|to)|next (?:visit|appointment|meeting|session)"
    r"|ha(?:s|ve) an? (?:\w+ ){0,2}(?:appointment|meeting|interview|exam|flight|reservation))\b|'ll\b|’ll\b"
    r"|(?:\b(?:am|is|are)|['’](?:m|s|re)) (?:not )?(?:coming|flying|leaving|moving|travell?ing|visiting|arriving|returning)\b",
    re.IGNORECASE,
)
_FUTURE_BEFORE = re.compile(
    r"(?:\b(?:is|are) (?:on|in)|\b(?:moved|postponed|rescheduled|pushed|delayed|set|planned|booked) (?:to|for|until)"
    r"|\b(?:book(?:ed)?|reserved?|reservation|schedule|appointment|tickets?|invited)\b[^.!?]{0,60} for)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""Words before a date that is still to come: "is on 5 December", "moved to Friday"."""
_EVERY_YEAR = re.compile(
    r"\b(?:birthday|anniversary|name day) (?:is|falls) (?:on |in )?(?:the )?$", re.IGNORECASE
)
_HABIT = re.compile(
    r"\b(?:usually|normally|typically|generally|always|often|mostly)\s+(?:(?:on|in|during|around|over)\s+)?$",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"in\s.*\b(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)$", re.IGNORECASE
)
_DONE_BEFORE = re.compile(
    r"\b(?:\w{2,}ed|ran|went|did|made|took|wrote|got|read|lost|won|built|sold|found|came|drove|flew|swam|grew|sent)"
    r"(?:\s+(?!(?:is|are|be|will|would|to)\b)[^\s.!?;,]+){0,5}\s+$",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"(?:by|before|until|till)\s", re.IGNORECASE)
_PAST_SIGN = re.compile(
    r"\b(?:\w{2,}ed|was|were|had|did|didn['’]t|wasn['’]t|ran|went|made|took|wrote|got|slept|kept|built|spent|came|stood|sat|lay)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\b(?:attempt|step|page|part|chapter|scored?|rated|rating|round|stage|task|retry|phase)\s+$",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"\d{1,2}/\d{1,2}$")
_NO_YEAR = re.compile(r"XXXX-\d\d")
_MOVED = re.compile(
    r"\b(?:moved?|moving|shift(?:ed)?|change[ds]?|postponed|rescheduled|pushed|switched|brought forward)\s+$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n]+\s")
_WORD_BEFORE = re.compile(r"([^\s\"“(\[]+)\s+$")
_OPENS = re.compile(r"(?:^|[.!?:\n…]['\"”’)]*\s+|[\"“(\[*]\s*)$")
_NARRATIVE = re.compile(
    r"(?:the\s+)?(?:next|following|previous|same|other|day|that)\b.*\bday\b|(?:the\s+)?day\s+(?:before|after)$|the\s+day$|(?:that|same)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:before|after|since|until|till|by|prior to|around|about|circa|no later than|earlier than|later than|starting(?: (?:on|from))?|as of|up to|following)\s+",
    re.IGNORECASE,
)
_PREPOSITIONS = word_set(
    "on in at by from since until till before after of for during between to around about over through within than starting beginning for and or"
)
_WRONG_FOR_DAY = frozenset(("in", "at", "during", "over", "within"))
_VERB_AFTER = re.compile(
    r"\s+(?:is|was|were|will|has|had|would|isn't|wasn't|won't|seems|felt|went|turned|became)\b", re.IGNORECASE
)
_SPOKEN_YEAR = re.compile(
    r"\b(?:1[0-9]|20|21)\d\d\b|\d[/.-]\d+[/.-]\d\d|(?:teen|twenty)\s+\w+ty", re.IGNORECASE
)
_RELATIVE_WORD = re.compile(
    r"\b(?:last|past|previous|next|this|coming|following|upcoming|ago|later|from|before|after|today|now)\b",
    re.IGNORECASE,
)
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_QUARTERS = {1: "first", 4: "second", 7: "third", 10: "fourth"}
_SEASON_NAMES = frozenset(("spring", "summer", "autumn", "fall", "winter"))
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_FUNCTION_WORDS = word_set(
    "i we he she they you it the a an my our his her their this that at in on for with to from and or but so when while because as if by "
    "was is were will had has have did after before until during about around around there then who which where morning afternoon evening night"
)
_KINDS = frozenset(("date", "range", "datetime", "datetimerange"))


def make_absolute(
    text: str, reference: datetime, *, options: DateOptions = DateOptions(), leaning: Prefer = "past"
) -> str:
    """The text with relative and incomplete dates written out; vague words, durations and full dates stay.

    Sentences that speak of the future are read toward it, with `leaning` "future" all are.
    """
    pieces: list[str] = []
    position = 0
    if not may_be_dated(text) or not is_english(text):
        return text
    for span in _spans(text, aware(reference), options, leaning):
        change = _replacement(text, span, aware(reference), options, _leans(text, span))
        if change is None or change[0] < position:
            continue
        start, end, written = change
        pieces += [text[position:start], written]
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def occurred_window(
    text: str, reference: datetime, *, options: DateOptions = DateOptions()
) -> DateWindow | None:
    """When what the text tells happened: its first past date or range, None where it names none."""
    now = aware(reference)
    open_start: DateWindow | None = None
    for span in _spans(text, now, options):
        window = span.window
        if window is None or not _is_dated(text, span):
            continue
        if window.start is not None and window.start <= now:
            return window
        if window.start is None and open_start is None and window.end is not None and window.end <= now:
            open_start = window
    return open_start


def _is_dated(text: str, span: DateSpan) -> bool:
    """Whether a span tells when something was: no time of day, no "now", no "Christmas tree"."""
    if span.kind not in _KINDS or span.timex in ("PRESENT_REF", "FUTURE_REF") or _is_narrative(span):
        return False
    if _is_yearly(text, span) or _is_move(text, span) or _is_time_taken(text, span):
        return False
    if _FRACTION.match(span.text) and _SHARE.search(text, 0, span.start):
        return False
    return len(span.values) < 2 or not _is_attribute(text, span)


def _is_yearly(text: str, span: DateSpan) -> bool:
    """Whether a date comes back: "my birthday is on 4 May" and "usually in August" are of no year."""
    if len(span.values) > 1 and _HABIT.search(text, 0, span.start):
        return True
    return _NO_YEAR.match(span.timex) is not None and _EVERY_YEAR.search(text, 0, span.start) is not None


def _is_time_taken(text: str, span: DateSpan) -> bool:
    """Whether "in 55 minutes" tells how long something took: "ran 10 km in 55 minutes"."""
    return _WITHIN.match(span.text) is not None and _DONE_BEFORE.search(text, 0, span.start) is not None


def _is_move(text: str, span: DateSpan) -> bool:
    """Whether a range is none: "moved from Monday to Wednesday" names two days and no time between."""
    return span.text[:5].lower() == "from " and _MOVED.search(text, 0, span.start) is not None


def _is_attribute(text: str, span: DateSpan) -> bool:
    """Whether a date without a preposition only describes the noun behind it, or a table's row: "Monday blues"."""
    before = re.search(r"(\S+)\s+$", text[: span.start])
    if before is not None and before.group(1).lower() in _PREPOSITIONS:
        return False
    if before is not None and before.group(1).endswith("|"):
        return True
    after = _NEXT_WORD.match(text, span.end)
    return after is not None and after.group(1).lower() not in _FUNCTION_WORDS


def _is_narrative(span: DateSpan) -> bool:
    """Whether a span counts from the story and not from the time of speaking: "the next day", "that weekend"."""
    return span.modifier == "ref_undef" or _NARRATIVE.match(span.text) is not None


def _spans(text: str, reference: datetime, options: DateOptions, leaning: Prefer = "past") -> list[DateSpan]:
    """Spans read toward the future in sentences that speak of it, else as they lean."""
    if leaning == "future":
        return read_text(text, reference, "future", options)
    past = read_text(text, reference, "past", options)
    if not any(_leans(text, span) == "future" for span in past):
        return past
    future = read_text(text, reference, "future", options)
    return [
        late if _leans(text, early) == "future" else early for early, late in zip(past, future, strict=True)
    ]


def _leans(text: str, span: DateSpan) -> Prefer:
    begin = 0
    for end in _SENTENCE_END.finditer(text, 0, span.start):
        begin = end.end()
    finish = _SENTENCE_END.search(text, span.end)
    sentence = text[begin : finish.start() if finish else len(text)]
    if _FUTURE.search(sentence) or _FUTURE_BEFORE.search(text, begin, span.start):
        return "future"
    limit = _LIMIT.match(span.text) is not None and _PAST_SIGN.search(sentence) is None
    return "future" if limit else "past"


def _replacement(
    text: str, span: DateSpan, reference: datetime, options: DateOptions, leaning: Prefer
) -> tuple[int, int, str] | None:
    if span.window is None or not _is_dated(text, span) or span.text.lower() in _SEASON_NAMES:
        return None
    if _SPOKEN_YEAR.search(span.text) and not _RELATIVE_WORD.search(span.text):
        return None
    bound = _BOUND.match(span.text)
    if bound is not None and span.modifier is not None:
        inner = make_absolute("on " + span.text[bound.end() :], reference, options=options, leaning=leaning)
        inner = re.sub(
            r"^on (?=on |in |over |the )|^on (?:in |over |on )?",
            "",
            re.sub(r"^on (?:on|in|over) ", "", inner),
        )
        return span.start, span.end, bound.group() + inner
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
    return re.compile(rf"\b(?:{'|'.join(worded)})\b", re.IGNORECASE)


def _phrase(span: DateSpan) -> tuple[str, str] | None:
    """The preposition and the words for a span."""
    window = span.window
    assert window is not None
    start, end = window.start, window.end
    if start is None or end is None:
        return None
    if span.kind in ("datetime", "datetimerange"):
        return _timed_phrase(span, start, end)
    if span.precision == "day" and end - start <= timedelta(days=1):
        return "on", day_text(start)
    if span.precision == "week" and end - start == timedelta(days=7):
        return "in", f"the week of {day_text(start)}"
    if span.precision == "weekend":
        return "over", f"the weekend of {day_text(start)}"
    if span.precision == "season" and start.month in _SEASONS and span.modifier is None:
        return "in", _season_text(span, start)
    if span.precision == "quarter" and start.month in _QUARTERS and (end - start).days < 93:
        return "in", f"the {_QUARTERS[start.month]} quarter of {start.year}"
    preposition, _, words = describe_window(window).partition(" ")
    return preposition, words


def _season_text(span: DateSpan, start: datetime) -> str:
    named = next(
        (name for name in ("spring", "summer", "autumn", "fall", "winter") if name in span.text.lower()),
        _SEASONS[start.month],
    )
    return (
        f"{named} {start.year}" if start.month != 12 else f"{named} {start.year}/{(start.year + 1) % 100:02}"
    )


def _timed_phrase(span: DateSpan, start: datetime, end: datetime) -> tuple[str, str] | None:
    if span.precision == "part_of_day":
        name = next(
            (
                name
                for name in ("morning", "afternoon", "evening", "night", "tonight", "lunchtime")
                if name in span.text.lower()
            ),
            None,
        )
        if name is None:
            return None
        return "on", f"the {'night' if name == 'tonight' else name} of {day_text(start)}"
    if span.kind == "datetime" and span.precision in ("hour", "minute", "second"):
        return "on", f"{day_text(start)} at {_clock(span, start)}"
    if span.kind == "datetimerange" and start.date() == end.date() and len(span.values) == 1:
        return "on", f"{day_text(start)} from {clock_text(start)} to {clock_text(end)}"
    return None


def _clock(span: DateSpan, moment: datetime) -> str:
    """The hour as it was said where morning and evening are both possible."""
    hours = {_hour(value) for value in span.values}
    if len(hours) > 1 and moment.hour % 12:
        return str(moment.hour % 12) if not moment.minute else f"{moment.hour % 12}:{moment.minute:02}"
    return clock_text(moment)


def _hour(value: DateValue) -> int | None:
    return None if value.start is None else value.start.hour


def _placed(text: str, span: DateSpan, preposition: str, words: str) -> tuple[int, int, str]:
    """Where the words go, and with which preposition, so that the sentence stays grammatical."""
    start = span.start
    before = _WORD_BEFORE.search(text, 0, start)
    previous = before.group(1).lower() if before else ""
    if previous == "the" and before is not None:
        start = before.start(1)
        before = _WORD_BEFORE.search(text, 0, start)
        previous = before.group(1).lower() if before else ""
    first = text[start].isupper() and _OPENS.search(text, 0, start) is not None
    if previous in _PREPOSITIONS and before is not None:
        fits = previous == preposition or (
            previous not in _WRONG_FOR_DAY and not (previous in ("on", "for") and preposition == "between")
        )
        if fits:
            return start, span.end, words
        return before.start(1), span.end, f"{_cased(before.group(1)[0].isupper(), preposition)} {words}"
    if _subject(text, span, previous) or _POSSESSIVE.match(text, span.end):
        return start, span.end, _cased(first, words)
    return start, span.end, f"{_cased(first, preposition)} {words}"


def _subject(text: str, span: DateSpan, previous: str) -> bool:
    """Whether the date is a sentence's subject: "Last week was great"."""
    opens = previous == "" or previous[-1] in ".,!?;:" or previous in ("that", "because", "but")
    return opens and _VERB_AFTER.match(text, span.end) is not None


def _cased(capital: bool, words: str) -> str:
    return words[0].upper() + words[1:] if capital else words
