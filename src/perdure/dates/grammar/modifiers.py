"""Bounds and approximations around an expression: "before 2018", "since late July", "around 3", "2012 or later"."""

from __future__ import annotations

from perdure.dates.build import on_days, opened
from perdure.dates.grammar.clock import clock_node, expected_clock
from perdure.dates.grammar.combine import operand
from perdure.dates.grammar.dayparts import meal
from perdure.dates.grammar.ranges import date_range
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan

_PREFIXES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no", "later", "than"), "before"), (("not", "later", "than"), "before"), (("earlier", "than"), "before"),
    (("sooner", "than"), "before"), (("no", "earlier", "than"), "since"), (("not", "earlier", "than"), "since"),
    (("later", "than"), "after"), (("as", "early", "as"), "since"), (("as", "late", "as"), "until"),
    (("on", "or", "before"), "until"), (("on", "or", "after"), "since"), (("prior", "to"), "before"),
    (("as", "of"), "since"), (("any", "time", "before"), "before"), (("any", "time", "after"), "after"),
    (("up", "until"), "until"), (("up", "till"), "until"), (("up", "to"), "until"), (("leading", "up", "to"), "before"),
    (("starting", "from"), "since"), (("starting", "on"), "since"), (("starting", "in"), "since"), (("starting", "at"), "since"),
    (("beginning", "on"), "since"), (("beginning", "from"), "since"), (("beginning", "in"), "since"), (("beginning",), "since"),
    (("starting",), "since"), (("ending", "on"), "until"), (("ending", "in"), "until"), (("ending",), "until"),
    (("before",), "before"), (("by",), "before"), (("until",), "until"), (("till",), "until"), (("til",), "until"),
    (("after",), "after"), (("since",), "since"),
    ((">", "="), "since"), (("<", "="), "until"), ((">",), "after"), (("<",), "before"), (("≥",), "since"), (("≤",), "until"),
)  # fmt: skip
_AROUND = ("around", "circa")
_SUFFIXES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("or", "later"), "since"), (("and", "later"), "since"), (("or", "after"), "since"), (("and", "onward"), "since"),
    (("and", "onwards"), "since"), (("onward",), "since"), (("onwards",), "since"), (("and", "after"), "since"),
    (("or", "earlier"), "until"), (("or", "before"), "until"), (("and", "earlier"), "until"), (("and", "before"), "until"),
    (("or", "sooner"), "until"),
)  # fmt: skip
_BY_FIRST_WORD = {
    first: [(list(phrase), mod) for phrase, mod in _PREFIXES if phrase[0] == first]
    for first in {phrase[0] for phrase, _ in _PREFIXES}
}


def modifier_words() -> frozenset[str]:
    """Every word that a bound or an approximation can begin with."""
    return frozenset(_BY_FIRST_WORD) | frozenset(_AROUND)


def modified(scan: Scan, i: int) -> Match | None:
    """An expression behind a bound or an approximation."""
    word = scan.words[i]
    if word in _AROUND:
        return _approximate(scan, i + 1)
    for phrase, mod in _BY_FIRST_WORD.get(word, ()):
        if scan.words[i : i + len(phrase)] == phrase:
            return _bounded(scan, i, i + len(phrase), mod)
    return None


def from_then_on(scan: Scan, i: int) -> Match | None:
    """ "from 2014 on", "from next Monday onwards"."""
    if scan.words[i] != "from":
        return None
    found = operand(scan, scan.skip(i + 1, "the"))
    if found is None or found[0].kind not in ("date", "range", "datetime") or found[0].mod is not None:
        return None
    node, end = found
    if scan.words[end] in ("onward", "onwards", "forward", "forwards"):
        return opened(node, "since"), end + 1
    if scan.words[end] == "on" and scan.words[end + 1] in ("", ".", ",", ";", "!", "?"):
        return opened(node, "since"), end + 1
    return None


def _bounded(scan: Scan, i: int, j: int, mod: str) -> Match | None:
    word = scan.words[i]
    roughly = scan.words[j] in ("around", "about", "approximately", "circa")
    k = j + 1 if roughly else j
    found = _target(scan, k, word)
    if found is None or found[0].kind in ("duration", "recurring"):
        return None
    node, end = found
    if word == "by" and node.kind == "timerange":
        return None
    if word in ("starting", "beginning") and node.kind == "time":
        return None
    return opened(node, mod), end


def _target(scan: Scan, k: int, word: str) -> Match | None:
    found = operand(scan, k)
    if found is None and scan.words[k] == "the":
        found = operand(scan, k + 1)
    if found is not None:
        return found
    return meal(scan, k) or _expected_hour(scan, k, word)


def _expected_hour(scan: Scan, k: int, word: str) -> Match | None:
    """ "after 3" stays open to doubt: a number is a time only in "by 5" forms with nothing counted."""
    if word not in ("by", "until", "till") or scan.digits(k) not in (1, 2):
        return None
    following = scan.words[k + 1]
    if following not in ("", ".", ",", "!", "?", "on", "today", "tomorrow", "tonight"):
        return None
    found = expected_clock(scan, k)
    return None if found is None else (clock_node(scan, found[0]), found[1])


def _approximate(scan: Scan, j: int) -> Match | None:
    found = operand(scan, j) or operand(scan, scan.skip(j, "the"))
    if found is not None and found[0].kind in ("date", "datetime", "time", "range") and found[0].mod is None:
        if found[0].kind == "date" and found[0].parts is not None and found[0].parts.month is None:
            return None
        return found[0].changed(mod="around"), found[1]
    return None


def trailing_bound(scan: Scan, node: Node, j: int) -> Match | None:
    """ "year 2012 or later", "3 pm or later on Monday"."""
    if scan.words[j] not in ("or", "and", "onward", "onwards") or node.mod is not None:
        return None
    for phrase, mod in _SUFFIXES:
        if scan.at(j, *phrase):
            end = j + len(phrase)
            if scan.words[end] == "than":
                return None
            if phrase[-1] in ("after", "before") and scan.words[end] not in ("", ".", ",", "!", "?", ";"):
                return None
            return _with_day(scan, node, end, mod)
    return None


def _with_day(scan: Scan, node: Node, end: int, mod: str) -> Match | None:
    if node.kind == "time":
        found = scan.day(scan.skip(end, "on"))
        if found is not None and found[0].kind == "date":
            return opened(on_days(scan, node, found[0]), mod), found[1]
    return opened(node, mod), end


def anything(scan: Scan, i: int) -> Match | None:
    """A range or an operand with an optional trailing bound."""
    found = from_then_on(scan, i) or date_range(scan, i)
    plain = operand(scan, i)
    if found is None or (plain is not None and plain[1] > found[1]):
        found = plain
    if found is None:
        return None
    return trailing_bound(scan, *found) or found
