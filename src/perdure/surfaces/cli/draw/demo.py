"""What `perdure demo` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from perdure.domain.item import RetainResult
from perdure.domain.recall import RecallResult
from perdure.surfaces.cli.draw.recall import explain_table, times_line, understood
from perdure.surfaces.cli.draw.times import milliseconds, total
from perdure.surfaces.cli.draw.words import day, plural

if TYPE_CHECKING:
    from perdure.surfaces.cli.demo import Asked

SHOWN = 3


def draw_opening(console: Console, script: Mapping[str, Any], done: RetainResult, seconds: float) -> None:
    """What was remembered, from what, and how long it took."""
    turns = script["turns"]
    days = len({turn["date"][:10] for turn in turns})
    head = Text("perdure demo", style="bold cyan")
    head.append("  long-term memory, on this machine, without a language model", style="dim")
    console.print(head)
    line = Text(f"Remembered {len(turns)} turns of {days} days: ")
    line.append(plural(len(done.fact_ids), "fact"), style="bold")
    line.append(f", {plural(done.entities, 'entity', 'entities')}, {plural(done.links, 'link')}")
    console.print(line.append("."))
    took = f"That took {seconds:.1f} s, the loading of the models included."
    console.print(Text(f"{took} Asked on {script['asked_at'][:10]}:\n", style="dim"))


def draw_question(console: Console, number: int, asked: Asked) -> None:
    """A question: why it is hard, the answer, the table of who found what, the time."""
    result = asked.result
    width = min(console.width, 100)
    parts: list[RenderableType] = [_answer(result), Text()]
    if result.recollections:
        parts += [explain_table(result, result.recollections[:SHOWN], width - 4, brief=True), Text()]
    parts.append(_read(result))
    parts += [Text(f"without {part.part}: {part.reason}", style="yellow") for part in result.degraded]
    parts.append(times_line(result))
    title = Text.assemble(
        (f" {number} ", "bold black on cyan"), (f" {asked.kind} ", "bold cyan"), (f"· {asked.why} ", "dim")
    )
    took = Text(f" {milliseconds(total(result.timings))} ", style="dim")
    panel = Panel(
        Group(Text(result.query.text, style="bold"), *parts), title=title, title_align="left", subtitle=took,
        subtitle_align="right", border_style="cyan", padding=(0, 1), width=width,
    )  # fmt: skip
    console.print(panel)


def _answer(result: RecallResult) -> Text:
    if not result.recollections:
        return Text("memory holds nothing on this", style="yellow")
    best = result.recollections[0].fact
    answer = Text("→ ", style="green") + Text(" ".join(best.text.split()), style="bold green")
    return answer.append(f"  ({day(best.dated)})" if best.dated else "", style="dim")


def _read(result: RecallResult) -> Text:
    lines = understood(result)
    read = Text("   ").join(lines) if lines else Text()
    left = len(result.cut) + len(result.recollections) - SHOWN
    if left > 0:
        read.append(f"{'   ' if lines else ''}and {left} more below", style="dim")
    return read


def draw_close(console: Console) -> None:
    """How to read the table, and where to go on."""
    legend = Text.assemble(
        ("#1 is a channel's best find: ", "dim"), ("sem", "bold"), (" by meaning, ", "dim"), ("near", "bold"),
        (" with its neighbours' meaning, ", "dim"), ("key", "bold"), (" by words (BM25), ", "dim"), ("graph", "bold"),
        (" through entities and links, ", "dim"), ("time", "bold"), (" by date. ", "dim"),
        ("Fused by rank, reread by a cross-encoder, boosted, scored.", "dim"),
    )  # fmt: skip
    console.print(legend)
    next_steps = (
        ("perdure retain notes/", "bold"),
        (" then ", "dim"),
        ('perdure recall "…" --explain', "bold"),
    )
    console.print(Text.assemble(("Next: ", "dim"), *next_steps))
