"""`perdure mental-models`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Column
from rich.text import Text

from perdure.domain.mental_model import DEFAULT_TOKENS, MentalModel
from perdure.domain.operation import Operation, OperationStatus
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw import day, table
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Limit,
    Tags,
    Types,
    Yes,
    confirm,
    memory,
    reading,
)
from perdure.surfaces.plain import plain

if TYPE_CHECKING:  # a command's help loads it not
    from perdure.engine import Perdure

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)
WAIT_SECONDS = 600.0
ModelId = Annotated[str, typer.Argument(metavar="ID", help="Id of the mental model")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question that it answers")]
Delta = Annotated[bool | None, typer.Option("--delta/--full", help="Edit sentences, or write anew [full]")]
Consolidation = Annotated[bool | None, typer.Option("--after-consolidation", help="Refresh it then")]
Schedule = Annotated[str | None, typer.Option("--cron", metavar="CRON", help="Refresh it then, UTC")]


@app.callback()
def mental_models(ctx: typer.Context) -> None:
    """Standing questions and the documents that answer them."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called")],
    question: Question,
    bank: BankName = DEFAULT_BANK,
    model_id: Annotated[str | None, typer.Option("--id", metavar="ID", help="An id of your own")] = None,
    tags: Tags = None,
    types: Types = None,
    max_tokens: Annotated[int, typer.Option(metavar="N", help="Size of the document")] = DEFAULT_TOKENS,
    delta: Delta = None,
    after_consolidation: Consolidation = None,
    cron: Schedule = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a mental model and write it; with tags it reads only facts that carry all of them."""
    trigger = _trigger(delta, after_consolidation, cron)
    if types:
        trigger["fact_types"] = types
    with memory(database) as engine:
        model, operation = engine.models.create(
            bank, name, question, model_id=model_id, tags=tags or (), max_tokens=max_tokens, trigger=trigger
        )
        finish_refresh(engine, operation, as_json, model.id)


@app.command("list")
def list_(
    bank: BankName = DEFAULT_BANK, tags: Tags = None, database: Database = None, as_json: AsJson = False
) -> None:
    """List the mental models, newest refresh first, and which of them are stale."""
    with reading(database, bank) as engine:
        models = engine.models.list(bank, tags=tags or ())
        stale = engine.models.stale(bank, [model.id for model in models])
    value = {
        "bank": bank,
        "mental_models": [{**_plain(model), "is_stale": model.id in stale} for model in models],
    }
    tell(as_json, value, lambda shown: draw_models(shown, models, stale))


@app.command()
def show(
    model: ModelId, bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False
) -> None:
    """Show the document."""
    with reading(database, bank) as engine:
        read = engine.models.get(bank, model)
        stale = bool(engine.models.stale(bank, [model]))

    def draw(console: Console) -> None:
        console.print(Text(read.name, style="bold"))
        console.print(Text(read.source_query, style="dim"))
        console.print(Markdown(read.content))
        refreshed = (
            f"refreshed {day(read.last_refreshed_at)}" if read.last_refreshed_at else "never refreshed"
        )
        console.print(Text(f"{refreshed}{', stale' if stale else ''}", style="dim"))

    tell(as_json, {**_plain(read), "is_stale": stale}, draw)


@app.command()
def update(
    model: ModelId,
    bank: BankName = DEFAULT_BANK,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Another name")] = None,
    question: Annotated[str | None, typer.Option(metavar="TEXT", help="Another question")] = None,
    max_tokens: Annotated[int | None, typer.Option(metavar="N", help="Another size")] = None,
    tags: Tags = None,
    delta: Delta = None,
    after_consolidation: Consolidation = None,
    cron: Schedule = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Change settings; the document stays until the next refresh."""
    options = {"name": name, "source_query": question, "max_tokens": max_tokens, "tags": tags}
    changes = {field: value for field, value in options.items() if value is not None}
    with reading(database, bank) as engine:
        if trigger := _trigger(delta, after_consolidation, cron):
            changes["trigger"] = engine.models.get(bank, model).trigger.merged(trigger)  # type: ignore[assignment]
        changed = engine.models.update(bank, model, **changes)  # type: ignore[arg-type]
    tell(as_json, _plain(changed), f"changed {changed.id}")


