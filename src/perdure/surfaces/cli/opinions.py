"""`perdure opinions` and `opinion`: what a bank believes, and how its confidence came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.fact import Fact
from perdure.domain.opinion import RESERVED_FROM, SURE_FROM, EvidenceLabel, Opinion, OpinionEvidence
from perdure.domain.rendering import one_line
from perdure.domain.time import AsOf, parse_instant
from perdure.surfaces.cli.draw import day, plural, table
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, filled, reading
from perdure.surfaces.plain import plain

BAR_WIDTH = 24
"""Characters of a bar at confidence 1."""
_MARKS = {
    EvidenceLabel.SUPPORTING: ("+", "green"),
    EvidenceLabel.WEAK: ("~", "yellow"),
    EvidenceLabel.CONTRADICTING: ("−", "red"),
}
ValidAt = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="What was believed of this time")
]
KnownAt = Annotated[str | None, typer.Option("--known-at", metavar="TIME", help="As far as was known then")]


def opinions(
    bank: BankName = DEFAULT_BANK,
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="On this person or thing", callback=filled)
    ] = None,
    min_confidence: Annotated[float, typer.Option(min=0, max=1, metavar="C", help="At least so sure")] = 0.0,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What the bank believes, surest first."""
    with reading(database, bank) as engine:
        believed = engine.opinions.list(bank, subject, min_confidence, _moment(as_of, known_at))
    value = {"bank": bank, "total": len(believed), "opinions": [plain_opinion(one) for one in believed]}
    tell(as_json, value, lambda shown: draw_opinions(shown, believed))


def opinion(
    opinion_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the opinion")],
    bank: BankName = DEFAULT_BANK,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """One opinion: its evidence, and its confidence after each piece of it."""
    with reading(database, bank) as engine:
        one = engine.opinions.get(bank, opinion_id, _moment(as_of, known_at))
        ids = [row.fact_id for row in (*one.evidence, *one.left_out)]
        facts = {fact.id: fact for fact in engine.facts.get_many(bank, ids)}
    tell(as_json, plain_opinion(one), lambda shown: draw_opinion(shown, one, facts))


def plain_opinion(one: Opinion) -> dict[str, object]:
    """An opinion as JSON, with its wording and its curve."""
    fields: dict[str, object] = plain(one)
    curve = [{"at": at.isoformat(), "confidence": c} for at, c in one.curve()]
    return {**fields, "text": one.text, "formed_at": one.formed_at.isoformat(), "curve": curve}


def draw_opinions(console: Console, believed: Sequence[Opinion]) -> None:
    """Opinions with their confidence and how much evidence there is."""
    drawn = table(
        Column("sure", no_wrap=True), Column("opinion", ratio=1), Column("evidence", justify="right"), "since"
    )
    for one in believed:
        text = Text(one.text).append(f"\n{one.id}", style="dim")
        drawn.add_row(_sure(one.confidence), text, f"{len(one.evidence):,}", day(one.formed_at))
    if believed:
        console.print(drawn)
    console.print(Text(plural(len(believed), "opinion"), style="dim"))


def draw_opinion(console: Console, one: Opinion, facts: Mapping[str, Fact]) -> None:
    """The opinion, its curve from top to bottom, and what does not count."""
    console.print(Text(one.text, style="bold").append(f"  c = {one.confidence:.2f}", style="cyan"))
    console.print(Text(f"{one.id} · on {one.subject} · began at {one.c0:.2f}", style="dim"))
    after = {row.fact_id: c for row, c in zip(one.evidence[-len(one.curve()) :], one.curve(), strict=True)}
    grid = Table.grid(
        Column(style="cyan", no_wrap=True), Column(width=1), Column(no_wrap=True), Column(ratio=1), padding=(0, 1)
    )  # fmt: skip
    for row in one.evidence:
        mark, style = _MARKS[row.label]
        bar = _bar(after[row.fact_id][1]) if row.fact_id in after else Text(" " * (BAR_WIDTH + 5))
        grid.add_row(day(row.at), Text(mark, style=style), bar, _said(row, facts))
    console.print(grid)
    for row in one.left_out:
        line = Text(f"{day(row.at)}   does not count: ", style="dim")
        console.print(line.append(_said(row, facts)))


def _bar(confidence: float) -> Text:
    filled_cells = round(confidence * BAR_WIDTH)
    bar = Text("█" * filled_cells, style=_style(confidence)).append(
        "·" * (BAR_WIDTH - filled_cells), style="dim"
    )
    return bar.append(f" {confidence:.2f}")


def _sure(confidence: float) -> Text:
    return Text(f"{confidence:.2f}", style=_style(confidence))


def _style(confidence: float) -> str:
    if confidence >= SURE_FROM:
        return "green"
    return "yellow" if confidence >= RESERVED_FROM else "red"


def _said(row: OpinionEvidence, facts: Mapping[str, Fact]) -> Text:
    return Text(one_line(facts[row.fact_id].text) if row.fact_id in facts else row.fact_id, style="dim")


def _moment(valid: str | None, known_at: str | None) -> AsOf:
    return AsOf(valid=parse_instant(valid, "--as-of"), known=parse_instant(known_at, "--known-at"))
