"""Lengths of time: "3 hours 30 minutes", "a couple of weeks", "one and a half years"."""

from __future__ import annotations

from perdure.dates.build import DAY_SECONDS, make_length
from perdure.dates.grammar.numbers import count
from perdure.dates.nodes import Length, Match, Node
from perdure.dates.scan import Scan, memoised

_SIZE = ("second", "minute", "hour", "day", "week", "month", "year")
_GLUED = frozenset(
    (
        "h",
        "d",
        "y",
        "m",
        "s",
        "w",
        "min",
        "mins",
        "hr",
        "hrs",
        "sec",
        "secs",
        "mo",
        "yr",
        "yrs",
        "wk",
        "wks",
        "day",
        "days",
    )
)
_ONLY_GLUED = frozenset(("h", "d", "y", "mo"))


def unit_at(scan: Scan, i: int) -> str | None:
    """The unit of time named at an index."""
    return scan.lex.units.get(scan.words[i])


def join_lengths(first: Length, second: Length) -> Length:
    """The sum; the grain is the finer one."""
    grain = min(
        first.grain, second.grain, key=lambda name: _SIZE.index(name) if name in _SIZE else len(_SIZE)
    )
    tail = second.timex[1:]
    if "T" in first.timex and tail.startswith("T"):
        tail = tail[1:]
    return Length(
        first.months + second.months,
        first.days + second.days,
        first.seconds + second.seconds,
        first.business + second.business,
        grain,
        first.timex + tail,
        first.total + second.total,
    )


def single_length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """A count with its unit."""
    counted = count(scan, i)
    if counted is None:
        return None
    amount, j = counted
    if scan.words[j] == "-":
        j += 1
    if scan.words[j] in ("more", "full", "whole", "additional", "long", "extra", "short"):
        j += 1
    if scan.words[j] in ("business", "working", "work") and unit_at(scan, j + 1) == "day":
        return Length(
            business=int(amount), grain="day", timex=f"P{int(amount)}BD", total=amount * DAY_SECONDS
        ), j + 2
    word = scan.words[j]
    unit = scan.lex.units.get(word)
    if unit is None or (word in _ONLY_GLUED and (scan.spaced[j] or scan.numbers[j - 1] is None)):
        return None
    if amount > 100_000:
        return None
    return _half_after(scan, amount, unit, j + 1)


def _half_after(scan: Scan, amount: float, unit: str, j: int) -> tuple[Length, int]:
    words = scan.words
    if words[j] == "and":
        k = scan.skip(j + 1, "a")
        if (
            words[k] == "half"
            and scan.lex.units.get(words[k + 1]) is None
            and words[k + 1] not in ("a", "an", "past")
        ):
            return make_length(amount + 0.5, unit), k + 1
        if words[k] == "quarter" and k > j + 1:
            return make_length(amount + 0.25, unit), k + 1
    return make_length(amount, unit), j


@memoised
def length_at(scan: Scan, i: int) -> tuple[Length, int] | None:
    """A length, its parts joined: "2 years, 1 month and 21 days"."""
    first = single_length(scan, i)
    if first is None:
        return None
    total, j = first
    for _ in range(5):
        k = scan.skip(scan.skip(j, ","), "and")
        following = single_length(scan, k)
        if following is None or _rank(following[0].grain) >= _rank(total.grain):
            break
        if scan.words[k] in ("a", "an") and k == j:
            break
        total, j = join_lengths(total, following[0]), following[1]
    return total, j


def _rank(grain: str) -> int:
    return _SIZE.index(grain) if grain in _SIZE else len(_SIZE)


def duration_node(length: Length, mod: str | None = None) -> Node:
    """A duration has no place on the time line."""
    return Node(
        "duration", length.grain, [], mod=mod, timex=length.timex, seconds=length.total, length=length
    )


def duration(scan: Scan, i: int) -> Match | None:
    """ "3 hours", "all day", "the whole week"."""
    words = scan.words
    if words[i] in ("all", "whole", "entire", "full"):
        j = scan.skip(i + 1, "the")
        unit = unit_at(scan, j)
        if unit and not words[j].endswith("s") and unit not in ("second", "weekend", "night"):
            return duration_node(make_length(1, unit)), j + 1
        return None
    found = length_at(scan, i)
    if found is None or words[i] == "another":
        return None
    length, j = found
    if (
        words[i] in ("a", "an")
        and words[i + 1] in ("day", "second", "night")
        and (not i or words[i - 1] not in ("for", "than", "in", "within", "takes"))
    ):
        return None
    return duration_node(length), j
