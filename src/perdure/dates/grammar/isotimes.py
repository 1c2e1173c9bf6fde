"""The time part of ISO 8601: "T10:30:00Z", "T10:30+02:00"."""

from __future__ import annotations

from datetime import timedelta, timezone

from perdure.dates.build import on_days
from perdure.dates.grammar.clock import clock, clock_node
from perdure.dates.nodes import Alt, Match, Node
from perdure.dates.scan import Scan


def iso_time(scan: Scan, node: Node, j: int) -> Match | None:
    """ "T10:30:00Z": by the 24-hour clock, brought from its own zone into the reference's."""
    found = clock(scan, j + 1)
    if found is None:
        return None
    value, k = found
    timed = on_days(scan, clock_node(scan, value._replace(open=False)), node)
    offset, end = _zone_offset(scan, k)
    if offset is None:
        return timed, k
    zone = timezone(offset)
    alts = []
    for alt in timed.alts:
        assert alt.start is not None
        assert alt.end is not None
        start = alt.start.replace(tzinfo=zone).astimezone(scan.zone).replace(tzinfo=None)
        alts.append(Alt(start, None, start + (alt.end - alt.start)))
    return timed.changed(alts=alts), end


def _zone_offset(scan: Scan, k: int) -> tuple[timedelta | None, int]:
    words = scan.words
    if words[k] == "z" and not scan.spaced[k]:
        return timedelta(0), k + 1
    if words[k] not in ("+", "-") or scan.spaced[k] or scan.spaced[k + 1] or scan.digits(k + 1) not in (2, 4):
        return None, k
    number = scan.numbers[k + 1] or 0
    hours, minutes, end = (
        (number // 100, number % 100, k + 2) if scan.digits(k + 1) == 4 else (number, 0, k + 2)
    )
    if words[end] == ":" and scan.digits(end + 1) == 2 and not scan.spaced[end]:
        minutes, end = scan.numbers[end + 1] or 0, end + 2
    if hours > 14 or minutes > 59:
        return None, k
    size = timedelta(hours=hours, minutes=minutes)
    return (-size if words[k] == "-" else size), end
