"""`perdure config`."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from perdure.errors import InvalidInput
from perdure.surfaces.cli.options import AsJson, Database
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import settings_in_force, unknown_names

MASK = "********"
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")


def config(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this setting only")] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only settings that differ from the default")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """The settings in force and where each came from; secrets are masked."""
    rows = effective(database)
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
    if as_json:
        emit({"settings": rows})
        return
    from perdure.surfaces.cli.draw.care import draw_settings

    draw_settings(console(), rows)


def effective(database: str | None) -> list[dict[str, Any]]:
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
    if hasattr(value, "get_secret_value"):
        return MASK if value.get_secret_value() else ""
    return _PASSWORD.sub(rf"\1:{MASK}@", value) if isinstance(value, str) else value
