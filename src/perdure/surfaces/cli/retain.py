"""`perdure retain`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from perdure.domain.item import PassedOver, RetainResult, UpdateMode
from perdure.domain.plain import to_plain
from perdure.errors import InvalidInput
from perdure.ports.import_source import ChatReading
from perdure.retain.options import RetainOptions
from perdure.surfaces.cli import session
from perdure.surfaces.cli.answer import Answer, command
from perdure.surfaces.cli.draw import draw_done
from perdure.surfaces.cli.output import progress
from perdure.surfaces.cli.session import Database, filled, read_stdin
from perdure.surfaces.cli.sources import read_sources

FORMS = ("auto", "text", "chat")
BATCH_ITEMS, BATCH_CHARACTERS = 64, 100_000
COUNTED = ("unchanged", "chunks", "entities", "links")
_PLACE = re.compile(r"content\[(\d+)\]")


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
    with session.memory(database) as memory, progress() as show:
        results, done, total = [], 0, sum(reading.characters for reading in readings)
        passed_over: list[PassedOver] = []
        for batch in batches(readings):
            show("retain", done, total, batch[0].name)
            items = [item for reading in batch for item in reading.items]
            results.append(memory.retain(bank, items, update_mode=mode))
            passed_over += name_places(results[-1].passed_over, batch)
            done += sum(reading.characters for reading in batch)
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


def _answer(
    bank: str,
    results: Sequence[RetainResult],
    skipped: Sequence[tuple[str, str]],
    passed_over: Sequence[PassedOver],
) -> Answer:
    done = _joined(bank, results, passed_over)
    value = {
        **to_plain(done),
        "documents": len(done.document_ids),
        "facts": len(done.fact_ids),
        "skipped": [{"file": file, "reason": reason} for file, reason in skipped],
    }
    left_out = [f"{one.turns} turns read without the language model: {one.reason}" for one in done.fell_back]
    left_out += [f"skipped {file}: {reason}" for file, reason in skipped]
    left_out += [f"passed over {one.path}: {one.reason}" for one in passed_over]
    return Answer(value, lambda shown: draw_done(shown, str(done), left_out))


def _joined(bank: str, results: Sequence[RetainResult], passed_over: Sequence[PassedOver]) -> RetainResult:
    """Return what the batches did as one result."""

    def listed(name: str) -> Iterator[Any]:
        return (part for result in results for part in getattr(result, name))

    return RetainResult(
        bank=bank,
        document_ids=tuple(dict.fromkeys(listed("document_ids"))),
        merged={new: old for result in results for new, old in result.merged.items()},
        passed_over=tuple(passed_over),
        masked=sum((Counter(result.masked) for result in results), Counter()),
        fact_ids=tuple(listed("fact_ids")),
        superseded=tuple(listed("superseded")),
        retired=tuple(listed("retired")),
        fell_back=tuple(listed("fell_back")),
        **{name: sum(getattr(result, name) for result in results) for name in COUNTED},
    )
