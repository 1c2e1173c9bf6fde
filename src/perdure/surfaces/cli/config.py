"""`perdure config` and `perdure models`: the settings in force, and the models that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.errors import InvalidInput, ModelError
from perdure.surfaces.cli.draw import table
from perdure.surfaces.cli.output import USUAL, console, tell
from perdure.surfaces.cli.session import AsJson, Database, load_settings, settings_in_force, unknown_names

_MARKS = {"used": ("●", "green"), "ok": ("✓", "green"), "absent": ("·", "dim"), "fail": ("✗", "bold red")}


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
    tell(as_json, {"settings": rows}, lambda shown: draw_settings(shown, rows))


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


def draw_settings(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Name, value and origin; what was set by the user stands out. Where there is little room, notes stand below."""
    roomy = console.width >= USUAL
    drawn = table("setting", Column("value", ratio=None if roomy else 1), "from")
    if roomy:
        drawn.add_column("about", ratio=1)
    for row in rows:
        plain_default = row["origin"] == "default"
        value = Text(
            "" if row["value"] is None else str(row["value"]), style="" if plain_default else "green"
        )
        about = Text(row["about"], style="dim")
        if row["about"] and not roomy:
            value = Text("\n").join([value or Text("–", style="dim"), about])
        drawn.add_row(
            Text(row["name"], style="" if plain_default else "bold"),
            value,
            Text(row["origin"], style="dim" if plain_default else "cyan"),
            *([about] if roomy else []),
        )
    console.print(drawn)


def models(as_json: AsJson = False) -> None:
    """List the models that Perdure knows, which are in use, and where the files of each were found."""
    rows = _known_models()
    tell(as_json, {"models": rows}, lambda shown: draw_models(shown, rows))


def _known_models() -> list[dict[str, Any]]:
    """Each known model: what it is, where it was found, or how to get it."""
    from perdure.models.manifest import known_models
    from perdure.models.weights import Places, find_weights

    settings = load_settings()
    here = Places(store=settings.models_folder)
    rows = []
    for spec in known_models():
        row: dict[str, Any] = {
            "name": spec.name,
            "kind": spec.kind,
            "dimensions": spec.dimensions or None,
            "max_tokens": spec.max_tokens,
            "licence": spec.licence,
            "in_use": spec.name.lower() in (settings.embedder.lower(), settings.reranker.lower()),
            "source": None,
            "path": None,
            "missing": None,
        }
        try:
            weights = find_weights(spec, here)
            row.update(source=weights.source, path=weights.model_path)
        except ModelError as error:
            row["missing"] = str(error)
        rows.append(row)
    return rows


def draw_models(console: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Each model and below it its place, when it is on this machine."""
    drawn = table("", Column("model", overflow="fold"), "kind", "size", expand=False)
    for row in rows:
        state = "fail" if row["in_use"] and not row["source"] else "ok" if row["source"] else "absent"
        mark, style = _MARKS["used" if state == "ok" and row["in_use"] else state]
        size = f"{row['dimensions']} × {row['max_tokens']}" if row["dimensions"] else str(row["max_tokens"])
        name = Text(row["name"], style="bold" if row["in_use"] else "")
        below = " · ".join(filter(None, (row["licence"], row["source"])))
        name += Text(f"\n{below}", style="dim not bold")
        drawn.add_row(Text(mark, style=style), name, row["kind"], Text(size, style="dim"))
    console.print(drawn)
    console.print(Text("● in use  ✓ found  · not on this machine", style="dim"))
    for row in rows:
        if row["in_use"] and row["missing"]:
            console.print(Text(row["missing"], style="red"))