@app.command()
def refresh(
    model: Annotated[str | None, typer.Argument(metavar="ID", help="Id of the mental model")] = None,
    bank: BankName = DEFAULT_BANK,
    delta: Delta = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change")] = False,
    due: Annotated[
        bool, typer.Option("--due", help="All that are stale and whose schedule has come")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write a mental model anew from memory, or those whose schedule has come."""
    if (model is None) != due:
        raise InvalidInput("ID", "the id of a mental model, or --due", model)
    mode = None if delta is None else ("delta" if delta else "full")
    with reading(database, bank) as engine:
        if model is None:
            operations = engine.models.refresh_due(bank)
            ended = [engine.operations.get(bank, one.id, wait=WAIT_SECONDS) for one in operations]
            tell(as_json, {"operations": ended}, f"refreshed {len(ended)}")
        elif dry_run:
            preview = engine.models.preview(bank, model, mode=mode)
            value = {"outcome": preview.outcome, "mode": preview.effective_mode, "diff": preview.diff}
            tell(as_json, value, preview.diff or preview.outcome.value)
        else:
            finish_refresh(engine, engine.models.refresh(bank, model, mode=mode), as_json, model)


@app.command()
def history(
    model: ModelId, bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False
) -> None:
    """What the document said before, newest first."""
    with reading(database, bank) as engine:
        versions = engine.models.history(bank, model)

    def draw(console: Console) -> None:
        for version in versions:
            console.print(Text(f"until {version.changed_at:%Y-%m-%d %H:%M}", style="dim"))
            console.print(Markdown(version.content))

    tell(as_json, {"versions": versions}, draw)


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for")],
    bank: BankName = DEFAULT_BANK,
    tags: Tags = None,
    limit: Limit = 10,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Mental models that bear on a question, best first."""
    with reading(database, bank) as engine:
        matches = engine.models.search(bank, query, tags=tags or (), limit=limit)
    value = {"results": [{"score": one.score, **_plain(one.model)} for one in matches]}
    tell(as_json, value, lambda shown: draw_models(shown, [one.model for one in matches], ()))


@app.command()
def clear(
    model: ModelId,
    bank: BankName = DEFAULT_BANK,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Empty the document, so that the next refresh writes it anew."""
    with reading(database, bank) as engine:
        confirm(f"Empty {engine.models.get(bank, model).name}?", yes)
        engine.models.clear(bank, model)
    tell(as_json, {"cleared": model}, f"emptied {model}")


@app.command()
def delete(
    model: ModelId,
    bank: BankName = DEFAULT_BANK,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Delete a mental model with its history and page."""
    with reading(database, bank) as engine:
        confirm(f"Delete {engine.models.get(bank, model).name}?", yes)
        engine.models.delete(bank, model)
    tell(as_json, {"deleted": model}, f"deleted {model}")


def _trigger(delta: bool | None, after_consolidation: bool | None, cron: str | None) -> dict[str, object]:
    """The fields of a trigger that options name."""
    mode = None if delta is None else ("delta" if delta else "full")
    options = {"mode": mode, "refresh_after_consolidation": after_consolidation, "refresh_cron": cron}
    return {name: value for name, value in options.items() if value is not None}


def finish_refresh(engine: Perdure, operation: Operation, as_json: bool, model_id: str) -> None:
    """Wait for a refresh and tell how it ended."""
    ended = engine.operations.get(operation.bank, operation.id, wait=WAIT_SECONDS)
    outcome = (ended.result or {}).get("outcome", ended.error or ended.status.value)
    value = {"mental_model_id": model_id, "operation": ended}
    tell(as_json, value, f"{model_id}: {outcome}")
    if ended.status is OperationStatus.FAILED:
        raise typer.Exit(exits.FAILED)


def _plain(model: MentalModel) -> dict[str, object]:
    return {**plain(model), "content": model.content}


def draw_models(console: Console, models: Sequence[MentalModel], stale: Collection[str]) -> None:
    """Models with their ids and questions."""
    if not models:
        console.print(Text("no mental models", style="dim"))
        return
    drawn = table(
        Column("id", overflow="fold", style="dim"), "name", Column("question", ratio=1), "refreshed"
    )
    for model in models:
        refreshed = day(model.last_refreshed_at) + (" stale" if model.id in stale else "")
        drawn.add_row(model.id, Text(model.name), Text(model.source_query), refreshed)
    console.print(drawn)
