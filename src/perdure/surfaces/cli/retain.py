"""`perdure retain`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from perdure.domain.item import PassedOver, RetainResult, UpdateMode
from perdure.errors import InvalidInput
from perdure.ports.import_source import ChatReading
from perdure.retain.options import RetainOptions
from perdure.surfaces.cli import session
from perdure.surfaces.cli.answer import Answer, command
from perdure.surfaces.cli.draw import plural
from perdure.surfaces.cli.output import bars
from perdure.surfaces.cli.session import Database, filled, read_stdin
from perdure.surfaces.cli.sources import read_sources

FORMS = ("auto", "text", "chat")
BATCH_ITEMS, BATCH_CHARACTERS = 64, 100_000
MOST_PASSED_OVER = 10
"""Lines about parts of texts that were passed over; an export may have hundreds."""
_PLACE = re.compile(r"content\[(\d+)\]")
Advance = Callable[[int, str], None]


@command(options=RetainOptions)
def retain(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...",
            help="Texts, files (text, HTML, PDF, DOCX, code), folders, chat exports; - or nothing reads standard input",
        ),
    ] = None,
    *,
    bank: str,
    options: RetainOptions,
    append: Annotated[
        bool, typer.Option("--append", help="Add to the document instead of replacing it")
    ] = False,
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the user in chat exports", callback=filled)
    ] = None,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="auto, text or chat")] = "auto",
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Files and folders not to read; may be repeated"),
    ] = None,
    as_text: Annotated[
        bool, typer.Option("--text", help="Take the sources as texts, never as paths")
    ] = False,
    database: Database = None,
) -> Answer:
    """Remember texts, standard input, files, folders or chat exports."""
    if form not in FORMS:
        raise InvalidInput("--format", "one of " + ", ".join(FORMS), form)
    chosen = sources or ["-"]
    stdin = read_stdin() if "-" in chosen else None
    collected = read_sources(chosen, stdin, form, as_text, exclude or ())
    shared = options.given()
    readings = [_with(reading, shared, user) for reading in collected.readings]
    if not readings:
        raise InvalidInput("sources", "at least one readable text", list(chosen))
    if options.document_id is not None and len(readings) > 1:
        raise InvalidInput("--document-id", "a single document", f"{len(readings)} documents")
    mode = UpdateMode.APPEND if append else UpdateMode.REPLACE
    with session.memory(database) as memory, _bar(readings) as advance:
        results = []
        passed_over: list[PassedOver] = []
        for batch in batches(readings):
            advance(0, batch[0].name)
            items = [item for reading in batch for item in reading.items]
            results.append(memory.retain(bank, items, update_mode=mode))
            passed_over += name_places(results[-1].passed_over, batch)
            advance(sum(reading.characters for reading in batch), batch[-1].name)
    return _answer(bank, results, collected.skipped, passed_over)


def name_places(passed_over: Sequence[PassedOver], batch: Sequence[ChatReading]) -> list[PassedOver]:
    """Return what the engine passed over, by the names of the sources instead of the numbers of their items."""
    names = [reading.name for reading in batch for _ in reading.items]
    placed = []
    for one in passed_over:
        match = _PLACE.match(one.path)
        name = names[int(match[1])] if match else names[0]
        placed.append(replace(one, path=name + one.path[match.end() :] if match else one.path))
    return placed


def _with(reading: ChatReading, shared: dict[str, Any], user: str | None) -> ChatReading:
    """Return a reading in which options win over what the source says; a chat keeps its own speakers."""
    options = dict(shared)
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
def _bar(readings: Sequence[ChatReading]) -> Iterator[Advance]:
    with bars() as bar:
        task = bar.add_task("retain", total=sum(reading.characters for reading in readings), at="")
        yield lambda count, at: bar.update(task, advance=count, at=at[-40:])


def _answer(
    bank: str,
    results: Sequence[RetainResult],
    skipped: Sequence[tuple[str, str]],
    passed_over: Sequence[PassedOver],
) -> Answer:
    document_ids = [name for result in results for name in result.document_ids]
    fact_ids = [name for result in results for name in result.fact_ids]
    fell_back = [one for result in results for one in result.fell_back]
    totals = {
        "documents": len(set(document_ids)),
        "facts": len(fact_ids),
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
        "document_ids": document_ids,
        "fact_ids": fact_ids,
        "skipped": [{"file": file, "reason": reason} for file, reason in skipped],
        "passed_over": passed_over,
        "fell_back": fell_back,
    }
    warnings = [f"skipped {file}: {reason}" for file, reason in skipped]
    warnings += [f"passed over {one.path}: {one.reason}" for one in passed_over[:MOST_PASSED_OVER]]
    if len(passed_over) > MOST_PASSED_OVER:
        warnings.append(f"and {len(passed_over) - MOST_PASSED_OVER:,} more; --json lists them")
    turns: Counter[str] = Counter()
    for one in fell_back:
        turns[one.reason] += one.turns
    warnings += [
        f"{plural(count, 'turn')} read without the language model: {reason}"
        for reason, count in turns.items()
    ]
    return Answer(value, lambda shown: draw_retained(shown, bank, totals, warnings))


def draw_retained(shown: Console, bank: str, totals: Mapping[str, int], warnings: Sequence[str]) -> None:
    """Draw what became of the texts, and below it what was not remembered."""
    head = Text(plural(totals["facts"], "new fact"), style="bold green")
    shown.print(
        head.append(f" from {plural(totals['documents'], 'document')} in bank {bank}", style="default")
    )
    changes = ("merged", "superseded", "retired", "unchanged")
    rest = [f"{totals[name]:,} {name}" for name in changes if totals[name]]
    rest += [plural(totals["entities"], "entity", "entities"), plural(totals["links"], "link")]
    shown.print(Text(" · ".join(rest), style="dim"))
    for warning in warnings:
        shown.print(Text(warning, style="yellow"))
