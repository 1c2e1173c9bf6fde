"""`perdure costs` and `perdure prompts`: what language models cost, and what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.domain.llm_call import LlmCost
from perdure.errors import InvalidInput
from perdure.surfaces.cli.draw import plural, table
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import AsJson, Database, filled, memory
from perdure.surfaces.plain import plain


def costs(
    bank: Annotated[
        str | None, typer.Option("--bank", "-b", metavar="BANK", help="Of this bank only", callback=filled)
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="From this day on (UTC)", callback=filled)
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the cost of calls of language models, per day, bank, operation and model."""
    with memory(database, must_exist=True) as engine:
        rows = engine.llm.costs(bank, _read_day(since))
    value = {"total": _total(rows), "costs": [plain(row) for row in rows]}
    tell(as_json, value, lambda shown: draw_costs(shown, rows))


def draw_costs(console: Console, rows: Sequence[LlmCost]) -> None:
    """Draw a row per day, bank, operation and model, and the sum below them."""
    if not rows:
        console.print(Text("no language model was asked", style="dim"))
        return
    drawn = table(
        Column("day", no_wrap=True), "bank", "operation", Column("model", overflow="fold"),
        *(Column(name, justify="right", no_wrap=True) for name in ("calls", "failed", "in", "out", "price")),
        expand=False,
    )  # fmt: skip
    for row in rows:
        drawn.add_row(
            row.day.isoformat(), Text(row.bank or "(erased)"), Text(row.operation), Text(row.model),
            str(row.calls), Text(str(row.failed), style="red" if row.failed else "dim"),
            str(row.input_tokens), str(row.output_tokens), _price(row.price),
        )  # fmt: skip
    console.print(drawn)
    total = _total(rows)
    spent = f"{plural(sum(row.calls for row in rows), 'call')}, {total['input_tokens']} tokens in, {total['output_tokens']} out"
    prices = [row.price for row in rows if row.price is not None]
    console.print(Text(spent + (f", {_price(sum(prices))} at list prices" if prices else ""), style="bold"))
    unpriced = sorted({row.model for row in rows if row.price is None})
    if unpriced:
        console.print(Text(f"price not known: {', '.join(unpriced)}", style="dim"))


def prompts(
    action: Annotated[
        str | None, typer.Argument(metavar="[show]", help="`show`, to see one; without it all are listed")
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of the prompt to show")] = None,
    as_json: AsJson = False,
) -> None:
    """List the prompts that language models are given, each with the version that is stored with its results."""
    from perdure.llm.prompt import load, prompt_names

    names = prompt_names()
    if action is None:
        versions = [{"name": one, "version": load(one).version} for one in names]
        listed = "\n".join(row["version"] for row in versions)
        tell(as_json, {"prompts": versions}, lambda shown: shown.print(Text(listed)))
        return
    if action != "show" or name not in names:
        raise InvalidInput("prompts", f"show and one of {', '.join(names)}", name or action)
    prompt = load(name)
    whole = {"name": prompt.name, "version": prompt.version, "text": prompt.text}
    tell(as_json, whole, lambda shown: shown.print(Text(prompt.text)))


def _total(rows: Sequence[LlmCost]) -> dict[str, float | None]:
    prices = [row.price for row in rows if row.price is not None]
    return {
        "calls": sum(row.calls for row in rows),
        "failed": sum(row.failed for row in rows),
        "input_tokens": sum(row.input_tokens for row in rows),
        "output_tokens": sum(row.output_tokens for row in rows),
        "price": sum(prices) if prices else None,
    }


def _price(price: float | None) -> str:
    return "?" if price is None else f"${price:.4f}"


def _read_day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput("--since", "a date such as 2026-11-16", text) from error
