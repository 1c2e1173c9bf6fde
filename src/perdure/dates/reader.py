"""Reads every date expression of a text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from perdure.dates.detect import detect_language
from perdure.dates.grammar.atoms import GRAMMAR, first_words
from perdure.dates.grammar.combine import half_of_named_day
from perdure.dates.grammar.durations import duration
from perdure.dates.grammar.modifiers import anything, modified, modifier_words
from perdure.dates.grammar.recurring import rate_words, recurring
from perdure.dates.lexicon import english, word_set
from perdure.dates.model import DateOptions, DateSpan, Prefer
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan
from perdure.dates.spans import make_span
from perdure.dates.templates import read_templates

_WORD = re.compile(r"[^\W\d_]+|[0-9]")
_LEADS = word_set(
    "in from between starting every each any once twice per one bi semi all whole entire full more less fewer longer shorter"
)
_LINKS = word_set(
    "than of or time on as to and my our ( - , = soon about approximately other working work business / c b single full more"
)


def read_text(
    text: str, reference: datetime, prefer: Prefer, options: DateOptions, language: str | None = None
) -> list[DateSpan]:
    """The expressions of a text in order, in the given language or the one it seems to be in."""
    words = _WORD.findall(text.lower())
    chosen = detect_language(text, words) if language is None else language
    if chosen != "en":
        return read_templates(text, reference, chosen, prefer, options)
    return _read_english(text, words, reference, prefer, options)


def is_english(text: str) -> bool:
    """Whether a text seems to be English."""
    return detect_language(text, _WORD.findall(text.lower())) == "en"


def may_be_dated(text: str) -> bool:
    """Whether a text has a word without which no English text has a date."""
    return not _precheck().isdisjoint(_WORD.findall(text.lower()))


def read_english(text: str, reference: datetime, prefer: Prefer, options: DateOptions) -> list[DateSpan]:
    """The expressions of an English text in order."""
    return _read_english(text, _WORD.findall(text.lower()), reference, prefer, options)


def _read_english(
    text: str, words: list[str], reference: datetime, prefer: Prefer, options: DateOptions
) -> list[DateSpan]:
    if _precheck().isdisjoint(words):
        return []
    lex = english()
    zone = reference.tzinfo or UTC
    scan = Scan(text, reference.replace(tzinfo=None), zone, lex, options, GRAMMAR)
    spans: list[DateSpan] = []
    for i in _candidates(scan):
        if spans and scan.starts[i] < spans[-1].end:
            continue
        found = expression(scan, i)
        span = _span(scan, *found, i, prefer) if found is not None else None
        if span is not None:
            spans.append(span)
    return spans


@lru_cache(maxsize=1)
def _precheck() -> frozenset[str]:
    """Words without which there is no date; digits count one by one."""
    return english().triggers | frozenset("0123456789")


@lru_cache(maxsize=1)
def _starters() -> frozenset[str]:
    lex = english()
    return first_words() | modifier_words() | rate_words() | _LEADS | frozenset(lex.plural_weekdays)


def _candidates(scan: Scan) -> list[int]:
    """Indexes where an expression can begin: a starting word that leads, over such words, to a word of time."""
    starters, triggers, words = _starters(), scan.lex.triggers, scan.words
    leads = False
    found = []
    for i in range(scan.size - 1, -1, -1):
        word = words[i]
        starts = word in starters or "0" <= word[0] <= "9"
        leads = word in triggers or "0" <= word[0] <= "9" or (leads and (starts or word in _LINKS))
        if leads and starts:
            found.append(i)
    found.reverse()
    return found


def expression(scan: Scan, i: int) -> Match | None:
    """The longest expression that begins at a token; dates outside the calendar are none."""
    best: Match | None = None
    for reader in _EXPRESSIONS:
        try:
            found = reader(scan, i)
        except (ValueError, OverflowError):
            # datetime's own answer to years before 1 or after 9999.
            continue
        if found is not None and (best is None or found[1] > best[1]):
            best = found
    return best


def duration_with_bound(scan: Scan, i: int) -> Match | None:
    """A duration, also "more than 4 days" and "at least an hour"."""
    words = scan.words
    mod, j = None, i
    if words[i] in ("more", "longer") and words[i + 1] == "than":
        mod, j = "more_than", i + 2
    elif words[i] in ("less", "fewer", "shorter") and words[i + 1] == "than":
        mod, j = "less_than", i + 2
    found = duration(scan, j)
    if found is None:
        return None
    return found[0].changed(mod=mod), found[1]


_EXPRESSIONS = (recurring, half_of_named_day, modified, anything, duration_with_bound)


def _span(scan: Scan, node: Node, j: int, i: int, prefer: Prefer) -> DateSpan | None:
    return make_span(scan, node, scan.span(i, j), scan.starts[i], scan.ends[j - 1], prefer)
