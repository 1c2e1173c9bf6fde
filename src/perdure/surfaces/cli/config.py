"""`perdure config`: the settings in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console

from perdure.errors import InvalidInput
from perdure.surfaces.cli.draw import draw_record, draw_table
from perdure.surfaces.cli.output import console, tell
from perdure.surfaces.cli.session import AsJson, Database, settings_in_force, unknown_names


def config(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this setting only")] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only settings that differ from the default")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show the settings in force and where each came from; secrets are masked."""
    rows = _in_force(database)
    for unknown in unknown_names():
        console(stderr=True).print(
            f"perdure.toml: no setting is named {unknown!r}; every other command refuses it",
            style="yellow",
            markup=False,
        )
    if name is not None:
        rows = [row for row in rows if row["name"] == name.lower().removeprefix("perdure_")]
        if not rows:
            raise InvalidInput("name", "the name of a setting; `perdure config` lists them", name)
    if changed:
        rows = [row for row in rows if row["origin"] != "default"]
    tell(as_json, {"settings": rows}, lambda shown: _draw(shown, rows))


def _draw(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw one setting in full, several in a table."""
    if len(rows) == 1:
        draw_record(console, rows[0])
        return
    named = [{name: row[name] for name in ("name", "value", "origin")} for row in rows]
    draw_table(console, named, "settings", len(named))


def _in_force(database: str | None) -> list[dict[str, Any]]:
    """Each setting: name, value without secrets, origin and what it is."""
    from perdure.settings import Settings, setting_origins

    settings = settings_in_force(database)
    origins = setting_origins() | ({"database": "--database"} if database is not None else {})
    return [
        {
            "name": name,
            "value": _shown(getattr(settings, name)),
            "origin": origins.get(name, "default"),
            "variable": f"PERDURE_{name.upper()}",
            "about": field.description or "",
        }
        for name, field in Settings.model_fields.items()
    ]


def _shown(value: Any) -> Any:
    from perdure.settings import MASK, without_password

    if hasattr(value, "get_secret_value"):
        return MASK if value.get_secret_value() else ""
    return without_password(value) if isinstance(value, str) else value
