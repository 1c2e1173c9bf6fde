"""Puts days and times together, and lets "in the afternoon" decide what "5" means."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import DAY, midnight
from perdure.dates.grammar.dayparts import moved
from perdure.dates.nodes import Alt, Node
from perdure.dates.tokens import Scan


def fits(hour: int, part: str) -> bool:
    """Whether an hour belongs to the half of the day that a part names."""
    if part in ("morning", "breakfasttime", "brunchtime"):
        return hour < 12
    if part in ("night", "nighttime"):
        return hour >= 18 or hour < 6
    if part in ("lunchtime", "daytime"):
        return 7 <= hour < 18
    return hour >= 12


def pin(node: Node, part: Node) -> Node:
    """The readings of an open clock time that fit a part of the day."""
    if not node.clock_open:
        return node
    kept = [alt for alt in node.alts if alt.start is not None and fits(alt.start.hour, part.part)]
    return node.changed(alts=kept or node.alts, clock_open=not kept)


def on_days(scan: Scan, time: Node, days: Node) -> Node:
    """A time or range of times on each possible day."""
    alts = []
    for alt in time.alts:
        for day in days.alts:
            assert day.start is not None
            alts.append(moved(alt, midnight(day.start) - scan.today))
    kind = "datetime" if time.kind in ("time", "datetime") else "datetimerange"
    timex = days.timex + time.timex if not alts else ""
    return time.changed(
        kind=kind, alts=list(dict.fromkeys(alts)), timex=timex, tags=time.tags | days.tags | {"dated"}
    )


def days_of(node: Node) -> Node:
    """The days on which a node's readings begin."""
    starts: list[datetime] = [midnight(alt.start) for alt in node.alts if alt.start is not None]
    return Node("date", "day", [Alt(day, None, day + DAY) for day in dict.fromkeys(starts)], tags=node.tags)
