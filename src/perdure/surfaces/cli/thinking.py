"""`perdure consolidate`, `refine`, `observations`, `notes` and `questions`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from perdure.domain.observation import Observation
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.question import Question
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.operations import YEAR_SECONDS, draw_operations
from perdure.surfaces.cli.output import harmless, tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, Tags, reading
from perdure.surfaces.plain import plain


def consolidate(
    bank: BankName = DEFAULT_BANK,
    wait: Annotated[
        float, typer.Option(min=0, max=YEAR_SECONDS, metavar="SECONDS", help="Wait so long for its end")
    ] = 3600.0,
    recover: Annotated[
        bool, typer.Option("--recover", help="Look again at facts that were set aside")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Form observations, questions and notes of what is new since the last time."""
    with reading(database, bank) as engine:
        if recover:
            engine.observations.recover(bank)
        work = engine.operations.get(bank, engine.consolidate(bank).id, wait=wait)
    tell(as_json, work, lambda shown: draw_run(shown, work))
    if work.status is OperationStatus.FAILED:
        raise typer.Exit(exits.FAILED)


def refine(
    bank: BankName = DEFAULT_BANK,
    wait: Annotated[
        float, typer.Option(min=0, max=YEAR_SECONDS, metavar="SECONDS", help="Wait so long for its end")
    ] = 3600.0,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Have a language model word anew what rules drew from text that none has worded yet."""
    with reading(database, bank) as engine:
        work = engine.operations.get(bank, engine.documents.refine(bank).id, wait=wait)
    tell(as_json, work, lambda shown: draw_run(shown, work))
    if work.status is OperationStatus.FAILED:
        raise typer.Exit(exits.FAILED)


def draw_run(console: Console, work: Operation) -> None:
    """The operation, and what it did."""
    draw_operations(console, [work])
    told = {name: value for name, value in (work.result or {}).items() if value}
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in told.items()]
    console.print(Text("\n".join(lines) or "nothing was new", style="dim"))


def observations(
    observation: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show this one, with its clauses and versions")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of this entity or topic")] = None,
    tags: Tags = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Also those of which a source has changed since")
    ] = False,
    bank: BankName = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the profiles of people, things and topics; or show one."""
    with reading(database, bank) as engine:
        if observation is None:
            every = engine.observations.list(bank, name=name, tags=tags, stale=stale)
            told = {"bank": bank, "observations": every}
            tell(as_json, told, lambda shown: draw_observations(shown, every))
            return
        chosen = engine.observations.get(bank, observation)
        versions = engine.observations.versions(bank, observation)
    value = {**plain(chosen), "versions": versions}
    tell(as_json, value, lambda shown: draw_observation(shown, chosen, versions))


def draw_observations(console: Console, observations: Sequence[Observation]) -> None:
    """Each with its name, its text and how often it was stated."""
    if not observations:
        console.print(Text("no observations: `perdure consolidate` forms them", style="dim"))
    for one in observations:
        tags = f" · {', '.join(sorted(one.tags))}" if one.tags else ""
        head = f"{one.subject.kind} · {len(one.source_fact_ids)} facts, ×{one.proof_count}{tags}"
        console.print(Text(harmless(one.name), style="bold").append(f"  {head}", style="not bold dim"))
        console.print(Text(harmless(one.text)))
        mark = "  stale" if one.stale else ""
        console.print(Text(f"{one.id}{mark}\n", style="dim"))


def draw_observation(console: Console, one: Observation, versions: Sequence[Observation]) -> None:
    """Its clauses with their facts, and when it was written anew."""
    console.print(Text(harmless(one.name), style="bold").append("  stale" if one.stale else "", style="red"))
    for clause in one.clauses:
        console.print(Text(f"- {harmless(clause.text)} ×{clause.proofs}"))
        console.print(Text(f"  {' '.join(clause.fact_ids)}", style="dim"))
    written = [f"{version.recorded_at:%Y-%m-%d %H:%M}" for version in versions if version.recorded_at]
    console.print(Text(f"written {', '.join(written)}", style="dim"))


def notes(
    note: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show this one: daily/2026-11-16, weekly/2026-W47, quarterly/2026-Q4"
        ),
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="PERIOD", help="Only daily, weekly or quarterly ones")
    ] = None,
    bank: BankName = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the notes that consolidation wrote to the notes folder, the latest first; or show one."""
    with reading(database, bank) as engine:
        if note is not None:
            shown_note = engine.notes.get(bank, note)
            tell(
                as_json,
                {**plain(shown_note), "text": str(shown_note)},
                lambda shown: shown.print(Text(str(shown_note))),
            )
            return
        if engine.settings.notes_folder is None:
            raise InvalidInput("setting notes_folder", "a folder for notes")
        names = engine.notes.list(bank, period)
    tell(
        as_json,
        {"bank": bank, "notes": names},
        lambda shown: shown.print(Text("\n".join(names) or "no notes yet")),
    )


def questions(
    question: Annotated[str | None, typer.Argument(metavar="ID", help="Answer this one")] = None,
    answer: Annotated[
        str | None,
        typer.Option(metavar="ANSWER", help="What is right: the id of a fact, a value, or both"),
    ] = None,
    answered: Annotated[bool, typer.Option("--answered", help="Those that were answered too")] = False,
    bank: BankName = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List conflicts that nothing decides; or decide one."""
    if (question is None) is not (answer is None):
        raise InvalidInput("questions", "the id of a question and --answer, or neither")
    with reading(database, bank) as engine:
        if question is not None and answer is not None:
            every = [engine.questions.answer(bank, question, answer)]
        else:
            every = engine.questions.list(bank, answered=answered)
    value = {"bank": bank, "questions": [{**plain(one), "text": one.text} for one in every]}
    tell(as_json, value, lambda shown: draw_questions(shown, every))


def draw_questions(console: Console, questions: Sequence[Question]) -> None:
    """Each with its options and their facts."""
    if not questions:
        console.print(Text("no open questions", style="dim"))
    for one in questions:
        console.print(Text(harmless(one.text), style="bold"))
        for option in one.options:
            chosen = "✓ " if one.answer in ("both", option.fact_id) else "  "
            console.print(Text(f"{chosen}{harmless(option.value)}  ").append(option.fact_id, style="dim"))
        console.print(Text(f"{one.id}\n", style="dim"))
