"""The smallest whole expressions: one day, one period, one time of day.

Which readers can succeed is decided by the first word, so that most words cost one look-up.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from perdure.dates.grammar.clock import match_clock
from perdure.dates.grammar.combine import operand
from perdure.dates.grammar.counted import last_units, part_of_period, rest_of, to_date
from perdure.dates.grammar.dayparts import part_of_day
from perdure.dates.grammar.days import bare_ordinal_day, named_day, relative_day
from perdure.dates.grammar.feasts import holiday
from perdure.dates.grammar.moments import end_of_day, now
from perdure.dates.grammar.neighbours import day_near, unit_near
from perdure.dates.grammar.numeric import compact_day, numeric_day
from perdure.dates.grammar.periods import period
from perdure.dates.grammar.portions import portion
from perdure.dates.grammar.shifts import (
    bounded_distance,
    distance,
    length_from,
    weekday_at_distance,
    weekends_away,
)
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

NUMBER = "#"
_COUNTS = word_set("a an few some several couple dozen handful half quarter another ½ ¼ ¾ #")


@lru_cache(maxsize=1)
def _day_readers() -> dict[str, tuple[Reader, ...]]:
    lex = english()
    numbers = [*lex.cardinals, NUMBER]
    ordinals = ["the", *lex.ordinals, *numbers]
    return _by_word(
        (
            (holiday, [*lex.holidays, *lex.shifts]),
            (
                relative_day,
                word_set(
                    "today otd tomorrow tmr tmrw tomorow yesterday the day this next following previous last current present"
                ),
            ),
            (day_near, ["the", "day", *lex.weekdays]),
            (weekday_at_distance, lex.weekdays),
            (week_then_weekday, lex.shifts),
            (ordinal_weekday, ["last", *ordinals]),
            (counted_weekdays, [*_COUNTS, *lex.cardinals]),
            (on_weekday_next_week, ["on"]),
            (weekday, [*lex.weekdays, *lex.shifts]),
            (numeric_day, [NUMBER, "the", "next", "this", "last"]),
            (compact_day, [NUMBER]),
            (named_day, [*lex.months, *ordinals]),
            (bare_ordinal_day, ["the", NUMBER]),
        )
    )


@lru_cache(maxsize=1)
def _other_readers() -> dict[str, tuple[Reader, ...]]:
    lex = english()
    counts = [*_COUNTS, *lex.cardinals]
    ordinals = ["the", *lex.ordinals, *lex.cardinals, NUMBER]
    parts = [*lex.parts_of_day, *(word + "s" for word in lex.parts_of_day), *lex.meals, "day"]
    nouns = word_set("month same that year fiscal financial school calendar academic fy cy sy w wk q h ' ’ ‘")
    return _by_word(
        (
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
            (
                part_of_day,
                [*parts, *lex.shifts, *word_set("tonight tonite early earlier late later mid in")],
            ),
            (
                match_clock,
                [*lex.cardinals, NUMBER, *word_set("noon noonish midday midnight mid half quarter a")],
            ),
        )
    )


def _by_word(entries: Iterable[tuple[Reader, Iterable[str]]]) -> dict[str, tuple[Reader, ...]]:
    table: dict[str, tuple[Reader, ...]] = {}
    for reader, words in entries:
        for word in set(words):
            table[word] = (*table.get(word, ()), reader)
    return table


def _key(scan: Scan, i: int) -> str:
    word = scan.words[i]
    return NUMBER if word[:1].isdigit() else word


@memoised
def day(scan: Scan, i: int) -> Match | None:
    """The longest reading as a single day."""
    return _longest(_day_readers().get(_key(scan, i), ()), scan, i, None)


@memoised
def atom(scan: Scan, i: int) -> Match | None:
    """The longest expression among days, distances, periods and times."""
    return _longest(_other_readers().get(_key(scan, i), ()), scan, i, scan.day(i))


def _longest(readers: tuple[Reader, ...], scan: Scan, i: int, best: Match | None) -> Match | None:
    for reader in readers:
        found = reader(scan, i)
        if found is not None and (best is None or found[1] > best[1]):
            best = found
    return best


@lru_cache(maxsize=1)
def first_words() -> frozenset[str]:
    """Every word that an atom can begin with."""
    return frozenset(_day_readers()) | frozenset(_other_readers())


GRAMMAR = Grammar(day, atom, period, operand)
