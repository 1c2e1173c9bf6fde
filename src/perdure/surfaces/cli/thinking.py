"""`perdure consolidate`, `refine`, `operations`, `observations`, `notes`, `questions`, `opinions` and `opinion`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.fact import Fact
from perdure.domain.observation import Observation
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.opinion import RESERVED_FROM, SURE_FROM, EvidenceLabel, Opinion, OpinionEvidence
from perdure.domain.question import Question
from perdure.domain.rendering import one_line
from perdure.domain.time import AsOf, parse_instant
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.answer import Answer, command
from perdure.surfaces.cli.draw import day, plural, table
from perdure.surfaces.cli.session import Memory, Tags, filled
from perdure.surfaces.plain import plain

YEAR_SECONDS = 31_536_000
BAR_WIDTH = 24
"""Characters of a bar at confidence 1."""
_STATUS_STYLE = {"completed": "green", "failed": "red", "cancelled": "yellow", "processing": "cyan"}
_MARKS = {
    EvidenceLabel.SUPPORTING: ("+", "green"),
    EvidenceLabel.WEAK: ("~", "yellow"),
    EvidenceLabel.CONTRADICTING: ("−", "red"),
}
Wait = Annotated[
    float, typer.Option(min=0, max=YEAR_SECONDS, metavar="SECONDS", help="Wait this long for its end")
]
ValidAt = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="What was believed of this time")
]
KnownAt = Annotated[str | None, typer.Option("--known-at", metavar="TIME", help="As far as was known then")]


@command
def consolidate(
    bank: str,
    memory: Memory,
    wait: Wait = 3600.0,
    recover: Annotated[
        bool, typer.Option("--recover", help="Look again at facts that were set aside")
    ] = False,
) -> Answer:
    """Form observations, questions and notes of what is new since the last time."""
    if recover:
        memory.observations.recover(bank)
    return _told_run(memory.operations.get(bank, memory.consolidate(bank).id, wait=wait))


@command
def refine(bank: str, memory: Memory, wait: Wait = 3600.0) -> Answer:
    """Have a language model word anew what rules drew from text that none has worded yet."""
    return _told_run(memory.operations.get(bank, memory.documents.refine(bank).id, wait=wait))


def _told_run(work: Operation) -> Answer:
    def draw(console: Console) -> None:
        draw_operations(console, [work])
        results = {name: value for name, value in (work.result or {}).items() if value}
        lines = [f"{name.replace('_', ' ')}: {value}" for name, value in results.items()]
        console.print(Text("\n".join(lines) or "nothing was new", style="dim"))

    return Answer(work, draw, exits.FAILED if work.status is OperationStatus.FAILED else exits.OK)


@command
def operations(
    bank: str,
    memory: Memory,
    operation: Annotated[str | None, typer.Argument(metavar="ID", help="Show this one, by its id")] = None,
    wait: Annotated[
        float | None,
        typer.Option(min=0, max=YEAR_SECONDS, metavar="SECONDS", help="Wait this long for its end"),
    ] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="Stop it before its next step")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Go on with it after it failed")] = False,
) -> Answer:
    """List background work, oldest first; or show, await, cancel or retry one."""
    if operation is None and (wait is not None or cancel or retry):
        raise InvalidInput("operation", "the id of the one to wait for, cancel or retry")
    if cancel and retry:
        raise InvalidInput("--cancel", "no --retry with it")
    if operation is None:
        works = memory.operations.list(bank)
        return Answer({"bank": bank, "operations": works}, lambda console: draw_operations(console, works))
    if cancel:
        memory.operations.cancel(bank, operation)
    if retry:
        memory.operations.retry(bank, operation)
    work = memory.operations.get(bank, operation, wait=wait)
    code = exits.FAILED if work.status is OperationStatus.FAILED else exits.OK
    return Answer(work, lambda console: draw_operations(console, [work]), code)


def draw_operations(console: Console, operations: Sequence[Operation]) -> None:
    """Draw background work and its progress, with ids that can be copied whole, and errors below."""
    if not operations:
        console.print(Text("no background work", style="dim"))
    for work in operations:
        line = Text(work.kind).append(" · ")
        line.append(work.status.value, style=_STATUS_STYLE.get(work.status.value, ""))
        line.append(f" · {work.done}/{work.total}")
        line.append(f" · {work.updated_at:%Y-%m-%d %H:%M}" if work.updated_at else "")
        console.print(
            line.append(f"\n{work.id}").append(f"\n{work.error}" if work.error else "", style="red")
        )


@command
def observations(
    bank: str,
    memory: Memory,
    observation: Annotated[
        str | None, typer.Argument(metavar="ID", help="Show this one, with its clauses and versions")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Of this entity or topic")] = None,
    tags: Tags = None,
    stale: Annotated[bool, typer.Option("--stale", help="Also those whose sources have changed")] = False,
) -> Answer:
    """List the profiles of people, things and topics; or show one."""
    if observation is None:
        profiles = memory.observations.list(bank, name=name, tags=tags, stale=stale)
        value = {"bank": bank, "observations": profiles}
        return Answer(value, lambda console: draw_observations(console, profiles))
    chosen = memory.observations.get(bank, observation)
    versions = memory.observations.versions(bank, observation)
    value = {**plain(chosen), "versions": versions}
    return Answer(value, lambda console: draw_observation(console, chosen, versions))


def draw_observations(console: Console, observations: Sequence[Observation]) -> None:
    """Draw each with its name, its text and how often it was stated."""
    if not observations:
        console.print(Text("no observations: `perdure consolidate` forms them", style="dim"))
    for one in observations:
        tags = f" · {', '.join(sorted(one.tags))}" if one.tags else ""
        head = f"{one.subject.kind} · {len(one.source_fact_ids)} facts, ×{one.proof_count}{tags}"
        console.print(Text(one.name, style="bold").append(f"  {head}", style="not bold dim"))
        console.print(
            Text(f"{one.text}\n").append(f"{one.id}{'  stale' if one.stale else ''}\n", style="dim")
        )


def draw_observation(console: Console, one: Observation, versions: Sequence[Observation]) -> None:
    """Draw its clauses with their facts, and when it was written anew."""
    console.print(Text(one.name, style="bold").append("  stale" if one.stale else "", style="red"))
    for clause in one.clauses:
        line = Text(f"- {clause.text} ×{clause.proofs}\n")
        console.print(line.append(f"  {' '.join(clause.fact_ids)}", style="dim"))
    written = [f"{version.recorded_at:%Y-%m-%d %H:%M}" for version in versions if version.recorded_at]
    console.print(Text(f"written {', '.join(written)}", style="dim"))


@command
def notes(
    bank: str,
    memory: Memory,
    note: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show this one: daily/2026-11-16, weekly/2026-W47, quarterly/2026-Q4"
        ),
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="PERIOD", help="Only daily, weekly or quarterly ones")
    ] = None,
) -> Answer:
    """List the notes that consolidation wrote to the notes folder, the latest first; or show one."""
    if note is not None:
        chosen = memory.notes.get(bank, note)
        return Answer({**plain(chosen), "text": str(chosen)}, str(chosen))
    if memory.settings.notes_folder is None:
        raise InvalidInput("setting notes_folder", "a folder for notes")
    names = memory.notes.list(bank, period)
    return Answer({"bank": bank, "notes": names}, "\n".join(names) or "no notes yet")


@command
def questions(
    bank: str,
    memory: Memory,
    question: Annotated[str | None, typer.Argument(metavar="ID", help="Answer this one")] = None,
    answer: Annotated[
        str | None,
        typer.Option(metavar="ANSWER", help="What is right: the id of a fact, a value, or both"),
    ] = None,
    answered: Annotated[bool, typer.Option("--answered", help="Also those that are answered")] = False,
) -> Answer:
    """List conflicts that nothing decides; or decide one."""
    if (question is None) is not (answer is None):
        raise InvalidInput("questions", "the id of a question and --answer, or neither")
    if question is not None and answer is not None:
        conflicts = [memory.questions.answer(bank, question, answer)]
    else:
        conflicts = memory.questions.list(bank, answered=answered)
    value = {"bank": bank, "questions": [{**plain(one), "text": one.text} for one in conflicts]}
    return Answer(value, lambda console: draw_questions(console, conflicts))


def draw_questions(console: Console, questions: Sequence[Question]) -> None:
    """Draw each with its options and their facts."""
    if not questions:
        console.print(Text("no open questions", style="dim"))
    for one in questions:
        console.print(Text(one.text, style="bold"))
        for option in one.options:
            chosen = "✓ " if one.answer in ("both", option.fact_id) else "  "
            console.print(Text(f"{chosen}{option.value}  ").append(option.fact_id, style="dim"))
        console.print(Text(f"{one.id}\n", style="dim"))


@command
def opinions(
    bank: str,
    memory: Memory,
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="On this person or thing", callback=filled)
    ] = None,
    min_confidence: Annotated[float, typer.Option(min=0, max=1, metavar="C", help="At least so sure")] = 0.0,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
) -> Answer:
    """List what the bank believes, surest first."""
    believed = memory.opinions.list(bank, subject, min_confidence, _moment(as_of, known_at))
    value = {"bank": bank, "total": len(believed), "opinions": [plain_opinion(one) for one in believed]}
    return Answer(value, lambda console: draw_opinions(console, believed))


@command
def opinion(
    opinion_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the opinion")],
    bank: str,
    memory: Memory,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
) -> Answer:
    """Show an opinion: its evidence, and its confidence after each piece of it."""
    one = memory.opinions.get(bank, opinion_id, _moment(as_of, known_at))
    ids = [row.fact_id for row in (*one.evidence, *one.left_out)]
    facts = {fact.id: fact for fact in memory.facts.get_many(bank, ids)}
    return Answer(plain_opinion(one), lambda console: draw_opinion(console, one, facts))


def plain_opinion(one: Opinion) -> dict[str, object]:
    """Return an opinion as JSON, with its wording and its curve."""
    fields: dict[str, object] = plain(one)
    curve = [{"at": at.isoformat(), "confidence": c} for at, c in one.curve()]
    return {**fields, "text": one.text, "formed_at": one.formed_at.isoformat(), "curve": curve}


def draw_opinions(console: Console, believed: Sequence[Opinion]) -> None:
    """Draw opinions with their confidence and how much evidence there is."""
    drawn = table(
        Column("sure", no_wrap=True), Column("opinion", ratio=1), Column("evidence", justify="right"), "since"
    )
    for one in believed:
        sure = Text(f"{one.confidence:.2f}", style=_style(one.confidence))
        text = Text(one.text).append(f"\n{one.id}", style="dim")
        drawn.add_row(sure, text, f"{len(one.evidence):,}", day(one.formed_at))
    if believed:
        console.print(drawn)
    console.print(Text(plural(len(believed), "opinion"), style="dim"))


def draw_opinion(console: Console, one: Opinion, facts: Mapping[str, Fact]) -> None:
    """Draw the opinion, its curve from top to bottom, and what does not count."""
    console.print(Text(one.text, style="bold").append(f"  c = {one.confidence:.2f}", style="cyan"))
    console.print(Text(f"{one.id} · on {one.subject} · began at {one.c0:.2f}", style="dim"))
    after = {
        row.fact_id: c for row, (_, c) in zip(one.evidence[-len(one.curve()) :], one.curve(), strict=True)
    }
    date, mark_column, bar_column = Column(style="cyan", no_wrap=True), Column(width=1), Column(no_wrap=True)
    grid = Table.grid(date, mark_column, bar_column, Column(ratio=1), padding=(0, 1))
    for row in one.evidence:
        mark, style = _MARKS[row.label]
        bar = _bar(after[row.fact_id]) if row.fact_id in after else Text(" " * (BAR_WIDTH + 5))
        grid.add_row(day(row.at), Text(mark, style=style), bar, _said(row, facts))
    console.print(grid)
    for row in one.left_out:
        console.print(Text(f"{day(row.at)}   does not count: ", style="dim").append(_said(row, facts)))


def _bar(confidence: float) -> Text:
    cells = round(confidence * BAR_WIDTH)
    bar = Text("█" * cells, style=_style(confidence)).append("·" * (BAR_WIDTH - cells), style="dim")
    return bar.append(f" {confidence:.2f}")


def _style(confidence: float) -> str:
    if confidence >= SURE_FROM:
        return "green"
    return "yellow" if confidence >= RESERVED_FROM else "red"


def _said(row: OpinionEvidence, facts: Mapping[str, Fact]) -> Text:
    return Text(one_line(facts[row.fact_id].text) if row.fact_id in facts else row.fact_id, style="dim")


def _moment(valid: str | None, known_at: str | None) -> AsOf:
    return AsOf(valid=parse_instant(valid, "--as-of"), known=parse_instant(known_at, "--known-at"))
