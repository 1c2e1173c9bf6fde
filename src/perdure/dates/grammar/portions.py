"""Portions of a period: "early this month", "mid-November", "the end of 2008", "later this week"."""

from __future__ import annotations

from datetime import datetime, timedelta

from perdure.dates.build import unit_node
from perdure.dates.calendar import DAY, add_months
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan, memoised

_PREFIXES = {
    "early": "start",
    "earlier": "start",
    "late": "end",
    "later": "end",
    "mid": "mid",
    "middle": "mid",
}
_NOUNS = {"beginning": "start", "start": "start", "end": "end", "middle": "mid", "close": "end"}


@memoised
def portion(scan: Scan, i: int) -> Match | None:
    """A portion of a week, month, year or longer period."""
    found = portion_word(scan, i)
    if found is None:
        return None
    which, spoken, j = found
    whole = _whole(scan, j, noun=spoken in _NOUNS)
    if whole is None or whole[0].mod is not None:
        return None
    node, end = whole
    alts = [
        _cut(scan, alt, node, which, spoken)
        for alt in node.alts
        if alt.start is not None and alt.stop is not None
    ]
    tag = frozenset((f"portion_{which}",))
    return Node("range", node.grain, alts, mod=which, timex=node.timex, tags=tag, parts=node.parts), end


def portion_word(scan: Scan, i: int) -> tuple[str, str, int] | None:
    """Which portion, by which word, and the index where the period should begin."""
    words = scan.words
    word = words[i]
    if word in _PREFIXES:
        j = scan.skip(i + 1, "-")
        j = scan.skip(scan.skip(j, "in", "of", "on"), "the") if word != "mid" or words[j] == "of" else j
        return _PREFIXES[word], word, j
    if word in _NOUNS and words[i + 1] == "of":
        return (
            _NOUNS[word],
            word,
            scan.skip(i + 2, "the")
            if words[i + 2] == "the" and words[i + 3] in ("year", "month", "week")
            else i + 2,
        )
    return None


def _whole(scan: Scan, j: int, noun: bool) -> Match | None:
    unit = scan.words[j]
    if unit in ("year", "month", "week", "quarter", "decade", "century") and scan.numbers[j + 1] is None:
        if (
            scan.words[j - 1] in ("the", "of")
            or noun
            or (scan.words[j - 1] in ("mid", "-") and unit == "week")
        ):
            return unit_node(unit, scan.now, 0), j + 1
        return None
    found = scan.period(j)
    return found if found is not None and found[0].kind == "range" else None


def _cut(scan: Scan, alt: Alt, node: Node, which: str, spoken: str) -> Alt:
    assert alt.start is not None
    assert alt.stop is not None
    numbered = spoken in _NOUNS and node.grain == "year" and "relative" not in node.tags
    start, stop = _bounds(alt.start, alt.stop, node.grain, which, numbered)
    if spoken == "later" and start < scan.today < stop:
        start = scan.today
    if spoken == "earlier" and start < scan.today < stop:
        stop = min(stop, scan.today)
    return Alt(start, stop, stop)


def _bounds(
    start: datetime, stop: datetime, grain: str, which: str, numbered: bool
) -> tuple[datetime, datetime]:
    if grain == "month":
        return _month_bounds(start, stop, which)
    if grain == "year":
        return _year_bounds(start, stop, which, numbered)
    if grain == "week":
        marks = {"start": (0, 3), "mid": (1, 5), "end": (3, 7)}
        low, high = marks[which]
        return start + DAY * low, start + DAY * high
    days = (stop - start).days
    third = timedelta(days=days // 3)
    half = timedelta(days=days // 2)
    if which == "mid":
        return start + third, stop - third
    return (start, start + half) if which == "start" else (start + half, stop)


def _month_bounds(start: datetime, stop: datetime, which: str) -> tuple[datetime, datetime]:
    if which == "mid":
        return start.replace(day=10), start.replace(day=21)
    middle = start.replace(day=16)
    return (start, middle) if which == "start" else (middle, stop)


def _year_bounds(start: datetime, stop: datetime, which: str, numbered: bool) -> tuple[datetime, datetime]:
    """Thirds for "the end of 2008", halves for "late 2008" and "the end of last year"."""
    if which == "mid":
        return add_months(start, 4), add_months(start, 8)
    size = 4 if numbered else 6
    return (start, add_months(start, size)) if which == "start" else (add_months(stop, -size), stop)
