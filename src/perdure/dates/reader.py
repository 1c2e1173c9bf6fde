"""Reads every date expression of a text: which reader is tried at which word, and what becomes of its nodes.

An atom is the smallest whole expression: one day, one period, one time of day. Its first word decides which readers
can succeed, so that most words cost one look-up. The longest reading wins, the earlier reader among equals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from perdure.dates.calendar import DAY
from perdure.dates.direction import Direction, sign_of
from perdure.dates.grammar import (
    clock,
    combine,
    days,
    distances,
    numbers,
    numeric,
    periods,
    portions,
    ranges,
    recurring,
    times,
)
from perdure.dates.lexicon import detect_language, english, word_set
from perdure.dates.model import DateOptions, DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.nodes import Alt, Match, Node, Reference
from perdure.dates.scan import Grammar, Reader, Scan, memoised
from perdure.dates.templates import read_templates

_NUMBER = "#"
"""Stands for any number in digits among first words."""
_COUNTS = word_set("a an few some several couple dozen handful half quarter another ½ ¼ ¾ #")
_LEADS = word_set(
    "in from between starting every each any once twice per one bi semi all whole entire full more less fewer longer shorter"
)
_WORD = re.compile(r"[^\W\d_]+|[0-9]")
_LINKS = word_set(
    "than of or time on as to and my our ( - , = soon about approximately other working work business / c b single full more"
)

Table = dict[str, tuple[Reader, ...]]


@lru_cache(maxsize=1)
def _day_readers() -> Table:
    lex = english()
    ordinals = ["the", *lex.ordinals, *lex.cardinals, _NUMBER]
    today = word_set(
        "today otd tomorrow tmr tmrw tomorow yesterday the day this next following previous last current present"
    )
    return _by_first_word(
        (days.holiday, [*lex.holidays, *lex.shifts]),
        (days.relative_day, today),
        (distances.day_near, ["the", "day", *lex.weekdays]),
        (distances.weekday_at_distance, lex.weekdays),
        (days.week_then_weekday, lex.shifts),
        (days.ordinal_weekday, ["last", *ordinals]),
        (days.counted_weekdays, [*_COUNTS, *lex.cardinals]),
        (days.on_weekday_next_week, ["on"]),
        (days.weekday, [*lex.weekdays, *lex.shifts]),
        (numeric.numeric_day, [_NUMBER, "the", "next", "this", "last"]),
        (numeric.compact_day, [_NUMBER]),
        (days.named_day, [*lex.months, *ordinals]),
        (days.bare_ordinal_day, ["the", _NUMBER]),
    )


@lru_cache(maxsize=1)
def _other_readers() -> Table:
    lex = english()
    counts = [*_COUNTS, *lex.cardinals]
    ordinals = ["the", *lex.ordinals, *lex.cardinals, _NUMBER]
    nouns = word_set("month same that year fiscal financial school calendar academic fy cy sy w wk q h ' ’ ‘")
    names = [*lex.months, *lex.seasons, *lex.units, *lex.decades]
    parts = [*lex.parts_of_day, *(word + "s" for word in lex.parts_of_day), *lex.meals, *lex.shifts]
    return _by_first_word(
        (distances.weekends_away, counts),
        (distances.distance, ["in", "within", *counts]),
        (distances.length_from, ["for", *counts]),
        (distances.bounded_distance, word_set("more less fewer longer over under")),
        (distances.last_units, [*lex.shifts, *counts]),
        (portions.part_of_period, ["last", "final", *ordinals]),
        (portions.rest_of, word_set("rest remaining remainder balance")),
        (portions.to_date, word_set("ytd mtd qtd week month quarter year to")),
        (portions.portion, word_set("early earlier late later mid middle beginning start end close")),
        (distances.unit_near, ["the", *lex.units]),
        (periods.period, [*names, *lex.shifts, *nouns, *ordinals]),
        (times.now, word_set("now right just at as asap currently nowadays")),
        (times.end_of_day, word_set("the eod end")),
        (times.part_of_day, [*parts, *word_set("day tonight tonite early earlier late later mid in")]),
        (clock.match_clock, [*lex.cardinals, *word_set("# noon noonish midday midnight mid half quarter a")]),
    )


def _by_first_word(*entries: tuple[Reader, Iterable[str]]) -> Table:
    table: Table = {}
    for reader, words in entries:
        for word in set(words):
            table[word] = (*table.get(word, ()), reader)
    return table


def _longest(table: Table, scan: Scan, i: int, best: Match | None) -> Match | None:
    word = scan.words[i]
    for reader in table.get(_NUMBER if word[:1].isdigit() else word, ()):
        match = reader(scan, i)
        if match is not None and (best is None or match[1] > best[1]):
            best = match
    return best


@memoised
def _day(scan: Scan, i: int) -> Match | None:
    return _longest(_day_readers(), scan, i, None)


@memoised
def _atom(scan: Scan, i: int) -> Match | None:
    return _longest(_other_readers(), scan, i, _day(scan, i))


GRAMMAR = Grammar(day=_day, atom=_atom, period=periods.period, operand=combine.operand)
_EXPRESSIONS: tuple[Reader, ...] = (
    recurring.recurring,
    combine.half_of_named_day,
    ranges.bounded,
    ranges.anything,
    numbers.duration,
)


@lru_cache(maxsize=1)
def first_words() -> frozenset[str]:
    """Every word that an expression can begin with, except numbers in digits."""
    atoms = _day_readers().keys() | _other_readers().keys()
    lex = english()
    return ranges.AROUND.union(atoms, _LEADS, lex.bounds, lex.rates, lex.plural_weekdays)


def expression(scan: Scan, i: int) -> Match | None:
    """The longest expression that begins at a token; dates outside the calendar are none."""
    best: Match | None = None
    for reader in _EXPRESSIONS:
        try:
            match = reader(scan, i)
        except (ValueError, OverflowError):
            # datetime's own answer to years before 1 or after 9999.
            continue
        if match is not None and (best is None or match[1] > best[1]):
            best = match
    return best


def read_text(
    text: str, said_at: datetime, prefer: Prefer, options: DateOptions, language: str | None = None
) -> list[DateSpan]:
    """The expressions of a text in order, in the given language or the one it seems to be in."""
    return read_in_language(text, said_at, prefer, options, language)[1]


def read_in_language(
    text: str, said_at: datetime, prefer: Prefer, options: DateOptions, language: str | None = None
) -> tuple[str, list[DateSpan]]:
    """The language that a text is or seems to be in, and its expressions in order."""
    words = _WORD.findall(text.lower())
    language = detect_language(text, words) if language is None else language
    if language == "en":
        return language, [] if _triggers().isdisjoint(words) else _read_english(
            text, said_at, prefer, options
        )
    ref = Reference(said_at, options)
    spans = []
    for node, start, end in read_templates(text, ref, language):
        span = _span(ref, node, text, start, end, _side(text, start, end, prefer, language))
        if span is not None:
            spans.append(span)
    return language, spans


def _read_english(text: str, said_at: datetime, prefer: Prefer, options: DateOptions) -> list[DateSpan]:
    scan = Scan(text, said_at, options, GRAMMAR)
    spans: list[DateSpan] = []
    for i in _candidates(scan):
        if spans and scan.starts[i] < spans[-1].end:
            continue
        match = expression(scan, i)
        if match is None:
            continue
        start, end = scan.starts[i], scan.ends[match[1] - 1]
        side = _side(text, start, end, prefer, "en")
        span = _span(scan, match[0], text, start, end, side)
        if span is not None:
            spans.append(span)
    return spans


def _side(text: str, start: int, end: int, prefer: Prefer, language: str) -> Direction:
    """The side that the caller prefers, or that the sentence around the date looks to: past where it gives no sign."""
    if prefer != "sentence":
        return prefer
    sign = sign_of(text, start, end, language)
    return "past" if sign is None else sign.direction


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


def _span(ref: Reference, node: Node, text: str, start: int, end: int, side: Direction) -> DateSpan | None:
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
        window=_preferred(ref, values, side),
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


def _preferred(ref: Reference, values: tuple[DateValue, ...], side: Direction) -> DateWindow | None:
    """The window of the reading on a side of now: the latest that has begun, or the first that is not over."""
    if not values:
        return None
    now = ref.now.replace(tzinfo=ref.zone)
    windows = [value.window for value in values]
    if side == "past":
        begun = [window for window in windows if (window.start or window.end or now) <= now]
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
