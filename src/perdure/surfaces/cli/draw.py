"""Pieces that several commands draw: dates, scores, amounts, a fact with its provenance, a table, a record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from rich import box
from rich.console import Console
from rich.padding import PaddingDimensions
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence
from perdure.domain.rendering import one_line, shortened

EVIDENCE_STYLE = {Evidence.STRONG: "bold green", Evidence.WEAK: "yellow", Evidence.NONE: "dim"}
TYPE_STYLE = {"world": "blue", "experience": "magenta", "opinion": "yellow", "observation": "cyan"}
_DAY = "%Y-%m-%d"
MADE_UP = re.compile(r"\b(?:[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|[0-9a-f]{16,})$")
EMPTY: tuple[object, ...] = (None, "", [], {}, ())
PROSE = ("text", "content", "source_query", "url", "mission", "message", "error", "value")
"""Fields of which a table has one, in a column that wraps."""
TELLING = (
    "id", "day", "at", "changed_at", "name", "title", "kind", "action", "operation", "relation", "object", "status", *PROSE,
    "type", "speaker", "subject", "answer", "confidence", "score", "mentions", "shown_date", "occurred_start", "mentioned_at",
    "calls", "input_tokens", "output_tokens", "price", "done", "total", "priority", "last_refreshed_at", "updated_at",
)  # fmt: skip
"""Fields by how much they tell about a row; others come after them."""
MIN_PROSE, MOST_OF_PROSE, MOST_OF_CELL, MOST_COLUMNS, MOST_ROWS, MOST_LEFT_OUT, SHORT_ID = (
    30, 200, 28, 6, 200, 10, 8,
)  # fmt: skip
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
    if MADE_UP.fullmatch(name):
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
    """Return a fact with who said it and what it answered, and below it its provenance."""
    asked = f", asked “{one_line(fact.asked)}”" if fact.asked else ""
    said = Text(f"{fact.speaker}{asked}: " if fact.speaker else "", style="bold")
    return said + Text(one_line(fact.text), style="not bold") + Text("\n") + provenance(fact)


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


def draw_done(console: Console, line: str, left_out: Sequence[str], total: int = 0) -> None:
    """Draw what was done, and below it what was left out and why; of `total` such parts the first few."""
    console.print(Text(line, style="bold green"))
    for part in left_out[:MOST_LEFT_OUT]:
        console.print(Text(part, style="yellow"))
    more = max(total, len(left_out)) - MOST_LEFT_OUT
    if more > 0:
        console.print(Text(f"and {more:,} more; --json lists them", style="yellow"))


def table(*columns: str | Column, expand: bool = True, padding: PaddingDimensions = (0, 1)) -> Table:
    """Return the plain table that all lists share."""
    drawn = Table(*columns, box=box.SIMPLE_HEAD, header_style="dim", padding=padding, expand=expand)
    drawn.show_edge = drawn.pad_edge = False
    return drawn


def draw_record(console: Console, fields: Mapping[str, object]) -> None:
    """Draw one thing in full: one field per line, empty ones left out."""
    grid = Table.grid(Column(style="dim", no_wrap=True), Column(ratio=1, overflow="fold"), padding=(0, 2))
    for name, value in fields.items():
        if value not in EMPTY:
            grid.add_row(name, Text(_shown(value)))
    console.print(grid)


def draw_table(console: Console, rows: Sequence[object], noun: str, total: int) -> None:
    """Draw things of one kind, a row each: the fields that tell most about them, as many as fit."""
    flat = [row for one in rows[:MOST_ROWS] for row in _flattened(one)]
    columns = _columns(flat, console.width)
    if flat:
        prose = next((name for name in PROSE if name in columns), None)
        heads = [
            Column(name.replace("_", " "), overflow="fold", ratio=1 if name == prose else None, no_wrap=name not in (prose, "id"))
            for name in columns
        ]  # fmt: skip
        drawn = table(*heads, expand=prose is not None)
        for row in flat:
            drawn.add_row(*(Text(_cell(name, row.get(name))) for name in columns))
        console.print(drawn)
    shown = f"{len(rows):,} of " if total > len(rows) else ""
    one = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
    console.print(
        Text(f"{shown}{plural(total, one, noun)}".replace("_", " ") if total else f"no {noun}", style="dim")
    )
    if len(rows) > MOST_ROWS:
        console.print(Text(f"the first {MOST_ROWS} are shown; --json lists all", style="dim"))


def _flattened(value: object, depth: int = 0) -> Iterator[dict[str, object]]:
    """Yield the row of a value, and below it those of its children; a thing within it, such as what was found, is its row."""
    if not isinstance(value, Mapping):
        parts = value if isinstance(value, list) else [value]
        yield {"": parts[0]} if len(parts) == 1 else {f"{n}": part for n, part in enumerate(parts, start=1)}
        return
    row: dict[str, object] = {}
    for name, part in value.items():
        row |= part if isinstance(part, Mapping) and "id" in part and name != "model" else {name: part}
    children = row.pop("children", ())
    yield row | ({"name": "  " * depth + str(row["name"])} if depth else {})
    for child in children if isinstance(children, list) else ():
        yield from _flattened(child, depth + 1)


def _columns(rows: Sequence[Mapping[str, object]], width: int) -> list[str]:
    """Return the fields to show: none that is empty everywhere, one with prose, and others while there is room."""
    names = dict.fromkeys(
        name for row in rows for name, value in row.items() if value not in (*EMPTY, False, 0)
    )
    if len({row.get("bank") for row in rows}) == 1:
        names.pop("bank", None)
    prose = next((name for name in PROSE if name in names), None)
    room = width - (MIN_PROSE if prose else 0)
    kept = {prose} if prose else set()
    for name in sorted(names, key=lambda name: TELLING.index(name) if name in TELLING else len(TELLING)):
        if name in PROSE or any(isinstance(row.get(name), Mapping) for row in rows):
            continue
        taken = 2 + max(len(name), *(len(_cell(name, row.get(name))) for row in rows))
        if taken <= room and len(kept) < MOST_COLUMNS:
            room -= taken
            kept.add(name)
    order = (*TELLING, *names)
    return sorted((name for name in names if name in kept), key=order.index)


def _cell(name: str, value: object) -> str:
    """Return a value in few characters: ids by their end, moments by their day."""
    if value in EMPTY or value is False:
        return ""
    if isinstance(value, str):
        if name == "id" or name.endswith("_id"):
            return value[-SHORT_ID:] if MADE_UP.search(value) else value
        if name in PROSE:
            return shortened(one_line(value), MOST_OF_PROSE)
        return value[:10] if _MOMENT.match(value) else shortened(one_line(value), MOST_OF_CELL)
    if isinstance(value, float):
        return f"{value:.2f}"
    return "yes" if value is True else _shown(value)[:MOST_OF_CELL]


def _shown(value: object) -> str:
    """Return a value as text: lists with commas or a line per object, objects as names and values, moments to the second."""
    if isinstance(value, Mapping):
        return " · ".join(
            f"{name.replace('_', ' ')} {_shown(part)}" for name, part in value.items() if part not in EMPTY
        )
    if isinstance(value, list | tuple):
        return ("\n" if any(isinstance(part, Mapping) for part in value) else ", ").join(map(_shown, value))
    return _MOMENT.sub(r"\1 \2", str(value))
