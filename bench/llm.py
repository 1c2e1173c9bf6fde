"""A real small language model, end to end: facts, observations, an opinion that changes, reflections with citations.

    python -m bench.llm DATA.json [--turns 30] [--questions 20] [--bank NAME] [--quote] [--gguf FILE] [--python PYTHON] [--write]

Serves the weights of bench/llm_weights.py over the OpenAI protocol, retains the turns that answer most questions with the extractor `llm`, consolidates
after each session and asks. `--quote` shows the texts, for data that may be shown; without it only figures are. `--write` puts the section into docs/llm-run.md.
The same turns and questions without a model stand beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from bench.llm_weights import NAME, joined_weights, served
from bench.page import load_now, table, taken, write_section
from bench.reflect import stands_in
from bench.truth.replay import SetClock
from perdure import Fact, Observation, Opinion, Perdure, Reflection
from perdure.domain.time import parse_instant
from perdure.evaluation.data import LabelledBank, LabelledItem, LabelledQuery, load_banks

PAGE = Path("docs/llm-run.md")
WEIGHTS = Path.home() / ".cache" / "perdure" / "weights"
MOST_QUOTED = 12
UNANSWERABLE = "unanswerable"
WINDOW = 3072
REFLECT_SECONDS = 240.0
"""Then reflect answers without the model, and says so: one that rambles fills its window at ten tokens a second."""
READ_TOKENS = 500
"""Tokens of facts that a recall gives a reflection: a small model on a processor reads 50 a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and what came of it."""

    query: LabelledQuery
    gold: str
    reflection: Reflection
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether the gold answer stands in the answer; of a question without one, whether it was refused."""
        if not self.gold:
            return self.reflection.is_refusal
        sentences = [one.text for one in self.reflection.sentences]
        return stands_in(self.gold, self.reflection.answer or "", sentences)

    @property
    def left_out(self) -> int:
        """Sentences of the model that the check took out or marked."""
        return sum(note.startswith(("left out", "marked")) for note in self.reflection.trace.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What one run gave."""

    facts: Sequence[Fact]
    fell_back: Sequence[str]
    observations: Sequence[Observation]
    opinions: Sequence[tuple[Opinion, Sequence[tuple[datetime, float]]]]
    asked: Sequence[Asked]
    costs: Sequence[Sequence[str]]
    seconds: dict[str, float]


def busiest_window(bank: LabelledBank, turns: int) -> tuple[list[LabelledItem], list[LabelledQuery]]:
    """The adjacent turns that answer most questions, and these questions; questions without an answer go with any turns."""
    places = range(max(1, len(bank.items) - turns + 1))

    def answered(start: int) -> list[LabelledQuery]:
        ids = {item.id for item in bank.items[start : start + turns]}
        return [q for q in bank.queries if q.evidence <= ids and (q.evidence or q.type == UNANSWERABLE)]

    start = max(places, key=lambda place: (len(answered(place)), -place))
    return list(bank.items[start : start + turns]), answered(start)


@contextmanager
def opened(clock: SetClock, url: str | None) -> Iterator[Perdure]:
    """A memory of its own; with a model's URL, the model reads, consolidates and reflects."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        if url is None:
            with Perdure.open(path, clock=clock) as memory:
                yield memory
        else:
            with Perdure.open(
                path, clock=clock, llm=f"openai:{NAME}", llm_url=url, llm_key="none", llm_window=WINDOW,
                llm_timeout=900.0, llm_reflect_seconds=REFLECT_SECONDS, extractor="llm",
            ) as memory:  # fmt: skip
                yield memory


def run(
    bank: str, items: Sequence[LabelledItem], queries: Sequence[tuple[LabelledQuery, str]], url: str | None
) -> Ran:
    """Retain the sessions one after the other, consolidate behind each, then ask."""
    seconds = {"retain": 0.0, "consolidate": 0.0, "reflect": 0.0}
    fell_back: list[str] = []
    clock = SetClock()
    with opened(clock, url) as memory:
        for session, turns in groupby(items, key=lambda item: item.session):
            said = list(turns)
            clock.now = parse_instant(said[-1].date, "date") or clock.now
            started = time.perf_counter()
            retained = memory.retain(
                bank,
                [
                    {"content": one.text, "speaker": one.speaker, "timestamp": parse_instant(one.date, "date"),
                     "role": one.speaker if one.speaker == "assistant" else ""}
                    for one in said
                ],
                document_id=session,
            )  # fmt: skip
            fell_back += [one.reason for one in retained.fell_back]
            seconds["retain"] += time.perf_counter() - started
            started = time.perf_counter()
            memory.operations.get(bank, memory.consolidate(bank).id, wait=3_600)
            seconds["consolidate"] += time.perf_counter() - started
            print(f"{session}: {seconds}", file=sys.stderr, flush=True)
        asked = []
        for query, gold in queries:
            clock.now = parse_instant(query.date, "date") or clock.now
            started = time.perf_counter()
            reflection = memory.reflect(bank, query.text, budget="low", max_tokens=READ_TOKENS)
            asked.append(
                Asked(query=query, gold=gold, reflection=reflection, seconds=time.perf_counter() - started)
            )
            print(".", end="", file=sys.stderr, flush=True)
        seconds["reflect"] = sum(one.seconds for one in asked)
        print(file=sys.stderr)
        return Ran(
            facts=list(memory.facts.iterate(bank)),
            fell_back=fell_back,
            observations=memory.observations.list(bank),
            opinions=[(one, memory.opinions.get(bank, one.id).curve()) for one in memory.opinions.list(bank)],
            asked=asked,
            costs=[
                [str(row.operation), str(row.calls), str(row.input_tokens), str(row.output_tokens)]
                for row in memory.llm.costs(bank)
            ],
            seconds=seconds,
        )


# The page


def figures(ran: Ran, local: Ran) -> list[str]:
    """The two runs side by side."""
    rows = [
        ["facts", str(len(ran.facts)), str(len(local.facts))],
        ["chunks that fell back to `local`", str(len(ran.fell_back)), ""],
        ["observations in force", str(len(ran.observations)), str(len(local.observations))],
        ["opinions held", str(len(ran.opinions)), str(len(local.opinions))],
        ["questions answered as the data does", _share(ran), _share(local)],
        ["no answer given", str(_refusals(ran)), str(_refusals(local))],
        ["sentences of reflections that stand", str(_standing(ran)), str(_standing(local))],
        ["sentences of the model that the check left out", _left_out(ran), ""],
        ["answers for which the model failed and the local reflect stood in", str(_degraded(ran)), ""],
        *([f"seconds of {name}", f"{ran.seconds[name]:.0f}", f"{local.seconds[name]:.1f}"] for name in ran.seconds),
    ]  # fmt: skip
    lines = table(("", "with the model", "without"), rows)
    return [*lines, "", *table(("calls for", "calls", "tokens in", "tokens out"), ran.costs)]


def _share(ran: Ran) -> str:
    return f"{sum(one.is_right for one in ran.asked)} of {len(ran.asked)}"


def _refusals(ran: Ran) -> int:
    return sum(one.reflection.is_refusal for one in ran.asked)


def _standing(ran: Ran) -> int:
    return sum(len(one.reflection.sentences) for one in ran.asked)


def _left_out(ran: Ran) -> str:
    left = sum(one.left_out for one in ran.asked)
    by_model = sum(len(one.reflection.sentences) for one in ran.asked if one.reflection.trace.model)
    return f"{left} of {left + by_model}"


def _degraded(ran: Ran) -> int:
    return sum(bool(one.reflection.trace.degraded) for one in ran.asked)


def quotations(ran: Ran) -> list[str]:
    """What the run said, misses included."""
    lines = ["", "Facts that the model drew:", ""]
    lines += [f"- {fact.text}{_window(fact)}" for fact in ran.facts if fact.type.value in ("world", "experience")]  # fmt: skip
    lines += ["", "Observations:", ""]
    lines += [f"- **{one.name}** ({one.proof_count} proofs): {one.text}" for one in ran.observations]
    lines += ["", "Opinions, and how sure the bank was after each piece of evidence:", ""]
    lines += [
        f"- {opinion.statement}: {' → '.join(f'{c:.2f}' for _, c in curve)}"
        for opinion, curve in ran.opinions
    ]
    lines += ["", "Questions:", ""]
    for one in ran.asked[:MOST_QUOTED]:
        mark = "right" if one.is_right else "**miss**"
        lines.append(f"- {one.query.text} ({mark}; the data says: {one.gold or 'no answer'})")
        lines.append(f"  {one.reflection.text}")
        lines += [f"  - {note}" for note in one.reflection.trace.notes]
    if ran.fell_back:
        lines += ["", "Fell back:", "", *(f"- {reason}" for reason in ran.fell_back)]
    return lines


def _window(fact: Fact) -> str:
    if fact.occurred_start is None:
        return ""
    return f" [{fact.occurred_start:%Y-%m-%d}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--bank", help="the bank of the file; its first one unless named")
    parser.add_argument("--quote", action="store_true")
    parser.add_argument("--gguf", type=Path, help="weights; joined from their packages unless named")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has xllamacpp")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    banks = load_banks(args.data)
    bank = next((one for one in banks if one.id == args.bank), banks[0])
    items, queries = busiest_window(bank, args.turns)
    golds = {
        query["id"]: str(query.get("answer") or "")
        for one in json.loads(args.data.read_text(encoding="utf-8"))
        if one["bank"] == bank.id
        for query in one["queries"]
    }
    asked = [(query, golds[query.id]) for query in queries[: args.questions]]
    load = load_now()
    local = run(bank.id, items, asked, None)
    with served(args.gguf or joined_weights(WEIGHTS), python=args.python) as url:
        ran = run(bank.id, items, asked, url)
    shown = f"python -m bench.llm {args.data.name} --turns {len(items)} --questions {len(asked)}{' --quote' * args.quote}"
    lines = [
        f"## {args.data.stem}: {len(items)} turns, {len(asked)} questions",
        "",
        taken(shown, load),
        "",
        *figures(ran, local),
        *(quotations(ran) if args.quote else []),
    ]
    print("\n".join(lines))
    if args.write:
        write_section(args.data.stem, lines, PAGE)


if __name__ == "__main__":
    main()
