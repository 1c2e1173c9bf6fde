"""`perdure directives`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.domain.directive import Directive
from perdure.surfaces.cli.draw import draw_record, table
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Tags,
    Yes,
    confirm,
    memory,
    reading,
)
from perdure.surfaces.plain import plain

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)
DirectiveId = Annotated[str, typer.Argument(metavar="ID", help="Id of the rule")]
Content = Annotated[str, typer.Argument(metavar="TEXT", help="The rule")]
Priority = Annotated[int | None, typer.Option(metavar="N", help="The highest comes first [0]")]


@app.callback()
def directives(ctx: typer.Context) -> None:
    """Rules of a bank for every reflect."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the rule is called")],
    content: Content,
    bank: BankName = DEFAULT_BANK,
    priority: Priority = None,
    tags: Tags = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a rule; with tags it holds for questions that carry one of them."""
    with memory(database) as engine:
        directive = engine.directives.create(bank, name, content, priority=priority or 0, tags=tags or ())
    tell(as_json, directive, f"made {directive.id}")


@app.command("list")
def list_(
    bank: BankName = DEFAULT_BANK,
    tags: Tags = None,
    every: Annotated[bool, typer.Option("--all", help="Also rules that are switched off")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the rules, highest priority first."""
    with reading(database, bank) as engine:
        rules = engine.directives.list(bank, tags=tags or (), active_only=not every)
    tell(as_json, {"bank": bank, "directives": rules}, lambda shown: draw_directives(shown, rules))


@app.command()
def show(
    directive: DirectiveId, bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False
) -> None:
    """Show one rule."""
    with reading(database, bank) as engine:
        fields = plain(engine.directives.get(bank, directive))
    tell(as_json, fields, lambda shown: draw_record(shown, fields))


@app.command()
def update(
    directive: DirectiveId,
    bank: BankName = DEFAULT_BANK,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Another name")] = None,
    content: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="Another rule")] = None,
    priority: Priority = None,
    active: Annotated[bool | None, typer.Option("--on/--off", help="Switch it on or off")] = None,
    tags: Tags = None,
    untagged: Annotated[bool, typer.Option("--untagged", help="Let it hold everywhere")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change a rule."""
    changed_tags = [] if untagged else tags
    options = {
        "name": name,
        "content": content,
        "priority": priority,
        "is_active": active,
        "tags": changed_tags,
    }
    changes = {field: value for field, value in options.items() if value is not None}
    with reading(database, bank) as engine:
        changed = engine.directives.update(bank, directive, **changes)  # type: ignore[arg-type]
    tell(as_json, changed, f"changed {changed.id}")


@app.command()
def delete(
    directive: DirectiveId,
    bank: BankName = DEFAULT_BANK,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Drop a rule."""
    with reading(database, bank) as engine:
        rule = engine.directives.get(bank, directive)
        confirm(f"Drop the rule {rule.name}?", yes)
        engine.directives.delete(bank, directive)
    tell(as_json, {"deleted": directive}, f"dropped {directive}")


def draw_directives(console: Console, directives: Sequence[Directive]) -> None:
    """Rules with their ids."""
    if not directives:
        console.print(Text("no directives", style="dim"))
        return
    drawn = table(Column("id", no_wrap=True, style="dim"), "priority", Column("rule", ratio=1), "tags")
    for one in directives:
        rule = Text(f"{one.name}: {' '.join(one.content.split())}", style="" if one.is_active else "dim")
        drawn.add_row(one.id, str(one.priority), rule, Text(", ".join(sorted(one.tags))))
    console.print(drawn)
