"""Pieces that several commands draw: dates, scores, amounts, a fact with its provenance, a table, a record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from rich import box
from rich.console import Console
from rich.padding import PaddingDimensions
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence

EVIDENCE_STYLE = {Evidence.STRONG: "bold green", Evidence.WEAK: "yellow", Evidence.NONE: "dim"}
TYPE_STYLE = {"world": "blue", "experience": "magenta", "opinion": "yellow", "observation": "cyan"}
_DAY = "%Y-%m-%d"
_MADE_UP = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|[0-9a-f]{16,}")
_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?\+00:00$")


def day(moment: datetime | None) -> str:
    """Return a date, or nothing."""
    return f"{moment:{_DAY}}" if moment is not None else ""


def happened(fact: Fact) -> str:
    """When a fact happened: a day, a month, a year, a span of days; or when it was said."""
    start, end = fact.occurred_start, fact.occurred_end
    if fact.has_unsure_date or (start is None and end is None):
        return f"said {day(fact.mentioned_at)}" if fact.mentioned_at else ""
    return f"planned {span(start, end)}" if fact.is_planned else span(start, end)


def span(start: datetime | None, end: datetime | None) -> str:
    """Return a span of time as people write it; `end` is the first moment after it."""
    if start is None or end is None or end - start <= timedelta(days=1):
        return day(start or end)
    last = end - timedelta(microseconds=1)
    if start == _first_of(start) and end == _first_of(end):
        if (start.month, end.month, end.year - start.year) == (1, 1, 1):
            return f"{start:%Y}"
        if (end.year - start.year) * 12 + end.month - start.month == 1:
            return f"{start:%Y-%m}"
    return f"{day(start)} to {day(last)}"


def _first_of(moment: datetime) -> datetime:
    return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def source(fact: Fact) -> str:
    """Where a fact came from, short; nothing when the document has only a made-up id."""
    name = fact.document_id or ""
    if _MADE_UP.fullmatch(name):
        return ""
    return name if len(name) <= 32 else name[:31] + "…"


def provenance(fact: Fact) -> Text:
    """Return the dim line below a fact: type, date, source, and whether it still holds."""
    line = Text(style="dim")
    line.append(fact.type.value, style=TYPE_STYLE[fact.type.value])
    sure = (
        f"confidence {fact.confidence:.2f}"
        if fact.type.value == "opinion" and fact.confidence is not None
        else ""
    )
    for part in (sure, happened(fact), source(fact), f"×{fact.proof_count}" if fact.proof_count > 1 else ""):
        if part:
            line.append(f" · {part}")
    if fact.retired_at is not None:
        corrected = fact.superseded_by is not None and fact.invalidated_at is None
        line.append(f" · {'corrected' if corrected else 'closed'} {day(fact.retired_at)}", style="red")
    elif fact.valid_to is not None:
        line.append(f" · until {day(fact.valid_to)}", style="red")
    return line


def statement(fact: Fact) -> Text:
    """Return a fact and, below it, its provenance."""
    return Text(" ".join(fact.text.split())) + Text("\n") + provenance(fact)


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 fact`, `2 facts`, `3 entities`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def size(count: int | None) -> str:
    """Bytes in a unit that people read."""
    if count is None:
        return "unknown"
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def table(*columns: str | Column, expand: bool = True, padding: PaddingDimensions = (0, 1)) -> Table:
    """Return the plain table that all lists share."""
    drawn = Table(*columns, box=box.SIMPLE_HEAD, header_style="dim", padding=padding, expand=expand)
    drawn.show_edge = drawn.pad_edge = False
    return drawn


def draw_record(console: Console, fields: Mapping[str, object]) -> None:
    """One thing in full: one field per line, empty ones left out."""
    grid = Table.grid(Column(style="dim", no_wrap=True), Column(ratio=1, overflow="fold"), padding=(0, 2))
    for name, value in fields.items():
        if value not in (None, "", [], {}, ()):
            grid.add_row(name, Text(_shown(value)))
    console.print(grid)


def _shown(value: object) -> str:
    """Return a value as one line: lists with commas, objects as names and values, moments to the second."""
    if isinstance(value, Mapping):
        return " · ".join(f"{name.replace('_', ' ')} {_shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return _MOMENT.sub(r"\1 \2", str(value))
