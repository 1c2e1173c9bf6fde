"""Which reader is tried at which word.

An atom is the smallest whole expression: one day, one period, one time of day. Its first word decides which readers
can succeed, so that most words cost one look-up. The longest reading wins, the earlier reader among equals.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from perdure.dates.grammar.bounds import BOUND_WORDS, anything, bounded
from perdure.dates.grammar.clock import match_clock
from perdure.dates.grammar.combine import half_of_named_day, operand
from perdure.dates.grammar.days import bare_ordinal_day, holiday, named_day, relative_day
from perdure.dates.grammar.distances import (
    bounded_distance,
    day_near,
    distance,
    last_units,
    length_from,
    unit_near,
    weekday_at_distance,
    weekends_away,
)
from perdure.dates.grammar.numbers import duration
from perdure.dates.grammar.numeric import compact_day, numeric_day
from perdure.dates.grammar.periods import period
from perdure.dates.grammar.portions import part_of_period, portion, rest_of, to_date
from perdure.dates.grammar.recurring import RATES, recurring
from perdure.dates.grammar.times import end_of_day, now, part_of_day
from perdure.dates.grammar.weekdays import (
    counted_weekdays,
    on_weekday_next_week,
    ordinal_weekday,
    week_then_weekday,
    weekday,
)
from perdure.dates.lexicon import english, word_set
from perdure.dates.nodes import Match
from perdure.dates.scan import Grammar, Reader, Scan, memoised

_NUMBER = "#"
"""Stands for any number in digits among first words."""
_COUNTS = word_set("a an few some several couple dozen handful half quarter another ½ ¼ ¾ #")
_LEADS = word_set(
    "in from between starting every each any once twice per one bi semi all whole entire full more less fewer longer shorter"
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
        (holiday, [*lex.holidays, *lex.shifts]),
        (relative_day, today),
        (day_near, ["the", "day", *lex.weekdays]),
        (weekday_at_distance, lex.weekdays),
        (week_then_weekday, lex.shifts),
        (ordinal_weekday, ["last", *ordinals]),
        (counted_weekdays, [*_COUNTS, *lex.cardinals]),
        (on_weekday_next_week, ["on"]),
        (weekday, [*lex.weekdays, *lex.shifts]),
        (numeric_day, [_NUMBER, "the", "next", "this", "last"]),
        (compact_day, [_NUMBER]),
        (named_day, [*lex.months, *ordinals]),
        (bare_ordinal_day, ["the", _NUMBER]),
    )


@lru_cache(maxsize=1)
def _other_readers() -> Table:
    lex = english()
    counts = [*_COUNTS, *lex.cardinals]
    ordinals = ["the", *lex.ordinals, *lex.cardinals, _NUMBER]
    nouns = word_set("month same that year fiscal financial school calendar academic fy cy sy w wk q h ' ’ ‘")
    parts = [*lex.parts_of_day, *(word + "s" for word in lex.parts_of_day), *lex.meals, *lex.shifts]
    return _by_first_word(
        (weekends_away, counts),
        (distance, ["in", "within", *counts]),
        (length_from, ["for", *counts]),
        (bounded_distance, word_set("more less fewer longer over under")),
        (last_units, [*lex.shifts, *counts]),
        (part_of_period, ["last", "final", *ordinals]),
        (rest_of, word_set("rest remaining remainder balance")),
        (to_date, word_set("ytd mtd qtd week month quarter year to")),
        (portion, word_set("early earlier late later mid middle beginning start end close")),
        (unit_near, ["the", *lex.units]),
        (period, [*lex.months, *lex.shifts, *lex.seasons, *lex.units, *lex.decades, *nouns, *ordinals]),
        (now, word_set("now right just at as asap currently nowadays")),
        (end_of_day, word_set("the eod end")),
        (part_of_day, [*parts, *word_set("day tonight tonite early earlier late later mid in")]),
        (match_clock, [*lex.cardinals, *word_set("# noon noonish midday midnight mid half quarter a")]),
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


GRAMMAR = Grammar(day=_day, atom=_atom, period=period, operand=operand)
_EXPRESSIONS: tuple[Reader, ...] = (recurring, half_of_named_day, bounded, anything, duration)


@lru_cache(maxsize=1)
def first_words() -> frozenset[str]:
    """Every word that an expression can begin with, except numbers in digits."""
    atoms = _day_readers().keys() | _other_readers().keys()
    return BOUND_WORDS.union(atoms, RATES, _LEADS, english().plural_weekdays)


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
