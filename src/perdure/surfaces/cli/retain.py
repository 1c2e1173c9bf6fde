"""`perdure retain`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from perdure.domain.item import FellBack, PassedOver, RetainResult
from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput
from perdure.ports.import_source import ChatReading
from perdure.surfaces.cli.draw import plural
from perdure.surfaces.cli.output import console, tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Tags,
    filled,
    memory,
    read_stdin,
)
from perdure.surfaces.cli.sources import read_sources

FORMS = ("auto", "text", "chat")
BATCH_ITEMS, BATCH_CHARACTERS = 64, 100_000
MOST_PASSED_OVER = 10
"""Lines about parts of texts that were passed over; an export may have hundreds."""
_PLACE = re.compile(r"content\[(\d+)\]")
Advance = Callable[[int, str], None]


def retain(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="Texts, files (text, HTML, PDF, DOCX, code), folders, chat exports; - or nothing reads standard input",
        ),
    ] = None,
    bank: BankName = DEFAULT_BANK,
    document_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Document: again replaces it", callback=filled)
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Add to the document instead of replacing it")
    ] = False,
    timestamp: Annotated[
        str | None,
        typer.Option("--timestamp", "-t", metavar="TIME", help="When it was said [now; files: modified]"),
    ] = None,
    speaker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who says the text", callback=filled)
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the user in chat exports", callback=filled)
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the document")] = None,
    context: Annotated[str | None, typer.Option(metavar="TEXT", help="What the text is about")] = None,
    tags: Tags = None,
    metadata: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="May be repeated")] = None,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="auto, text or chat")] = "auto",
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Files and folders not to read; may be repeated"),
    ] = None,
    as_text: Annotated[
        bool, typer.Option("--text", help="Take the sources as texts, never as paths")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Remember texts, standard input, files, folders or chat exports."""
    if form not in FORMS:
        raise InvalidInput("--format", "one of " + ", ".join(FORMS), form)
    chosen = sources or ["-"]
    stdin = read_stdin() if "-" in chosen else None
    collected = read_sources(chosen, stdin, form, as_text, exclude or ())
    shared = {
        "timestamp": parse_instant(timestamp, "--timestamp"), "speaker": speaker, "title": title, "context": context,
        "tags": tags, "metadata": read_pairs(metadata), "document_id": document_id,
    }  # fmt: skip
    readings = [_with(reading, shared, user) for reading in collected.readings]
    if not readings:
        raise InvalidInput("sources", "at least one readable text", list(chosen))
    if document_id is not None and len(readings) > 1:
        raise InvalidInput("--document-id", "a single document", f"{len(readings)} documents")
    with memory(database) as engine, _bar(readings, as_json) as advance:
        results = []
        passed_over: list[PassedOver] = []
        for batch in batches(readings):
            advance(0, batch[0].name)
            items = [item for reading in batch for item in reading.items]
            results.append(engine.retain(bank, items, update_mode="append" if append else "replace"))
            passed_over += name_places(results[-1].passed_over, batch)
            advance(sum(reading.characters for reading in batch), batch[-1].name)
    _tell(bank, results, collected.skipped, passed_over, as_json)


def name_places(passed_over: Sequence[PassedOver], batch: Sequence[ChatReading]) -> list[PassedOver]:
    """What the engine passed over, by the names of the sources instead of the numbers of their items."""
    names = [reading.name for reading in batch for _ in reading.items]
    placed = []
    for one in passed_over:
        match = _PLACE.match(one.path)
        name = names[int(match[1])] if match else names[0]
        placed.append(replace(one, path=name + one.path[match.end() :] if match else one.path))
    return placed


