"""A recall as a list, and explained as a table of channels, ranks, scores and boosts with its time as a bar; and an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, RecallResult, Recollection, StageTime
from perdure.reflect.reflection import MODEL_STEP, Reflection, ReflectionStep, ReflectionTrace
from perdure.surfaces.cli.draw import EVIDENCE_STYLE, day, plural, provenance, span, statement, table
from perdure.surfaces.plain import total_milliseconds

CUT_SHOWN = 5
ROOMY = 92
"""Columns that the table needs beside a readable fact."""
LEAST = "relev"
"""The figure to leave out where not all have room: the score without its boosts."""
BAR = 20
_SHORT = {
    "semantic": "sem", "keyword": "key", "temporal": "time", "neighbourhood": "near", "semantic_floor": "sem",
    "signature": "sign", "pagerank": "rank", "relation": "rel",
}  # fmt: skip
_COLOURS = {
    "understand": "cyan", "search": "blue", "fuse": "white", "outline": "bright_white", "rerank": "magenta",
    "score": "green", "hydrate": "yellow", "diversify": "bright_blue", "judge": "bright_cyan", "fit": "bright_green",
}  # fmt: skip
LEAST_SHARE = 0.01
"""Stages below this share of the whole are told together."""


def draw_recall(console: Console, result: RecallResult) -> None:
    """Draw the recollections, best first, and what was missing."""
    console.print(_head(result))
    citations, scores = Column(justify="right", style="dim", width=4), Column(justify="right", width=5)
    grid = Table.grid(citations, scores, Column(ratio=1), padding=(0, 1))
    for recollection in result.recollections:
        score = Text(f"{recollection.score:.2f}", style=EVIDENCE_STYLE[recollection.evidence])
        grid.add_row(f"[{recollection.citation}]".replace("[", "\\["), score, _told(recollection))
    if result.recollections:
        console.print(grid)
    draw_asides(console, result)


def draw_explained(console: Console, result: RecallResult, cut: Mapping[str, str]) -> None:
    """Which channels found each result at what rank, every score and boost; what was cut and why; the time.

    `cut` holds the texts of the first facts that were left out, by id.
    """
    console.print(_head(result))
    for line in understood(result):
        console.print(line)
    if result.recollections:
        console.print(Text())
        console.print(explain_table(result, result.recollections, console.width))
        console.print(Text())
    _draw_cut(console, result, cut)
    draw_asides(console, result)
    console.print(Padding(stage_bar(result.timings), (0, 0, 0, 2)))


def explain_table(
    result: RecallResult, shown: Sequence[Recollection], width: int, brief: bool = False
) -> RenderableType:
    """Channels, ranks, scores and boosts; where there is little room, each fact stands above its figures.

    `brief` keeps each fact to a line or two.
    """
    channels = channels_of(result, shown)
    late = any(r.candidate is not None and r.candidate.late is not None for r in shown)
    if width < ROOMY:
        return _stacked(shown, channels, late, brief, width)
    columns = [Column("#", justify="right", style="dim", width=2), Column("fact", ratio=1)]
    columns += [Column(name, justify="right", width=room) for name, room in _figure_columns(channels, late)]
    drawn = table(*columns, padding=0)
    for recollection in shown:
        told = in_brief(recollection.fact) if brief else statement(recollection.fact) + _boosts(recollection)
        drawn.add_row(str(recollection.citation), told, *_figures(recollection, channels, late))
    return drawn


def _stacked(
    shown: Sequence[Recollection], channels: Sequence[str], late: bool, brief: bool, width: int
) -> RenderableType:
    columns = _figure_columns(channels, late)
    crowded = 2 + sum(room + 1 for _, room in columns) > width
    kept = [n for n, (name, _) in enumerate(columns) if not (crowded and name == LEAST)]

    def row(cells: Sequence[Text]) -> Table:
        figures = [Column(justify="right", width=columns[n][1]) for n in kept]
        grid = Table.grid(Column(width=2), *figures, padding=(0, 1, 0, 0))
        grid.add_row("", *(cells[n] for n in kept))
        return grid

    parts: list[RenderableType] = [row([Text(name, style="dim") for name, _ in columns])]
    for recollection in shown:
        citation = Column(justify="right", style="dim", width=2)
        told = Table.grid(citation, Column(ratio=1), padding=(0, 1, 0, 0))
        fact = recollection.fact
        text = in_brief(fact, width - 16) if brief else statement(fact) + _boosts(recollection)
        told.add_row(str(recollection.citation), text)
        parts += [told, row(_figures(recollection, channels, late))]
    return Group(*parts)


def _figure_columns(channels: Sequence[str], late: bool) -> list[tuple[str, int]]:
    short = [_SHORT.get(channel, channel) for channel in channels]
    scores = ("fused", *(("late",) if late else ()), "rerank", "relev", "score")
    return [(name, max(len(name), 4)) for name in short] + [(name, len(name)) for name in scores]


def channels_of(result: RecallResult, shown: Sequence[Recollection]) -> list[str]:
    """Return the channels that ran, in the recipe's order by the timings, and any that ranked something.

    `slot` answers few questions, and is left out where it ranked nothing.
    """
    ran = [time.stage.removeprefix("search.") for time in result.timings if time.stage.startswith("search.")]
    ranked = [rank.channel for r in shown if r.candidate is not None for rank in r.candidate.ranks]
    order = ("semantic", "keyword", "graph", "temporal")
    every = dict.fromkeys([*(channel for channel in ran if channel != "slot"), *ranked])
    return sorted(every, key=lambda name: (order.index(name) if name in order else len(order), name))


def _figures(recollection: Recollection, channels: Sequence[str], late: bool) -> list[Text]:
    candidate = recollection.candidate or Candidate(fact_id=recollection.fact.id)
    ranks = {rank.channel: rank.rank for rank in candidate.ranks}
    return [
        *(rank_cell(ranks.get(channel)) for channel in channels),
        number(candidate.fused, 3),
        *([number(candidate.late)] if late else []),
        number(candidate.rerank),
        number(candidate.relevance, 3),
        Text(f"{recollection.score:.3f}", style=EVIDENCE_STYLE[recollection.evidence]),
    ]


def _boosts(recollection: Recollection) -> Text:
    """Return what moved the score, as a line; names with a plus are added, the others multiply."""
    candidate = recollection.candidate or Candidate(fact_id=recollection.fact.id)
    added = [
        f"{name} {value:.2f}" for name, value in candidate.boosts.items() if name.startswith("+") and value
    ]
    moved = [
        f"{name} ×{value:.2f}"
        for name, value in candidate.boosts.items()
        if not name.startswith("+") and abs(value - 1.0) >= 0.005
    ]
    return Text("\n" + " · ".join([*moved, *added]), style="dim") if moved or added else Text()


def _head(result: RecallResult) -> Text:
    head = Text.assemble((result.query.text, "bold"), "\n")
    head.append(f"evidence {result.evidence.value}", style=EVIDENCE_STYLE[result.evidence])
    head.append(
        f" {result.confidence:.2f} · {plural(len(result), 'recollection')} · {plural(result.tokens, 'token')}",
        style="dim",
    )
    head.append(f" · {milliseconds(total_milliseconds(result))} · recipe {result.recipe}", style="dim")
    return head


def understood(result: RecallResult) -> list[Text]:
    """Return what was read from the question: names and times."""
    query, lines = result.query, []
    if query.entity_names:
        lines.append(Text(f"names: {', '.join(query.entity_names)}", style="dim"))
    if query.window is not None:
        start, end = query.window.start, query.window.end
        asked = span(start, end) if start and end else f"{day(start) or '…'} to {day(end) or '…'}"
        anchored = f" (anchored at {', '.join(query.anchors)})" if query.anchors else ""
        lines.append(Text(f"time: {asked}{anchored}", style="dim"))
    return lines


def _told(recollection: Recollection) -> Text:
    text = statement(recollection.fact)
    for note in recollection.notes:
        text.append(f"\n⚠ {note}", style="yellow")
    return text


def draw_asides(console: Console, result: RecallResult) -> None:
    """Draw notes, chunks, entities, why nothing is returned and what could not contribute."""
    if result.abstained_because is not None:
        console.print(Text(f"nothing: {result.abstained_because}", style="yellow"))
    for note in result.all_notes:
        console.print(Text(f"note: {note}", style="cyan"))
    if result.entities:
        names = ", ".join(f"{entity.name} ({entity.type})" for entity in result.entities)
        console.print(Text(f"entities: {names}", style="dim"))
    for chunk in result.chunks:
        console.print(Text(f"\nsource {chunk.document_id}, part {chunk.ordinal + 1}", style="dim"))
        console.print(Padding(Text(chunk.text), (0, 0, 0, 2)))
    for part in result.degraded:
        console.print(Text(f"without {part.part}: {part.reason}", style="yellow"))


def _draw_cut(console: Console, result: RecallResult, texts: Mapping[str, str]) -> None:
    if not result.cut:
        return
    reasons = Counter(candidate.cut or "" for candidate in result.cut)
    listed = "; ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
    console.print(Text(f"left out: {listed}", style="dim"))
    for candidate in result.cut[:CUT_SHOWN]:
        text = " ".join(texts.get(candidate.fact_id, candidate.fact_id).split())
        console.print(
            Text(f"  {candidate.score:.2f}  {text}", style="dim"), no_wrap=True, overflow="ellipsis"
        )


def in_brief(fact: Fact, characters: int = 62) -> Text:
    """Return a fact in about two narrow lines: its beginning and its date."""
    flat = " ".join(fact.text.split())
    short = flat if len(flat) <= characters else flat[: characters - 1].rstrip() + "…"
    return Text(short) + Text(f" {day(fact.shown_date)}" if fact.shown_date else "", style="dim")


def rank_cell(rank: int | None) -> Text:
    """Return a channel's rank of a result: the brighter the better."""
    if rank is None:
        return Text("·", style="dim")
    style = "bold green" if rank == 1 else "green" if rank <= 3 else "yellow" if rank <= 10 else "dim"
    return Text(f"#{rank}", style=style)


