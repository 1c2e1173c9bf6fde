"""A recall as a list, and explained: why the first fact won, how each was found and scored, where the time went; and an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from perdure.domain.recall import RecallResult, Recollection, StageTime
from perdure.reflect.reflection import Reflection
from perdure.surfaces.cli.draw import EVIDENCE_STYLE, day, draw_record, plural, provenance, span, statement
from perdure.surfaces.plain import plain_trace, total_milliseconds

CUT_SHOWN = 5
FOUND_BY = {
    "semantic": "by meaning", "keyword": "by words", "graph": "through entities and links", "temporal": "by date",
    "neighbourhood": "by the meaning around it", "slot": "as the value asked for",
}  # fmt: skip
_SHORT = {"semantic": "sem", "keyword": "key", "temporal": "time", "neighbourhood": "near"}
LEGEND = (
    "#1 is a channel's best find: sem by meaning, near by the meaning around it, key by words, graph through entities and "
    "links, time by date. fused adds 1/(60 + rank) over the channels; rerank is the reader's score; relev the "
    "probability that the fact helps; score orders, after the boosts."
)
KEEP_LOADED = "Each command loads the models anew; `perdure serve --open` keeps them loaded and answers in milliseconds."
LEAST_SHARE = 0.05
"""Stages below this share of the whole are told together."""


def draw_recall(console: Console, result: RecallResult) -> None:
    """Draw the recollections, best first, and what was missing."""
    console.print(_head(result))
    draw_rows(console, result.recollections)
    draw_asides(console, result)


def draw_explained(console: Console, result: RecallResult, cut: Mapping[str, str]) -> None:
    """Draw why the first fact won, how each was found and scored, what was cut and why, and the time.

    `cut` holds the texts of the first facts that were left out, by id.
    """
    console.print(_head(result))
    if result.recollections:
        console.print(Text(why_first(result)))
    for line in understood(result):
        console.print(line)
    draw_rows(console, result.recollections, explained=True)
    _draw_cut(console, result, cut)
    draw_asides(console, result)
    console.print(Text(LEGEND, style="dim"))
    console.print(Text(stages(result.timings), style="dim"))


def draw_rows(console: Console, shown: Sequence[Recollection], *, explained: bool = False) -> None:
    """Draw facts with citation, score and who said them; explained, also the figures that made the score."""
    citations, scores = Column(justify="right", style="dim", width=4), Column(justify="right", width=5)
    grid = Table.grid(citations, scores, Column(ratio=1), padding=(0, 1))
    for one in shown:
        score = Text(f"{one.score:.2f}", style=EVIDENCE_STYLE[one.evidence])
        text = statement(one.fact)
        for note in one.notes:
            text.append(f"\n⚠ {note}", style="yellow")
        if one.is_earlier:
            text.append("\n↺ an earlier value", style="yellow")
        if explained:
            text.append(f"\n{figures(one)}", style="cyan")
        grid.add_row(Text(f"[{one.citation}]"), score, text)
    if shown:
        console.print(grid)


def figures(one: Recollection) -> str:
    """Return the ranks, scores and boosts of a fact; boosts with a plus are added, the others multiply."""
    candidate = one.candidate
    if candidate is None:
        return ""
    parts = [f"{_SHORT.get(rank.channel, rank.channel)} #{rank.rank}" for rank in candidate.ranks]
    scores = (("fused", candidate.fused, 3), ("rerank", candidate.rerank, 2),
              ("relev", candidate.relevance, 2), ("score", one.score, 3))  # fmt: skip
    parts += [f"{name} {value:.{digits}f}" for name, value, digits in scores if value is not None]
    parts += [f"{name} {value:.2f}" for name, value in candidate.boosts.items() if name[0] == "+" and value]
    parts += [
        f"{name} ×{value:.2f}"
        for name, value in candidate.boosts.items()
        if name[0] != "+" and abs(value - 1.0) >= 0.005
    ]
    return " · ".join(parts)


def why_first(result: RecallResult) -> str:
    """Return a sentence on what brought the first fact to its place."""
    first = result.recollections[0]
    candidate = first.candidate
    if candidate is None:
        return "[1] won because it was the only candidate"
    best = min((rank.rank for rank in candidate.ranks), default=0)
    ways = [FOUND_BY.get(rank.channel, f"by {rank.channel}") for rank in candidate.ranks if rank.rank == best]
    reasons = [f"it came {'first' if best == 1 else f'in place {best}'} {_joined(ways)}"] if ways else []
    if candidate.rerank is not None:
        others = [one.candidate.rerank for one in result.recollections[1:] if one.candidate is not None]
        highest = all(other is None or other <= candidate.rerank for other in others)
        reasons.append(f"the reader gave it {'the most, ' if highest else ''}{candidate.rerank:.2f}")
    if first.answers is not None and first.span:
        reasons.append(f"the reader found the answer “{first.span}” in it")
    raised = [
        name.removeprefix("+") for name, value in candidate.boosts.items() if value > (name[0] != "+") + 0.005
    ]
    reasons += [f"{_joined(raised)} raised it"] if raised else []
    return f"[1] won because {'; '.join(reasons) or 'nothing else was found'}."


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


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


def milliseconds(value: float) -> str:
    """`0.4 ms`, `12 ms`, `1.3 s`."""
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def stages(timings: Sequence[StageTime]) -> str:
    """Return where the time went: the stages that took long, and the rest together."""
    whole = {
        time.stage: time.milliseconds for time in timings if "." not in time.stage and time.stage != "total"
    }
    long = {stage: took for stage, took in whole.items() if took >= LEAST_SHARE * sum(whole.values())}
    parts = [f"{stage} {milliseconds(took)}" for stage, took in long.items()]
    rest = sum(whole.values()) - sum(long.values())
    return "time: " + " · ".join(
        [*parts, *([f"rest {milliseconds(rest)}"] if len(long) < len(whole) else [])]
    )


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
        draw_record(console, plain_trace(answer.trace))
