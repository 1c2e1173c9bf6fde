"""Bounds and approximations around an expression: "before 2018", "since late July", "around 3", "2012 or later"."""

from __future__ import annotations

from dataclasses import replace

from perdure.dates.grammar.clock import expected_clock, match_of
from perdure.dates.grammar.ranges import date_range
from perdure.dates.grammar.times import meal
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node, opened
from perdure.dates.scan import Scan

_PREFIXES = {
    "before": ("no later than", "not later than", "earlier than", "sooner than", "prior to", "any time before",
               "leading up to", "before", "by", "<"),
    "after": ("later than", "any time after", "after", ">"),
    "since": ("no earlier than", "not earlier than", "as early as", "on or after", "as of", "starting from", "starting on",
              "starting in", "starting at", "starting", "beginning on", "beginning from", "beginning in", "beginning",
              "since", "> =", "≥"),
    "until": ("as late as", "on or before", "up until", "up till", "up to", "ending on", "ending in", "ending", "until",
              "till", "til", "< =", "≤"),
}  # fmt: skip
_SUFFIXES = {
    "since": (
        "or later",
        "and later",
        "or after",
        "and onward",
        "and onwards",
        "onward",
        "onwards",
        "and after",
    ),
    "until": ("or earlier", "or before", "and earlier", "and before", "or sooner"),
}
_AROUND = word_set("around circa")
_ROUGHLY = word_set("around about approximately circa")
_AFTER_HOUR = frozenset(("", ".", ",", "!", "?", "on", "today", "tomorrow", "tonight"))
_ENDS = frozenset(("", ".", ",", "!", "?", ";"))


def _by_first_word(table: dict[str, tuple[str, ...]]) -> dict[str, list[tuple[list[str], str]]]:
    """Phrases as words with their bound, by first word, longest first."""
    entries = sorted(
        ((phrase.split(), bound) for bound, phrases in table.items() for phrase in phrases),
        key=lambda entry: -len(entry[0]),
    )
    grouped: dict[str, list[tuple[list[str], str]]] = {}
    for words, bound in entries:
        grouped.setdefault(words[0], []).append((words, bound))
    return grouped


_PREFIXES_BY_WORD = _by_first_word(_PREFIXES)
_SUFFIXES_BY_WORD = _by_first_word(_SUFFIXES)
BOUND_WORDS = frozenset(_PREFIXES_BY_WORD) | _AROUND
"""Every word that a bound or an approximation can begin with."""


def bounded(scan: Scan, i: int) -> Match | None:
    """An expression behind a bound or an approximation."""
    word = scan.words[i]
    if word in _AROUND:
        return _approximate(scan, i + 1)
    phrase = _phrase_at(scan, i, _PREFIXES_BY_WORD)
    if phrase is None:
        return None
    mod, j = phrase
    match = _target(scan, scan.skip(j, *_ROUGHLY), word)
    if match is None or match[0].kind in ("duration", "recurring"):
        return None
    kind = match[0].kind
    if (word == "by" and kind == "timerange") or (word in ("starting", "beginning") and kind == "time"):
        return None
    return opened(match[0], mod), match[1]


def _phrase_at(scan: Scan, i: int, table: dict[str, list[tuple[list[str], str]]]) -> tuple[str, int] | None:
    """The bound that a phrase at an index means, and the index after it."""
    for words, bound in table.get(scan.words[i], ()):
        if scan.words[i : i + len(words)] == words:
            return bound, i + len(words)
    return None


def _target(scan: Scan, k: int, word: str) -> Match | None:
    match = scan.operand(k)
    if match is None and scan.words[k] == "the":
        match = scan.operand(k + 1)
    return match or meal(scan, k) or _expected_hour(scan, k, word)


def _expected_hour(scan: Scan, k: int, word: str) -> Match | None:
    """ "after 3" stays open to doubt: a number is a time only in "by 5" forms with nothing counted."""
    if (
        word not in ("by", "until", "till")
        or scan.digits(k) not in (1, 2)
        or scan.words[k + 1] not in _AFTER_HOUR
    ):
        return None
    return match_of(scan, expected_clock(scan, k))


def _approximate(scan: Scan, j: int) -> Match | None:
    match = scan.operand(j) or scan.operand(scan.skip(j, "the"))
    if (
        match is None
        or match[0].kind not in ("date", "datetime", "time", "range")
        or match[0].mod is not None
    ):
        return None
    parts = match[0].parts
    if match[0].kind == "date" and parts is not None and parts.month is None:
        return None
    return replace(match[0], mod="around"), match[1]


def from_then_on(scan: Scan, i: int) -> Match | None:
    """ "from 2014 on", "from next Monday onwards"."""
    match = scan.operand(scan.skip(i + 1, "the")) if scan.words[i] == "from" else None
    if match is None or match[0].kind not in ("date", "range", "datetime") or match[0].mod is not None:
        return None
    node, end = match
    last = scan.words[end]
    if last in ("onward", "onwards", "forward", "forwards") or (
        last == "on" and scan.words[end + 1] in _ENDS
    ):
        return opened(node, "since"), end + 1
    return None


def _trailing_bound(scan: Scan, node: Node, j: int) -> Match | None:
    """ "year 2012 or later", "3 pm or later on Monday"."""
    phrase = _phrase_at(scan, j, _SUFFIXES_BY_WORD) if node.mod is None else None
    if phrase is None:
        return None
    mod, end = phrase
    if scan.words[end] == "than":
        return None
    if scan.words[end - 1] in ("after", "before") and scan.words[end] not in _ENDS:
        return None
    days = scan.day(scan.skip(end, "on")) if node.kind == "time" else None
    if days is not None and days[0].kind == "date":
        return opened(scan.on_days(node, days[0]), mod), days[1]
    return opened(node, mod), end


def anything(scan: Scan, i: int) -> Match | None:
    """A range or an operand with an optional trailing bound."""
    match = from_then_on(scan, i) or date_range(scan, i)
    plain = scan.operand(i)
    if match is None or (plain is not None and plain[1] > match[1]):
        match = plain
    return None if match is None else _trailing_bound(scan, *match) or match
