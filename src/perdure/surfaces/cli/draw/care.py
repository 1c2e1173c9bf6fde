"""Settings, models, keys and the doctor's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from perdure.surfaces.cli.draw.lists import table
from perdure.surfaces.cli.draw.words import day
from perdure.surfaces.cli.output import USUAL

if TYPE_CHECKING:
    from perdure.surfaces.cli.checks import Check
    from perdure.surfaces.keys import ApiKey

MARKS = {
    "ok": ("✓", "green"),
    "warn": ("!", "yellow"),
    "fail": ("✗", "bold red"),
    "used": ("●", "green"),
    "absent": ("·", "dim"),
}


def draw_settings(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Name, value and origin; what was set by the user stands out. Where there is little room, notes stand below."""
    roomy = console.width >= USUAL
    made = table("setting", "value", "from", *(["about"] if roomy else []))
    made.columns[3 if roomy else 1].ratio = 1
    for row in rows:
        plain_default = row["origin"] == "default"
        value = Text(
            "" if row["value"] is None else str(row["value"]), style="" if plain_default else "green"
        )
        about = Text(row["about"], style="dim")
        if row["about"] and not roomy:
            value = Text("\n").join([value or Text("–", style="dim"), about])
        made.add_row(
            Text(row["name"], style="" if plain_default else "bold"),
            value,
            Text(row["origin"], style="dim" if plain_default else "cyan"),
            *([about] if roomy else []),
        )
    console.print(made)


def draw_models(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each model and below it its place, when it is on this machine."""
    made = table("", "model", "kind", "size", expand=False)
    made.columns[1].overflow = "fold"
    for row in rows:
        state = "fail" if row["in_use"] and not row["source"] else "ok" if row["source"] else "absent"
        mark, style = MARKS["used" if state == "ok" and row["in_use"] else state]
        size = f"{row['dimensions']} × {row['max_tokens']}" if row["dimensions"] else str(row["max_tokens"])
        name = Text(row["name"], style="bold" if row["in_use"] else "")
        below = " · ".join(filter(None, (row["licence"], row["source"])))
        name += Text(f"\n{below}", style="dim not bold")
        made.add_row(Text(mark, style=style), name, row["kind"], Text(size, style="dim"))
    console.print(made)
    console.print(Text("● in use  ✓ found  · not on this machine", style="dim"))
    for row in rows:
        if row["in_use"] and row["missing"]:
            console.print(Text(row["missing"], style="red"))


def draw_checks(console: Console, checks: Sequence[Check]) -> None:
    """The doctor's findings by section, each with its remedy."""
    for section in dict.fromkeys(check.section for check in checks):
        console.print(Text(section, style="bold"))
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=3, justify="right")
        grid.add_column(no_wrap=True, min_width=14)
        grid.add_column(ratio=1)
        for check in (check for check in checks if check.section == section):
            mark, style = MARKS[check.state]
            told = Text(check.detail)
            if check.remedy:
                told.append(f"\n→ {check.remedy}", style=style)
            grid.add_row(Text(mark, style=style), Text(check.name), told)
        console.print(grid)
    failed = sum(check.state == "fail" for check in checks)
    warned = sum(check.state == "warn" for check in checks)
    if failed or warned:
        console.print(Text(f"\n{failed} failed, {warned} to look at", style="red" if failed else "yellow"))
    else:
        console.print(Text("\nall is well", style="green"))


def draw_keys(console: Console, keys: Sequence[ApiKey]) -> None:
    """Keys without their secrets."""
    if not keys:
        console.print(Text("no keys: the server answers on this machine only", style="dim"))
        return
    made = table("key", "name", "banks", "scopes", "created")
    made.columns[0].no_wrap = made.columns[4].no_wrap = True
    made.columns[1].overflow = made.columns[2].overflow = "fold"
    for key in keys:
        scopes = ", ".join(sorted(scope.value for scope in key.scopes))
        made.add_row(key.id, Text(key.name), Text(", ".join(key.banks)), scopes, day(key.created_at))
    console.print(made)
