"""Distances from now or from another date: "3 days ago", "last 3 months", "in 5 minutes", "the week before Easter"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import DAY, WEEK, unit_bounds, week_start
from perdure.dates.grammar.days import weekday_at
from perdure.dates.grammar.numbers import count, length_at, single_length
from perdure.dates.lexicon import word_set
from perdure.dates.model import Kind
from perdure.dates.nodes import FINE_UNITS, Alt, Length, Match, Node, day_node, make_length, period_node
from perdure.dates.scan import Scan, memoised

_AGO = word_set("ago back earlier previously")
_LATER = word_set("later hence after")
_ENDS = frozenset(("", ".", ",", "!", "?", ";", ")"))
_MODALS = word_set("will would can could should may might must to not did does")
_NEAR_UNITS = word_set("week weekend month quarter year decade")


@memoised
def distance(scan: Scan, i: int) -> Match | None:
    """A length away from now or from another date: "3 days ago", "two weeks from tomorrow", "within 2h"."""
    words = scan.words
    lead = words[i]
    if lead == "in" and _not_since(scan, i):
        return None
    if lead == "in":
        j = scan.skip(i + 1, "about")
    elif lead == "within":
        j = scan.skip(scan.skip(i + 1, "the"), "next", "coming", "following")
    else:
        j = i
    if (length := length_at(scan, j)) is None:
        return None
    if lead == "within":
        end = (
            length[1] + 2
            if scan.at(length[1], "from", "today") or scan.at(length[1], "from", "now")
            else length[1]
        )
        return _within(scan, length[0]), end
    anchored = _anchored(scan, *length, lead)
    return None if anchored is None else _on_weekday(scan, length[0], *anchored)


def _not_since(scan: Scan, i: int) -> bool:
    """Whether "in" names how long something has not been: "we haven't talked in a few days"."""
    before = scan.words[max(0, i - 6) : i]
    negated = any(word.endswith(("ven't", "sn't", "dn't")) for word in before)
    return negated or not {"never", "first", "longest"}.isdisjoint(before)


def _within(scan: Scan, length: Length) -> Node:
    if length.grain in FINE_UNITS or length.seconds:
        return scan.time_around_now(length, 1)
    return period_node([(scan.today, scan.shift(scan.today, length, 1))], length.grain)


def _anchored(scan: Scan, length: Length, k: int, lead: str) -> Match | None:
    """The day or moment that lies a length from what stands behind it: a date, "ago", "from now"."""
    return _from_other(scan, length, k) or _from_now(scan, length, k, lead)


def _from_now(scan: Scan, length: Length, k: int, lead: str) -> Match | None:
    words = scan.words
    if lead == "in":
        k = k + 2 if scan.at(k, "'", "time") else scan.skip(k, "time")
        return scan.moved_from_now(length, 1), k + 2 if scan.at(k, "from", "now") else k
    if words[k] in _AGO or (words[k] == "before" and words[k + 1] in _ENDS):
        if words[k] == "back" and words[k + 1] in ("to", "in", "on"):
            return None
        return scan.moved_from_now(length, -1), k + 1
    if scan.at(k, "from", "now") or scan.at(k, "after", "now"):
        return scan.moved_from_now(length, 1), k + 2
    if words[k] in _LATER and (words[k] != "after" or words[k + 1] in _ENDS):
        return scan.moved_from_now(length, 1), k + 1
    return None


def _from_other(scan: Scan, length: Length, k: int) -> Match | None:
    """ "before Christmas", "after tomorrow", "since the year 2011", "from Tuesday", "prior to Easter"."""
    words = scan.words
    if words[k] not in ("before", "after", "from", "since", "prior", "following"):
        return None
    j = k + 2 if scan.at(k, "prior", "to") else k + 1
    match = scan.operand(j) if words[j] != "now" else None
    if match is None or match[0].kind not in ("date", "range", "datetime") or match[0].mod is not None:
        return None
    base, end = match
    # Distances count from the coming one of two dates.
    start = base.alts[-1].start if base.alts else None
    if start is None:
        return None
    moved = scan.shift(start, length, -1 if words[k] in ("before", "prior") else 1)
    if base.kind == "datetime" or length.seconds:
        return Node("datetime", "minute", [Alt(moved, None, moved + FINE_UNITS["minute"])]), end
    return day_node([moved]), end


def _on_weekday(scan: Scan, length: Length, node: Node, k: int) -> Match:
    """ "in 3 days on Friday", "two months from today on Tuesday"."""
    weekday = weekday_at(scan, k + 1) if scan.words[k] == "on" and node.kind == "date" else None
    if weekday is None:
        return node, k
    return day_node([_near_weekday(node.starts[0], weekday[0], length)]), weekday[1]


def _near_weekday(day: datetime, weekday: int, length: Length) -> datetime:
    """The weekday in the (Sunday to Saturday) week of a day, or after it for months and years."""
    if length.months:
        return day + DAY * ((weekday - day.weekday()) % 7)
    sunday = day - DAY * ((day.weekday() + 1) % 7)
    return sunday + DAY * ((weekday + 1) % 7)


def weekday_at_distance(scan: Scan, i: int) -> Match | None:
    """ "Sunday 3 weeks after January 15th"."""
    weekday = weekday_at(scan, i)
    length = length_at(scan, scan.skip(weekday[1], ",")) if weekday is not None else None
    anchored = _anchored(scan, *length, "") if length is not None else None
    if weekday is None or length is None or anchored is None or anchored[0].kind != "date":
        return None
    return day_node([_near_weekday(anchored[0].starts[0], weekday[0], length[0])]), anchored[1]


def weekends_away(scan: Scan, i: int) -> Match | None:
    """ "two weekends ago", "a couple of weekends from now"."""
    counted = count(scan, i)
    if counted is None or scan.unit(counted[1]) != "weekend" or not 1 <= counted[0] <= 500:
        return None
    amount, j = int(counted[0]), counted[1] + 1
    if scan.words[j] in _AGO:
        return scan.unit_node("weekend", -amount), j + 1
    if scan.words[j] in ("later", "hence"):
        return scan.unit_node("weekend", amount), j + 1
    return (scan.unit_node("weekend", amount), j + 2) if scan.at(j, "from", "now") else None


def length_from(scan: Scan, i: int) -> Match | None:
    """ "3 days starting from next Monday", "for 3 days, from today", "2 weeks starting May 20th"."""
    words = scan.words
    lead = words[i] == "for"
    said = length_at(scan, i + 1 if lead else i)
    if said is None or said[0].seconds:
        return None
    length, k = said[0], scan.skip(said[1], ",")
    if words[k] in ("starting", "beginning", "commencing") and not lead:
        k = scan.skip(k + 1, "from", "on")
    elif lead and words[k] == "from" and words[k + 1] != "now":
        k += 1
    else:
        return None
    if (base := scan.operand(k)) is None or base[0].kind != "date" or not base[0].alts:
        return None
    pairs = [(start, scan.shift(start, length, 1)) for start in base[0].starts]
    return period_node(pairs, length.grain), base[1]


def bounded_distance(scan: Scan, i: int) -> Match | None:
    """ "more than 2 weeks ago", "less than 3 days after tomorrow", "over a year ago"."""
    words = scan.words
    if words[i] in ("more", "less", "fewer", "longer") and words[i + 1] == "than":
        j = i + 2
    elif words[i] in ("over", "under"):
        j = i + 1
    else:
        return None
    lead = "in" if words[j] == "in" and j == i + 2 else ""
    length = length_at(scan, j + 1 if lead else j)
    anchored = _anchored(scan, *length, lead) if length is not None else None
    if length is None or anchored is None or anchored[0].alts[0].start is None:
        return None
    node, end = anchored
    kind: Kind = "range" if node.kind == "date" else "datetimerange"
    moved = node.starts[0]
    linking = words[length[1] : min(length[1] + 2, end)]
    backwards = any(word in _AGO or word in ("before", "prior") for word in linking)
    base = scan.shift(moved, length[0], 1 if backwards else -1)
    if words[i] not in ("more", "longer", "over"):
        alt = Alt(min(base, moved), max(base, moved), max(base, moved))
        return Node(kind, node.grain, [alt], tags=frozenset(("less_than",))), end
    mod, alt = ("before", Alt(None, moved, moved)) if moved < base else ("after", Alt(moved, None, None))
    return Node(kind, node.grain, [alt], mod=mod, tags=frozenset(("more_than",))), end


@memoised
def last_units(scan: Scan, i: int) -> Match | None:
    """ "last 3 months", "past few days", "next couple weeks", "5 upcoming years", "13 last minutes"."""
    words = scan.words
    if words[i] == "last" and words[i - 1] in _MODALS:
        return None
    steps, j = scan.shifted(i)
    if steps:
        return _shifted_length(scan, steps, j) if words[j] not in ("a", "an", "half") else None
    if (counted := count(scan, i)) is None or words[i] in ("a", "an"):
        return None
    amount, k = counted
    steps, unit = scan.steps(k), scan.unit(k + 1)
    if not steps or unit is None or unit == "night" or amount > 10_000 or not words[k + 1].endswith("s"):
        return None
    return scan.stretch(make_length(amount, unit), steps), k + 2


def _shifted_length(scan: Scan, steps: int, j: int) -> Match | None:
    """The length after "last"; of "last 3 months and 2 weeks and 2 days ago" only the first part belongs to it."""
    for reader in (length_at, single_length):
        length = reader(scan, j)
        if length is not None and scan.words[length[1]] not in ("ago", "later"):
            return scan.stretch(length[0], steps), length[1]
    return None


def unit_near(scan: Scan, i: int) -> Match | None:
    """ "the week before Easter", "the month after her arrival in May 2020" (only where a date follows)."""
    j = scan.skip(i, "the")
    unit = scan.words[j]
    base = _base(scan, j + 1) if unit in _NEAR_UNITS else None
    if base is None:
        return None
    starts, sign, end = base
    if unit in ("week", "weekend"):
        return period_node([_week_near(unit, start, sign) for start in starts], unit), end
    return period_node([unit_bounds(unit, start, sign) for start in starts], unit), end


def _week_near(unit: str, base: datetime, sign: int) -> tuple[datetime, datetime]:
    """The seven days before or after a day; the last weekend that is over before it, or the first after it."""
    if unit == "week":
        return (base - WEEK, base) if sign < 0 else (base + DAY, base + DAY + WEEK)
    saturday = week_start(base) + DAY * 5
    if sign < 0:
        saturday -= WEEK
    elif saturday <= base:
        saturday += WEEK
    return saturday, saturday + 2 * DAY


def day_near(scan: Scan, i: int) -> Match | None:
    """ "the day before Christmas", "the Sunday after Thanksgiving"."""
    j = scan.skip(i, "the")
    weekday = weekday_at(scan, j)
    if scan.words[j] != "day" and weekday is None:
        return None
    base = _base(scan, j + 1 if weekday is None else weekday[1])
    if base is None:
        return None
    starts, sign, end = base
    if weekday is None:
        return day_node(start + DAY * sign for start in starts), end
    gaps = [((weekday[0] - start.weekday()) * sign) % 7 or 7 for start in starts]
    return day_node(start + DAY * gap * sign for start, gap in zip(starts, gaps, strict=True)), end


def _base(scan: Scan, k: int) -> tuple[list[datetime], int, int] | None:
    """The dates behind "before" or "after", with the direction and the index after them."""
    words = scan.words
    if words[k] in ("before", "after", "following", "preceding"):
        j = k + 1
    elif scan.at(k, "prior", "to"):
        j = k + 2
    else:
        return None
    match = scan.atom(j)
    if match is None or match[0].kind not in ("date", "range") or match[0].mod is not None:
        return None
    node, end = match
    if not node.starts or (words[j] in ("next", "last") and end == j + 1):
        return None
    return node.starts, -1 if words[k] in ("before", "prior", "preceding") else 1, end
