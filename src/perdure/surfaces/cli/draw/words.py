"""Small pieces of drawn text: dates, scores, ranks, amounts."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from rich.text import Text

from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence

EVIDENCE_STYLE = {Evidence.STRONG: "bold green", Evidence.WEAK: "yellow", Evidence.NONE: "dim"}
TYPE_STYLE = {"world": "blue", "experience": "magenta", "opinion": "yellow", "observation": "cyan"}
_DAY = "%Y-%m-%d"
_MADE_UP = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|[0-9a-f]{16,}")


def day(moment: datetime | None) -> str:
    """A date, or nothing."""
    return f"{moment:{_DAY}}" if moment is not None else ""


def happened(fact: Fact) -> str:
    """When a fact happened: a day, a month, a year, a span of days; or when it was said."""
    start, end = fact.occurred_start, fact.occurred_end
    if start is None and end is None:
        return f"said {day(fact.mentioned_at)}" if fact.mentioned_at else ""
    return span(start, end)


def span(start: datetime | None, end: datetime | None) -> str:
    """A stretch of time as people write it; `end` is the first moment after it."""
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
    """The dim line below a fact: type, date, source, and whether it still holds."""
    line = Text(style="dim")
    line.append(fact.type.value, style=TYPE_STYLE[fact.type.value])
    for part in (happened(fact), source(fact), f"×{fact.proof_count}" if fact.proof_count > 1 else ""):
        if part:
            line.append(f" · {part}")
    if fact.retired_at is not None:
        line.append(f" · closed {day(fact.valid_to or fact.retired_at)}", style="red")
    return line


def statement(fact: Fact) -> Text:
    """A fact and, below it, its provenance."""
    return Text(" ".join(fact.text.split())) + Text("\n") + provenance(fact)


def in_brief(fact: Fact, characters: int = 62) -> Text:
    """A fact in about two narrow lines: its beginning and its date."""
    flat = " ".join(fact.text.split())
    short = flat if len(flat) <= characters else flat[: characters - 1].rstrip() + "…"
    return Text(short) + Text(f" {day(fact.dated)}" if fact.dated else "", style="dim")


def rank_cell(rank: int | None) -> Text:
    """A channel's rank of a result: the brighter the better."""
    if rank is None:
        return Text("·", style="dim")
    style = "bold green" if rank == 1 else "green" if rank <= 3 else "yellow" if rank <= 10 else "dim"
    return Text(f"#{rank}", style=style)


def number(value: float | None, digits: int = 2) -> Text:
    """A figure, or a dot where there is none."""
    return Text("·", style="dim") if value is None else Text(f"{value:.{digits}f}")


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
