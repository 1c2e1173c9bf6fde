"""Whether a wording rests on what was said: its quotes, names, numbers and dates stand in the source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache

from perdure.dates import read_dates
from perdure.domain.time import Window
from perdure.extract.local.times import Timing, read_timing
from perdure.ports.extractor import Turn
from perdure.text.names import normal_name
from perdure.text.retelling import normal_words
from perdure.text.wordlist import word_set

LONGEST_WORDS = 2_000
_THOUSANDS = re.compile(r"(?<=\d)[,'’ \u00a0](?=\d{3}(?:\D|$))")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
_NAME_INSIDE = re.compile(r"(?<![.!?:;\"“(\[\n])\s(?P<name>[A-Z][^\W\d_]{2,})")
_SENTENCE_END = re.compile(r"[.!?\n]+(?:\s|$)")
_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_NUMBER_WORDS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split(),
        map(str, range(21)),
        strict=True,
    )
) | {"first": "1", "second": "2", "third": "3", "once": "1", "twice": "2", "couple": "2", "dozen": "12", "half": "2"}  # fmt: skip
_VAGUE = word_set("one first second once half couple both twice")
"""Number words that a wording may have for other reasons than a number."""
_NO_NAMES = word_set("user assistant agent speaker i'm i've i'd i'll")


_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_FIRST_PERSON = re.compile(r"\bI\b(?![.\d])|\b(?:[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")


def is_in_first_person(text: str) -> bool:
    """Whether a wording says "I" outside of quotation marks, so that it does not tell who is meant."""
    return _FIRST_PERSON.search(_QUOTED.sub("", text)) is not None


def place_of(words: str, text: str) -> tuple[int, int] | None:
    """Where words stand in a text, whatever its case, white space and marks of quotation; None where they do not."""
    plain = words.strip().strip("\"'“”‘’ ")
    if not plain or len(plain) > LONGEST_WORDS:
        return None
    start = text.find(plain)
    if start >= 0:
        return start, start + len(plain)
    pattern = r"\s+".join(re.escape(word) for word in plain.translate(_MARKS).split())
    match = re.search(pattern, text.translate(_MARKS), re.IGNORECASE)
    return match.span() if match else None


def is_named(name: str, said: str) -> bool:
    """Whether a name stands in what was said, as words of their own."""
    words = normal_name(name)
    return bool(words) and f" {words} " in _normal(said)


@lru_cache(maxsize=8)
def _normal(said: str) -> str:
    """What was said in the form of names, between spaces; kept, since every fact of a chunk is held against it."""
    return f" {' '.join(normal_words(said))} "


def unsaid(
    text: str, said: str, listed: Iterable[str], confirmed: Window | None, said_at: datetime | None
) -> str:
    """The first name or number of a wording that nobody said; empty when all were.

    `listed` are the names that come with the wording. Dates within the `confirmed` time count as said.
    """
    for name in listed:
        if place_of(name, text) is not None and not is_named(name, said):
            return name
    plain = _without_dates(text, confirmed, said_at)
    numbers = _digits(said) | {_NUMBER_WORDS[word] for word in _number_words(said)}
    stated = _digits(plain) | {_NUMBER_WORDS[word] for word in _number_words(plain) if word not in _VAGUE}
    for number in sorted(stated - numbers):
        return number
    words = {word.casefold() for word in _WORD.findall(said)}
    for match in _NAME_INSIDE.finditer(plain):
        word = match["name"].casefold()
        if word not in words and word not in _NO_NAMES and not _is_form(word, words):
            return match["name"]
    return ""


def _is_form(word: str, words: set[str]) -> bool:
    """Whether a word is another form of one that was said: "Portuguese" of "Portugal"."""
    stem = word[:5]
    return len(stem) == 5 and any(other.startswith(stem) for other in words)


def _digits(text: str) -> set[str]:
    return {number.lstrip("0") or "0" for number in _DIGITS.findall(_THOUSANDS.sub("", text))}


def _number_words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if word in _NUMBER_WORDS}


def _without_dates(text: str, confirmed: Window | None, said_at: datetime | None) -> str:
    """The text without dates that lie in a time which the source itself gives."""
    if confirmed is None or said_at is None or confirmed.start is None or confirmed.end is None:
        return text
    kept, position = [], 0
    for span in read_dates(text, said_at):
        window = span.window
        if window is None or window.start is None or window.end is None:
            continue
        if window.start < confirmed.end and confirmed.start < window.end:
            kept.append(text[position : span.start])
            position = max(position, span.end)
    return "".join([*kept, text[position:]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The words of a turn that a fact rests on."""

    text: str
    start: int
    quoted: bool


def source_of(quote: str, turn: Turn) -> Source:
    """The quoted words, or all of the turn where they do not stand in it."""
    place = place_of(quote, turn.text)
    if place is None:
        return Source(text=turn.text, start=0, quoted=False)
    return Source(text=turn.text[place[0] : place[1]], start=place[0], quoted=True)


def timing_of(when: str, date: str, source: Source, turn: Turn) -> Timing:
    """When a fact happened: as the words of the source say.

    A date that the model gives counts only where its words of time stand in the turn and our reader reads no date in
    them; it is then a guess, which ranks and is not shown.
    """
    place = place_of(when, turn.text)
    if place is None:
        return read_timing(source.text, turn.said_at) if _tells_its_time(source) else Timing()
    stated = read_timing(_sentence_around(turn.text, place), turn.said_at)
    if stated.window is not None:
        return stated
    day = _day(date, turn.said_at)
    if day is None:
        return Timing()
    planned = turn.said_at is not None and day > turn.said_at
    return Timing(Window(day, day + timedelta(days=1)), planned=planned, sure=False)


def _tells_its_time(source: Source) -> bool:
    """Whether a date anywhere in the source is the fact's: it is quoted for it, or the turn is one sentence."""
    return source.quoted or _SENTENCE_END.search(source.text.strip().rstrip(".!?")) is None


def _sentence_around(text: str, place: tuple[int, int]) -> str:
    start = max((match.end() for match in _SENTENCE_END.finditer(text, 0, place[0])), default=0)
    match = _SENTENCE_END.search(text, place[1])
    return text[start : match.end() if match else len(text)]


def _day(date: str, said_at: datetime | None) -> datetime | None:
    """A day that a model gives, if it is one within a lifetime of when it was said."""
    try:
        day = datetime.combine(datetime.fromisoformat(date.strip()[:10]).date(), time(), UTC)
    except ValueError:
        return None
    near = said_at is None or abs(day - said_at) <= timedelta(days=36_525)
    return day if near else None
