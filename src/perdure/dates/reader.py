"""Reads every date expression of a text, and turns what the grammars build into the public spans."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from perdure.dates.calendar import DAY
from perdure.dates.grammar.readers import GRAMMAR, expression, first_words
from perdure.dates.lexicon import detect_language, english, word_set
from perdure.dates.model import DateOptions, DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.nodes import Alt, Node
from perdure.dates.reference import Reference
from perdure.dates.scan import Scan
from perdure.dates.templates import read_templates

_WORD = re.compile(r"[^\W\d_]+|[0-9]")
_LINKS = word_set(
    "than of or time on as to and my our ( - , = soon about approximately other working work business / c b single full more"
)


def read_text(
    text: str, reference: datetime, prefer: Prefer, options: DateOptions, language: str | None = None
) -> list[DateSpan]:
    """The expressions of a text in order, in the given language or the one it seems to be in."""
    words = _WORD.findall(text.lower())
    language = detect_language(text, words) if language is None else language
    if language == "en":
        return _read_english(text, words, reference, prefer, options)
    ref = Reference(reference.replace(tzinfo=None), reference.tzinfo or UTC, english(), options)
    spans = (
        _span(ref, node, text, start, end, prefer) for node, start, end in read_templates(text, ref, language)
    )
    return [span for span in spans if span is not None]


def is_english(text: str) -> bool:
    """Whether a text seems to be English."""
    return detect_language(text, _WORD.findall(text.lower())) == "en"


def may_be_dated(text: str) -> bool:
    """Whether a text has a word without which no English text has a date."""
    return not _triggers().isdisjoint(_WORD.findall(text.lower()))


def read_english(text: str, reference: datetime, prefer: Prefer, options: DateOptions) -> list[DateSpan]:
    """The expressions of an English text in order."""
    return _read_english(text, _WORD.findall(text.lower()), reference, prefer, options)


def _read_english(
    text: str, words: list[str], reference: datetime, prefer: Prefer, options: DateOptions
) -> list[DateSpan]:
    if _triggers().isdisjoint(words):
        return []
    zone = reference.tzinfo or UTC
    scan = Scan(text, reference.replace(tzinfo=None), zone, english(), options, GRAMMAR)
    spans: list[DateSpan] = []
    for i in _candidates(scan):
        if spans and scan.starts[i] < spans[-1].end:
            continue
        match = expression(scan, i)
        if match is None:
            continue
        span = _span(scan, match[0], text, scan.starts[i], scan.ends[match[1] - 1], prefer)
        if span is not None:
            spans.append(span)
    return spans


@lru_cache(maxsize=1)
def _triggers() -> frozenset[str]:
    """Words without which there is no date; digits count one by one."""
    return english().triggers | frozenset("0123456789")


def _candidates(scan: Scan) -> list[int]:
    """Indexes where an expression can begin: a starting word that leads, over such words, to a word of time."""
    starters, triggers, words = first_words(), scan.lex.triggers, scan.words
    leads = False
    candidates = []
    for i in range(scan.size - 1, -1, -1):
        word = words[i]
        digit = "0" <= word[0] <= "9"
        starts = digit or word in starters
        leads = digit or word in triggers or (leads and (starts or word in _LINKS))
        if leads and starts:
            candidates.append(i)
    candidates.reverse()
    return candidates


def _span(ref: Reference, node: Node, text: str, start: int, end: int, prefer: Prefer) -> DateSpan | None:
    """The public form of a node, with aware times; None where no reading is in order."""
    values = tuple(value for alt in node.alts if (value := _value(ref, alt)) is not None)
    if node.alts and not values:
        return None
    return DateSpan(
        text=text[start:end],
        start=start,
        end=end,
        kind=node.kind,
        precision=node.grain,
        window=_preferred(ref, values, prefer),
        modifier=next((tag for tag in ("more_than", "less_than") if tag in node.tags), node.mod),
        timex=node.timex or _timex(node),
        values=values,
        seconds=node.seconds,
    )


def _value(ref: Reference, alt: Alt) -> DateValue | None:
    first = alt.begin if alt.begin is not None else alt.start
    if first is not None and alt.end is not None and alt.end < first:
        return None
    window = DateWindow(_aware(ref, first), _aware(ref, alt.end))
    return DateValue(_aware(ref, alt.start), _aware(ref, alt.stop), window)


def _aware(ref: Reference, moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=ref.zone)


def _preferred(ref: Reference, values: tuple[DateValue, ...], prefer: Prefer) -> DateWindow | None:
    """The window of the reading the caller wants: the latest that has begun, or the first that is not over."""
    if not values:
        return None
    now = ref.now.replace(tzinfo=ref.zone)
    windows = [value.window for value in values]
    if prefer == "past":
        begun = [window for window in windows if window.start is None or window.start <= now]
        return max(begun, key=lambda window: window.start or window.end or now, default=windows[0])
    coming = [window for window in windows if window.end is None or window.end > now]
    return min(coming, key=lambda window: window.start or window.end or now, default=windows[-1])


def _timex(node: Node) -> str:
    """A plain TIMEX value for nodes that have only one reading."""
    if len(node.alts) != 1:
        return ""
    start, stop, _, _ = node.alts[0]
    pattern = "%Y-%m-%d" if node.kind in ("date", "range") else "%Y-%m-%dT%H:%M:%S"
    if start is None or stop is None:
        bound = start if start is not None else stop
        return bound.strftime(pattern) if bound is not None else ""
    return f"({start.strftime(pattern)},{stop.strftime(pattern)},P{(stop - start) // DAY}D)"
