"""Turns what the grammars build into the public spans, with aware times."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import DAY
from perdure.dates.model import DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.nodes import Alt, Node, Reference

_TAGGED = ("more_than", "less_than")


def make_span(ref: Reference, node: Node, text: str, start: int, end: int, prefer: Prefer) -> DateSpan | None:
    """The public form of a node."""
    values = tuple(value for alt in node.alts if (value := _value(ref, alt)) is not None)
    if node.alts and not values:
        return None
    window = _preferred(ref, values, node, prefer)
    modifier = next((tag for tag in _TAGGED if tag in node.tags), node.mod)
    return DateSpan(
        text=text,
        start=start,
        end=end,
        kind=node.kind,
        precision=node.grain,
        window=window,
        modifier=modifier,
        timex=node.timex or _timex(node),
        values=values,
        seconds=node.seconds,
    )


def _value(ref: Reference, alt: Alt) -> DateValue | None:
    start, stop, end, begin = alt
    first = begin if begin is not None else start
    if first is not None and end is not None and end < first:
        return None
    return DateValue(_aware(ref, start), _aware(ref, stop), DateWindow(_aware(ref, first), _aware(ref, end)))


def _aware(ref: Reference, moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=ref.zone)


def _preferred(
    ref: Reference, values: tuple[DateValue, ...], node: Node, prefer: Prefer
) -> DateWindow | None:
    """The window of the reading the caller wants: the latest that has begun, or the first that is not over."""
    if not values or node.kind in ("duration", "recurring"):
        return None
    now = ref.now.replace(tzinfo=ref.zone)
    if prefer == "past":
        begun = [value.window for value in values if value.window.start is None or value.window.start <= now]
        if not begun:
            return values[0].window
        return max(begun, key=lambda window: window.start or window.end or now)
    coming = [value.window for value in values if value.window.end is None or value.window.end > now]
    if not coming:
        return values[-1].window
    return min(coming, key=lambda window: window.start or window.end or now)


def _timex(node: Node) -> str:
    """A plain TIMEX value for nodes that have only one reading."""
    if len(node.alts) != 1:
        return ""
    start, stop, _, _ = node.alts[0]
    pattern = "%Y-%m-%d" if node.kind in ("date", "range") else "%Y-%m-%dT%H:%M:%S"
    if start is None or stop is None:
        known = start if start is not None else stop
        return known.strftime(pattern) if known is not None else ""
    return f"({start.strftime(pattern)},{stop.strftime(pattern)},P{(stop - start) // DAY}D)"
