"""Now, and the end of a day."""

from __future__ import annotations

from datetime import timedelta

from perdure.dates.build import point_node
from perdure.dates.calendar import DAY
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan

_LAST = timedelta(hours=23, minutes=59, seconds=59)


def now(scan: Scan, i: int) -> Match | None:
    """ "now", "right now", "at present", "at this time", "at the moment"."""
    words = scan.words
    if words[i] == "now" and words[i + 1] != "that" and not scan.at(i + 1, "and", "then"):
        j = i + 1
    elif (words[i] in ("right", "just") and words[i + 1] == "now") or scan.at(i, "at", "present"):
        j = i + 2
    elif scan.at(i, "as", "soon", "as", "possible"):
        return point_node(scan.now, "second").changed(timex="FUTURE_REF"), i + 4
    elif (
        words[i] == "at" and words[i + 1] in ("this", "the") and words[i + 2] in ("time", "moment", "minute")
    ):
        if words[i + 1] == "the" and words[i + 2] == "time":
            return None
        j = i + 3
    elif words[i] in ("asap", "currently", "nowadays"):
        j = i + 1
    else:
        return None
    return point_node(scan.now, "second").changed(timex="PRESENT_REF", tags=frozenset(("now",))), j


def end_of_day(scan: Scan, i: int) -> Match | None:
    """ "end of the day", "the eod", "end of the Sunday", "end of tomorrow"."""
    words = scan.words
    j = scan.skip(i, "the")
    if words[j] == "eod":
        return _end_of(scan, Node("date", "day", [Alt(scan.today, None, None)])), j + 1
    if words[j] != "end" or words[j + 1] != "of":
        return None
    k = scan.skip(scan.skip(j + 2, "the"), "my", "our")
    if words[k] == "day":
        return _end_of(scan, Node("date", "day", [Alt(scan.today, None, None)])), k + 1
    found = scan.day(k)
    if found is None or found[0].kind != "date":
        return None
    return _end_of(scan, found[0]), found[1]


def _end_of(scan: Scan, day: Node) -> Node:
    alts = [Alt(alt.start + _LAST, None, alt.start + DAY) for alt in day.alts if alt.start is not None]
    return Node("datetime", "second", alts, tags=frozenset(("end_of_day",)))