def number(value: float | None, digits: int = 2) -> Text:
    """Return a figure, or a dot if there is none."""
    return Text("·", style="dim") if value is None else Text(f"{value:.{digits}f}")


def milliseconds(value: float) -> str:
    """`0.4 ms`, `12 ms`, `1.3 s`."""
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def stage_bar(timings: Sequence[StageTime], width: int = BAR) -> Text:
    """Each stage a stretch of the bar, then its name and time."""
    stages = [time for time in timings if time.stage in _COLOURS]
    whole = sum(time.milliseconds for time in stages) or 1.0
    long = [time for time in stages if time.milliseconds >= LEAST_SHARE * whole]
    bar, legend = Text(), Text()
    for time in long:
        cells = round(width * time.milliseconds / whole)
        bar.append("━" * max(cells, 1), style=_COLOURS[time.stage])
        legend.append("  ■ ", style=_COLOURS[time.stage])
        legend.append(f"{time.stage} {milliseconds(time.milliseconds)}", style="dim")
    rest = whole - sum(time.milliseconds for time in long)
    if len(long) < len(stages):
        legend.append(f"  rest {milliseconds(rest)}", style="dim")
    bar.truncate(width)
    return bar + legend


def draw_reflection(console: Console, answer: Reflection, *, explain: bool = False) -> None:
    """Draw the short answer, each sentence with its citation, how well it is supported, and each source."""
    if answer.answer is not None:
        console.print(Text(answer.answer, style="bold"))
    numbers = {one.fact.id: number for number, one in enumerate(answer.based_on, start=1)}
    for sentence in answer.sentences:
        cited = "".join(f" [{numbers[fact_id]}]" for fact_id in sentence.fact_ids if fact_id in numbers)
        console.print(Text(sentence.text) + Text(cited, style="dim"))
    if not answer.sentences:
        console.print(Text(answer.text))
    console.print(Text(f"evidence {answer.evidence.value}", style=EVIDENCE_STYLE[answer.evidence]))
    for number, recollection in enumerate(answer.based_on, start=1):
        line = Text(f"[{number}] ", style="dim") + provenance(recollection.fact)
        console.print(Padding(line, (0, 0, 0, 2)))
    for part in answer.recalled.degraded:
        console.print(Text(f"without {part.part}: {part.reason}", style="yellow"))
    if explain:
        draw_thinking(console, answer.trace)


def draw_thinking(console: Console, trace: ReflectionTrace) -> None:
    """How an answer came about, a line each."""
    lines = [f"answered by: {trace.model} ({trace.prompt})"] if trace.model else []
    lines += [f"read by: {trace.reader}"] if trace.reader else []
    lines += [_told_step(step) for step in trace.steps]
    lines += [*trace.disposition, *map(str, trace.directives), *trace.notes]
    lines += [f"degraded: {one.part}: {one.reason}" for one in trace.degraded]
    for line in lines:
        console.print(Text(line, style="dim"))


def _told_step(step: ReflectionStep) -> str:
    if step.refused:
        return f"{step.tool}: refused, {step.refused}"
    if step.tool == MODEL_STEP:
        return (
            f"{step.tool}: asked for {step.query}, {step.input_tokens} tokens in and {step.output_tokens} out, "
            f"{milliseconds(step.milliseconds)}"
        )
    return (
        f"{step.tool}: {len(step.fact_ids) or len(step.model_ids)} read, evidence {step.evidence.value}, "
        f"{milliseconds(step.milliseconds)}"
    )
