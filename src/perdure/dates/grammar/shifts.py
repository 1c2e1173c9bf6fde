"""Distances: "3 days ago", "two weeks from tomorrow", "in 5 minutes", "within 2h", "3 days starting from Monday"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import GRAIN_LENGTH, day_node, moved_from_now, period_node, shift, unit_node
from perdure.dates.calendar import DAY
from perdure.dates.grammar.durations import length_at
from perdure.dates.grammar.numbers import count
from perdure.dates.grammar.weekdays import weekday_at
from perdure.dates.model import Kind
from perdure.dates.nodes import Alt, Length, Match, Node
from perdure.dates.scan import Scan, memoised

_AGO = frozenset(("ago", "back", "earlier", "previously"))
_LATER = frozenset(("later", "hence", "after"))
_FINE = frozenset(("second", "minute", "hour"))
_ENDS = frozenset(("", ".", ",", "!", "?", ";", ")"))


@memoised
def distance(scan: Scan, i: int) -> Match | None:
    """A length away from now or from another date."""
    words = scan.words
    lead = words[i]
    if lead == "in" and _not_since(scan, i):
        return None
    j = i + 1 if lead in ("in", "within") else i
    if lead == "in" and words[j] == "about":
        j += 1
    if lead == "within":
        j = scan.skip(scan.skip(j, "the"), "next", "coming", "following")
    found = length_at(scan, j)
    if found is None:
        return None
    length, k = found
    if lead == "within":
        return _within(scan, length), k
    anchored = _from_other(scan, length, k) or _from_now(scan, length, k, lead)
    if anchored is None:
        return None
    return _on_weekday(scan, length, *anchored)


def _not_since(scan: Scan, i: int) -> bool:
    """Whether "in" names how long something has not been: "we haven't talked in a few days"."""
    return any(
        word.endswith(("ven't", "sn't", "dn't")) or word in ("never", "first", "longest")
        for word in scan.words[max(0, i - 6) : i]
    )


def weekends_away(scan: Scan, i: int) -> Match | None:
    """ "two weekends ago", "a couple of weekends from now"."""
    counted = count(scan, i)
    if (
        counted is None
        or scan.lex.units.get(scan.words[counted[1]]) != "weekend"
        or not 1 <= counted[0] <= 500
    ):
        return None
    amount, j = int(counted[0]), counted[1] + 1
    if scan.words[j] in _AGO:
        return unit_node("weekend", scan.now, -amount), j + 1
    if scan.words[j] in ("later", "hence"):
        return unit_node("weekend", scan.now, amount), j + 1
    if scan.at(j, "from", "now"):
        return unit_node("weekend", scan.now, amount), j + 2
    return None


def _from_now(scan: Scan, length: Length, k: int, lead: str) -> Match | None:
    words = scan.words
    if lead == "in":
        k = k + 2 if words[k] == "'" and words[k + 1] == "time" else k + 1 if words[k] == "time" else k
        if scan.at(k, "from", "now"):
            k += 2
        return moved_from_now(scan, length, 1), k
    if words[k] in _AGO or (words[k] == "before" and words[k + 1] in _ENDS):
        if words[k] == "back" and words[k + 1] in ("to", "in", "on"):
            return None
        return moved_from_now(scan, length, -1), k + 1
    if scan.at(k, "from", "now") or scan.at(k, "after", "now"):
        return moved_from_now(scan, length, 1), k + 2
    if words[k] in _LATER and (words[k] != "after" or words[k + 1] in _ENDS):
        return moved_from_now(scan, length, 1), k + 1
    return None


def _within(scan: Scan, length: Length) -> Node:
    if length.grain in _FINE or length.seconds:
        now = scan.now.replace(microsecond=0)
        stop = shift(scan, now, length, 1)
        return Node("datetimerange", length.grain, [Alt(now, stop, stop)])
    stop = shift(scan, scan.today, length, 1)
    return period_node([(scan.today, stop)], length.grain)


def _from_other(scan: Scan, length: Length, k: int) -> Match | None:
    """ "before Christmas", "after tomorrow", "since the year 2011", "from Tuesday", "prior to Easter"."""
    words = scan.words
    if words[k] not in ("before", "after", "from", "since", "prior", "following"):
        return None
    sign = -1 if words[k] in ("before", "prior") else 1
    j = k + 2 if scan.at(k, "prior", "to") else k + 1
    if words[j] == "now":
        return None
    found = scan.operand(j)
    if found is None or found[0].kind not in ("date", "range", "datetime") or found[0].mod is not None:
        return None
    base, end = found
    start = _future_base(base)
    if start is None:
        return None
    moved = shift(scan, start, length, sign)
    if base.kind == "datetime" or length.seconds:
        return Node("datetime", "minute", [Alt(moved, None, moved + GRAIN_LENGTH["minute"])]), end
    return day_node([moved]), end


def _future_base(base: Node) -> datetime | None:
    """Distances count from the coming one of two dates."""
    return base.alts[-1].start if base.alts else None


def _on_weekday(scan: Scan, length: Length, node: Node, k: int) -> Match:
    """ "in 3 days on Friday", "two months from today on Tuesday"."""
    if scan.words[k] != "on" or node.kind != "date":
        return node, k
    found = weekday_at(scan, k + 1)
    if found is None or node.alts[0].start is None:
        return node, k
    return day_node([near_weekday(node.alts[0].start, found[0], length)]), found[1]


def near_weekday(day: datetime, weekday: int, length: Length) -> datetime:
    """The weekday in the (Sunday to Saturday) week of a day, or after it for months and years."""
    if length.months:
        return day + DAY * ((weekday - day.weekday()) % 7)
    sunday = day - DAY * ((day.weekday() + 1) % 7)
    return sunday + DAY * ((weekday + 1) % 7)


def weekday_at_distance(scan: Scan, i: int) -> Match | None:
    """ "Sunday 3 weeks after January 15th"."""
    found = weekday_at(scan, i)
    if found is None:
        return None
    counted = length_at(scan, scan.skip(found[1], ","))
    if counted is None:
        return None
    anchored = _from_other(scan, *counted) or _from_now(scan, *counted, "")
    if anchored is None or anchored[0].kind != "date" or anchored[0].alts[0].start is None:
        return None
    return day_node([near_weekday(anchored[0].alts[0].start, found[0], counted[0])]), anchored[1]


def length_from(scan: Scan, i: int) -> Match | None:
    """ "3 days starting from next Monday", "for 3 days, from today", "2 weeks starting May 20th"."""
    words = scan.words
    lead = words[i] == "for"
    found = length_at(scan, i + 1 if lead else i)
    if found is None or found[0].seconds:
        return None
    length, k = found
    k = scan.skip(k, ",")
    if words[k] in ("starting", "beginning", "commencing") and not lead:
        k = scan.skip(k + 1, "from", "on")
    elif lead and words[k] == "from" and words[k + 1] != "now":
        k += 1
    else:
        return None
    base = scan.operand(k)
    if base is None or base[0].kind != "date" or not base[0].alts:
        return None
    starts = [alt.start for alt in base[0].alts if alt.start is not None]
    return period_node([(start, shift(scan, start, length, 1)) for start in starts], length.grain), base[1]


def bounded_distance(scan: Scan, i: int) -> Match | None:
    """ "more than 2 weeks ago", "less than 3 days after tomorrow", "over a year ago"."""
    words = scan.words
    if words[i] in ("more", "less", "fewer", "longer") and words[i + 1] == "than":
        more, j = words[i] in ("more", "longer"), i + 2
    elif words[i] in ("over", "under") and length_at(scan, i + 1) is not None:
        more, j = words[i] == "over", i + 1
    else:
        return None
    lead = words[j] if words[j] == "in" else ""
    found = length_at(scan, j + 1 if lead else j)
    if found is None:
        return None
    anchored = _from_other(scan, *found) or _from_now(scan, *found, lead)
    if anchored is None or anchored[0].alts[0].start is None:
        return None
    node, end = anchored
    kind: Kind = "range" if node.kind == "date" else "datetimerange"
    moved = node.alts[0].start
    assert moved is not None
    base = shift(scan, moved, found[0], 1 if _backwards(words, found[1], end) else -1)
    early, late = min(base, moved), max(base, moved)
    if not more:
        return Node(kind, node.grain, [Alt(early, late, late)], tags=frozenset(("less_than",))), end
    if moved < base:
        return Node(
            kind, node.grain, [Alt(None, moved, moved)], mod="before", tags=frozenset(("more_than",))
        ), end
    return Node(kind, node.grain, [Alt(moved, None, None)], mod="after", tags=frozenset(("more_than",))), end


def _backwards(words: list[str], k: int, end: int) -> bool:
    return any(
        words[index] in _AGO or words[index] in ("before", "prior") for index in range(k, min(k + 2, end))
    )
