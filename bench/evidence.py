"""What the evidence levels are worth: `python -m bench.evidence DATA.json [--queries 250] [--foreign 100]`.

Asks questions of their own bank and, with the speakers' names exchanged, of another one that holds no answer, and tells how
high the cross-encoder's best logit is in either case. The thresholds in recall/evidence.py are chosen from this table.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.ablation import sampled
from bench.page import PAGE, load_now, table, taken, write_section
from perdure.engine import Perdure
from perdure.evaluation.data import CACHE, LabelledBank, LabelledQuery, load_banks
from perdure.evaluation.measures import recall_at
from perdure.evaluation.run import ask, bank_database, retain_banks
from perdure.settings import Settings

BORDERS = (6.0, 5.0, 4.0, 2.0, 0.0)
HEAD = ("best logit", "own questions", "evidence in the first five", "foreign questions")


@dataclass(frozen=True)
class Asked:
    """A question's best logit, level, and share of the evidence among the first five."""

    logit: float
    level: str
    found: float


def ask_one(engine: Perdure, bank: str, query: LabelledQuery) -> Asked:
    """Ask with the default recipe and keep the candidates' logits."""
    ranking, result = ask(engine, bank, query, max_tokens=8192, explain=True)
    logits = [max(r.candidate.logits) for r in result.recollections if r.candidate and r.candidate.logits]
    found = recall_at(ranking.items, query.evidence, 5)
    return Asked(max(logits, default=float("-inf")), result.evidence.value, found)


def exchanged(query: LabelledQuery, home: LabelledBank, other: LabelledBank) -> LabelledQuery:
    """The question as if it were about the speakers of another bank."""
    text = query.text
    for name, instead in zip(speakers(home), speakers(other), strict=False):
        text = text.replace(name, instead)
    return replace(query, text=text)


def speakers(bank: LabelledBank) -> list[str]:
    """Who speaks in a bank, in order of name."""
    return sorted({item.speaker for item in bank.items if item.speaker})


def foreign(banks: Sequence[LabelledBank], count: int) -> Iterable[tuple[str, LabelledQuery]]:
    """Questions, each with the bank that it is put to: all the others in turn."""
    homes = sampled(banks, count)
    for place, home in enumerate(homes):
        for number, query in enumerate(home.queries):
            other = homes[(place + 1 + number % (len(homes) - 1)) % len(homes)]
            yield other.id, exchanged(query, home, other)


def rows(own: Sequence[Asked], strange: Sequence[Asked]) -> list[list[str]]:
    """A row for each range of logits."""
    lines = []
    for place in range(len(BORDERS) + 1):
        high = BORDERS[place - 1] if place else float("inf")
        low = BORDERS[place] if place < len(BORDERS) else float("-inf")
        here = [asked for asked in own if low <= asked.logit < high]
        there = [asked for asked in strange if low <= asked.logit < high]
        label = (
            f"{low:.0f} and more"
            if not place
            else f"{low:.0f} to {high:.0f}"
            if place < len(BORDERS)
            else f"below {high:.0f}"
        )
        found = f"{sum(asked.found for asked in here) / len(here):.2f}" if here else ""
        lines.append([label, f"{len(here) / len(own):.0%}", found, f"{len(there) / len(strange):.0%}"])
    return lines


def levels(asked: Sequence[Asked]) -> str:
    """How often each level was given."""
    counts = Counter(one.level for one in asked)
    return ", ".join(f"{level} {counts[level] / len(asked):.0%}" for level in ("strong", "weak", "none"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--queries", type=int, default=250)
    parser.add_argument("--foreign", type=int, default=100)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    load, banks = load_now(), load_banks(chosen.data)
    if len(banks) < 2:
        parser.error("data: at least two banks are needed, to ask one the questions of another")
    chosen.cache.mkdir(parents=True, exist_ok=True)
    with Perdure.open(bank_database(banks, Settings(), chosen.cache), settings=Settings()) as engine:
        retain_banks(engine, banks, lambda *_: None)
        own = [ask_one(engine, bank.id, q) for bank in sampled(banks, chosen.queries) for q in bank.queries]
        strange = [ask_one(engine, bank, q) for bank, q in foreign(banks, chosen.foreign)]
    told = f"{len(own)} questions of their own bank: {levels(own)}. {len(strange)} foreign ones: {levels(strange)}."
    drawn = table(HEAD, rows(own, strange))
    print("\n".join([told, *drawn]))
    head = [
        "### Evidence levels",
        "",
        taken(f"python -m bench.evidence {chosen.data.name}", load),
        "",
        told,
        "",
    ]
    write_section("evidence", [*head, *drawn], chosen.page)


if __name__ == "__main__":
    main()
