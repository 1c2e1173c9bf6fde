"""Reads every date expression of a text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from perdure.domain.time import Window
from perdure.text.dates.calendar import DAY
from perdure.text.dates.grammar.atoms import first_words
from perdure.text.dates.grammar.combine import half_of_named_day
from perdure.text.dates.grammar.durations import duration
from perdure.text.dates.grammar.modifiers import anything, modified, modifier_words
from perdure.text.dates.grammar.recurring import rate_words, recurring
from perdure.text.dates.lexicon import english
from perdure.text.dates.model import DateOptions, DateSpan, DateValue, Prefer
from perdure.text.dates.nodes import Alt, Match, Node
from perdure.text.dates.tokens import Scan

_WORD = re.compile(r"[^\W\d_]+|[0-9]")
_LEADS = frozenset(
    "in from between starting every each any once twice per one bi semi all whole entire full more less fewer longer shorter".split()
)
_LINKS = frozenset("than of or time on as to and my our ( - , = soon about approximately other working work business / c b single full more".split())


def read_english(text: str, reference: datetime, prefer: Prefer, options: DateOptions) -> list[DateSpan]:
    """The expressions of an English text in order."""
    if _precheck().isdisjoint(_WORD.findall(text.lower())):
        return []
    lex = english()
    zone = reference.tzinfo or UTC
    scan = Scan(text, reference.replace(tzinfo=None), zone, lex, options)
    spans: list[DateSpan] = []
    for i in _candidates(scan):
        if spans and scan.starts[i] < spans[-1].end:
            continue
        found = expression(scan, i)
        span = finish(scan, found[0], i, found[1], prefer) if found is not None else None
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
_TAGGED = ("more_than", "less_than")


def finish(scan: Scan, node: Node, i: int, j: int, prefer: Prefer) -> DateSpan | None:
    """The public form of a node."""
    values = tuple(value for alt in node.alts if (value := _value(scan, alt)) is not None)
    if node.alts and not values:
        return None
    window = _preferred(scan, values, node, prefer)
    modifier = next((tag for tag in _TAGGED if tag in node.tags), node.mod)
    return DateSpan(
        text=scan.span(i, j),
        start=scan.starts[i],
        end=scan.ends[j - 1],
        kind=node.kind,
        precision=node.grain,
        window=window,
        modifier=modifier,
        timex=node.timex or _timex(node),
        values=values,
        seconds=node.seconds,
    )


def _value(scan: Scan, alt: Alt) -> DateValue | None:
    start, stop, end, begin = alt
    first = begin if begin is not None else start
    if first is not None and end is not None and end < first:
        return None
    return DateValue(_aware(scan, start), _aware(scan, stop), Window(_aware(scan, first), _aware(scan, end)))


def _aware(scan: Scan, moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=scan.zone)


def _preferred(scan: Scan, values: tuple[DateValue, ...], node: Node, prefer: Prefer) -> Window | None:
    """The window of the reading the caller wants: the latest that has begun, or the first that is not over."""
    if not values or node.kind in ("duration", "recurring"):
        return None
    now = scan.now.replace(tzinfo=scan.zone)
    if prefer == "past":
        begun = [value.window for value in values if value.window.start is None or value.window.start <= now]
        if not begun:
            return values[0].window
        return max(begun, key=lambda window: window.start or window.end or now)
    coming = [value.window for value in values if value.window.end is None or value.window.end > now]
    if not coming:
        return values[-1].window
    return min(coming, key=lambda window: window.start or window.end or now)


def _timex(node: Node) -> str:
    """A plain TIMEX value for nodes that have only one reading."""
    if len(node.alts) != 1:
        return ""
    start, stop, _, _ = node.alts[0]
    pattern = "%Y-%m-%d" if node.kind in ("date", "range") else "%Y-%m-%dT%H:%M:%S"
    if start is None or stop is None:
        known = start if start is not None else stop
        return known.strftime(pattern) if known is not None else ""
    return f"({start.strftime(pattern)},{stop.strftime(pattern)},P{(stop - start) // DAY}D)"
