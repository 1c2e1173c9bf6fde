"""The page with the tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.peers.contestants import CONTESTANTS, Contestant
from bench.peers.drivers.protocol import WARM_UP
from bench.peers.outcome import Figures, Outcome, figures
from bench.peers.selection import Selection

QUALITY = ("recall@5", "recall@10", "mrr", "ndcg@10")
HEAD = ("", *QUALITY, "p50 ms", "p95 ms", "retain, texts/s", "environment, MB")
RATIOS = ("", *QUALITY, "p50", "retain")


@dataclass(frozen=True, slots=True)
class Section:
    """A selection and what each contestant did with it."""

    selection: Selection
    outcomes: Mapping[str, Outcome]


def page(command: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    lines = [
        "# Beside other memories",
        "",
        f"Written by `{command}`. {platform.machine()}, {os.cpu_count()} cores, no GPU used, "
        f"Python {platform.python_version()}. {_load(sections)}",
        "",
        "Each memory runs in a virtual environment and a process of its own, one after the other, offline and without an LLM, "
        f"gets the same texts in the same order and is asked the same questions after {len(WARM_UP)} others to warm up. "
        "The others get a turn as `[8 May 2023] Caroline: ...`, a passage as `Title: ...`. "
        "Each memory that comes back counts as the item it was made of; 50 are asked for.",
        "",
    ]
    for section in sections:
        lines += _section(section)
    return "\n".join([*lines, *_setups(sections), *WEAK_SPOTS]) + "\n"


def _load(sections: Sequence[Section]) -> str:
    loads = [
        outcome.load for section in sections for outcome in section.outcomes.values() if not outcome.failure
    ]
    if not loads:
        return ""
    said = f"Load of the machine before each run: {min(loads):.1f} to {max(loads):.1f}"
    busy = max(loads) > (os.cpu_count() or 1) / 2
    return (
        f"{said}; it was not idle, so times are too long and not to be compared closely."
        if busy
        else f"{said}."
    )


def _section(section: Section) -> list[str]:
    chosen = section.selection
    banks = f"{len(chosen.banks)} bank{'s' if len(chosen.banks) > 1 else ''}"
    lines = [f"## {chosen.name}", ""]
    rows = {c.name: (c, section.outcomes[c.name]) for c in CONTESTANTS if c.name in section.outcomes}
    measured = {name: figures(o, chosen) for name, (_, o) in rows.items() if not o.failure}
    error = max((found.recall_error for found in measured.values()), default=0.0)
    lines += [
        f"{banks}, {chosen.texts:,} texts, {chosen.queries:,} questions; "
        f"the standard error of a recall@5 is up to {error:.3f}.",
        "",
    ]
    lines += [_line(HEAD), "| --- |" + " ---: |" * (len(HEAD) - 1)]
    for name, (contestant, outcome) in rows.items():
        if name in measured:
            lines.append(_line((contestant.label, *_cells(measured[name]), f"{outcome.megabytes:,.0f}")))
        else:
            lines.append(_line((contestant.label, "did not run", *[""] * (len(HEAD) - 2))))
    lines.append("")
    for contestant, outcome in rows.values():
        if outcome.failure:
            lines += [f"{contestant.label} did not run: {_harmless(outcome.failure)}", ""]
    absent = [contestant.label for contestant in CONTESTANTS if contestant.name not in rows]
    if absent:
        lines += [f"Not asked to run: {', '.join(absent)}.", ""]
    return lines + (_ratios(rows, measured) if "perdure" in measured else [])


def _ratios(rows: Mapping[str, tuple[Contestant, Outcome]], measured: Mapping[str, Figures]) -> list[str]:
    own = measured["perdure"]
    lines = ["As a multiple of Perdure's `default` (latency: below 1 is faster):", ""]
    lines += [_line(RATIOS), "| --- |" + " ---: |" * (len(RATIOS) - 1)]
    for name, found in measured.items():
        pairs = [(found.quality[key], own.quality[key]) for key in QUALITY]
        pairs += [(found.p50, own.p50), (found.texts_a_second, own.texts_a_second)]
        cells = [f"{theirs / ours:.2f}" if ours else "" for theirs, ours in pairs]
        lines.append(_line((rows[name][0].label, *cells)))
    return [*lines, ""]


def _cells(found: Figures) -> list[str]:
    return [
        *(f"{found.quality[key]:.3f}" for key in QUALITY),
        f"{found.p50:.0f}",
        f"{found.p95:.0f}",
        f"{found.texts_a_second:.1f}",
    ]


def _setups(sections: Sequence[Section]) -> list[str]:
    lines = ["## How each was set up", ""]
    for contestant in CONTESTANTS:
        found = [s.outcomes[contestant.name] for s in sections if contestant.name in s.outcomes]
        if not found:
            continue
        versions = next((o.versions for o in found if o.versions), {})
        listed = ", ".join(f"{name} {version}" for name, version in versions.items())
        lines.append(f"- **{contestant.label}**: {contestant.setup}{f' ({listed})' if listed else ''}.")
    return [*lines, ""]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _harmless(reason: str) -> str:
    """A reason without the folders of the machine it happened on."""
    return " ".join(
        os.path.basename(word) if word.strip("'\"").startswith("/") else word for word in reason.split()
    )


WEAK_SPOTS = [
    "## What the comparison does not show",
    "",
    "- Mem0 and Hindsight are made to extract facts with an LLM; without one they store the texts as they are, which is the cheapest "
    "and not the strongest thing they can do. Their published figures are answers judged by an LLM, not recall of turns.",
    "- The embedders differ: MemPalace has its default; Mem0's default is a service, so it got the same all-MiniLM-L6-v2; "
    "Hindsight has its default in int8, and instead of its default cross-encoder the larger one that Perdure uses. "
    "A first try with MiniLM found less and was given up.",
    "- Hindsight without a cross-encoder is not Hindsight at its best: in the few questions that were traced its graph search returned "
    "neighbours of the best hits, which then overtook those hits in the fusion.",
    "- Mem0's keyword part wants files from a hub: it runs here with empty stop-word lists and the spaCy model of another package.",
    "- MemPalace and Mem0 have no cross-encoder by default and got none: the row to hold them against is Perdure's `fast`.",
    "- Perdure's weights were chosen while looking at these data sets; the others were run with their defaults.",
    "- Perdure is given speaker, time and session as fields, because its interface has them. The row with bare strings takes that away: what it knows of them it reads from the strings.",
    "- Latency is of one question at a time. Hindsight's includes HTTP and PostgreSQL; the others are libraries in the process that asks. "
    "Throughput under load is not measured.",
    "- MemPalace is filled a drawer at a time and Mem0 a text at a time, because that is how their interfaces take texts; "
    "Perdure and Hindsight take a session a call.",
    "- The size of an environment is that of all files in it with the weights; it counts torch (its CPU build) for those who need it for MiniLM.",
]