def read_pairs(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """KEY=VALUE options as a mapping."""
    if not pairs:
        return None
    for pair in pairs:
        if not pair.partition("=")[0].strip() or "=" not in pair:
            raise InvalidInput("--metadata", "KEY=VALUE", pair)
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def _with(reading: ChatReading, shared: dict[str, Any], user: str | None) -> ChatReading:
    """Options win over what the source says, but a chat keeps its own speakers."""
    options = {key: value for key, value in shared.items() if value is not None}
    speaker = options.pop("speaker", None)
    items = []
    for item in reading.items:
        said_by = item.get("speaker") or speaker
        named = user if user and said_by == "user" else said_by
        items.append({**item, **options, **({"speaker": named} if named else {})})
    return type(reading)(name=reading.name, items=tuple(items))


def batches(readings: Sequence[ChatReading]) -> Iterator[list[ChatReading]]:
    """Whole documents together, so that models work in batches and each call is one transaction."""
    batch: list[ChatReading] = []
    for reading in readings:
        full = sum(len(r.items) for r in batch) >= BATCH_ITEMS
        if batch and (full or sum(r.characters for r in batch) + reading.characters > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(reading)
    if batch:
        yield batch


@contextmanager
def _bar(readings: Sequence[ChatReading], quiet: bool) -> Iterator[Advance]:
    shown = console(stderr=True)
    columns = (
        TextColumn("retain"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[at]}"),
    )
    with Progress(*columns, console=shown, transient=True, disable=quiet or not shown.is_terminal) as bar:
        task = bar.add_task("retain", total=sum(reading.characters for reading in readings), at="")
        yield lambda count, at: bar.update(task, advance=count, at=at[-40:])


def _tell(
    bank: str,
    results: Sequence[RetainResult],
    skipped: Sequence[tuple[str, str]],
    passed_over: Sequence[PassedOver],
    as_json: bool,
) -> None:
    totals = {
        "documents": len({name for result in results for name in result.document_ids}),
        "facts": sum(len(result.fact_ids) for result in results),
        "merged": sum(len(result.merged) for result in results),
        "superseded": sum(len(result.superseded) for result in results),
        "retired": sum(len(result.retired) for result in results),
        "unchanged": sum(result.unchanged for result in results),
        "entities": sum(result.entities for result in results),
        "links": sum(result.links for result in results),
    }
    value = {
        "bank": bank,
        **totals,
        "document_ids": [name for result in results for name in result.document_ids],
        "fact_ids": [name for result in results for name in result.fact_ids],
        "skipped": [{"file": file, "reason": reason} for file, reason in skipped],
        "passed_over": [{"path": one.path, "reason": one.reason} for one in passed_over],
        "fell_back": [asdict(one) for result in results for one in result.fell_back],
    }
    fell_back = [one for result in results for one in result.fell_back]
    tell(as_json, value, lambda shown: draw_retained(shown, bank, totals, skipped, passed_over, fell_back))


def draw_retained(
    console: Console,
    bank: str,
    totals: Mapping[str, int],
    skipped: Sequence[tuple[str, str]],
    passed_over: Sequence[PassedOver] = (),
    fell_back: Sequence[FellBack] = (),
) -> None:
    head = Text(plural(totals["facts"], "new fact"), style="bold green")
    head.append(f" from {plural(totals['documents'], 'document')} in bank {bank}", style="default")
    console.print(head)
    rest = [
        f"{totals[name]:,} {name}"
        for name in ("merged", "superseded", "retired", "unchanged")
        if totals[name]
    ]
    rest += [plural(totals["entities"], "entity", "entities"), plural(totals["links"], "link")]
    console.print(Text(" · ".join(rest), style="dim"))
    for file, reason in skipped:
        console.print(Text(f"skipped {file}: {reason}", style="yellow"))
    for one in passed_over[:MOST_PASSED_OVER]:
        console.print(Text(f"passed over {one.path}: {one.reason}", style="yellow"))
    if len(passed_over) > MOST_PASSED_OVER:
        console.print(
            Text(f"and {len(passed_over) - MOST_PASSED_OVER:,} more; --json lists them", style="yellow")
        )
    for reason, count in _turns_by_reason(fell_back).items():
        console.print(
            Text(f"{plural(count, 'turn')} read without the language model: {reason}", style="yellow")
        )


def _turns_by_reason(fell_back: Sequence[FellBack]) -> Counter[str]:
    turns: Counter[str] = Counter()
    for one in fell_back:
        turns[one.reason] += one.turns
    return turns
