"""Do observations earn their place? Labelled questions, asked of banks before and after consolidation.

    python -m bench.observations DATA.json --banks 4 --every 3 --recipe fast
    python -m bench.observations --made-up

"facts" is what is ranked, before and after: it must not get worse. "spread" are the questions with two or more items of
evidence: the share of it that is reached within a number of tokens, by facts alone and by facts in what the observations
beside them leave of the same tokens, where an observation reaches the items of its sources.
With `--made-up` the questions ask for a person as a whole ("What do you know about Ann?"), who said six things about themself
between small talk: the share of their values that stands in the text within a number of tokens.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from perdure.domain.recall import RecallResult, Recollection
from perdure.domain.time import parse_instant
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledBank, LabelledQuery, load_banks
from perdure.evaluation.run import ITEM_KEY, retain_banks
from perdure.settings import read_settings

BUDGETS = (400, 800, 1600)
DEPTHS = (5, 10)


def items_of(recollections: Sequence[Recollection]) -> list[str]:
    """The items that facts came from, in order."""
    return [item for one in recollections if (item := one.fact.metadata.get(ITEM_KEY))]


def within(recollections: Sequence[Recollection], tokens: int) -> list[Recollection]:
    """The first ones that fit."""
    taken: list[Recollection] = []
    for one in recollections:
        tokens -= one.tokens
        if tokens < 0:
            break
        taken.append(one)
    return taken


def reached(items: Sequence[str], evidence: frozenset[str]) -> float:
    """The share of the evidence among the items."""
    return len(evidence.intersection(items)) / len(evidence)


class Figures:
    """Means over questions, by name."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = {}

    def add(self, name: str, value: float) -> None:
        self._values.setdefault(name, []).append(value)

    def rows(self) -> list[tuple[str, float, int]]:
        return [(name, mean(values), len(values)) for name, values in self._values.items()]


def ask(engine: Perdure, bank: str, query: LabelledQuery) -> RecallResult:
    asked_at = parse_instant(query.date, "date")
    return engine.recall(bank, query.text, track=False, asked_at=asked_at, max_tokens=8192)


def measure(engine: Perdure, bank: str, query: LabelledQuery, label: str, figures: Figures) -> None:
    """Ask one question and add what it reached."""
    result, evidence = ask(engine, bank, query), frozenset(query.evidence)
    if not evidence:
        return
    items = list(dict.fromkeys(items_of(result.recollections)))
    for depth in DEPTHS:
        figures.add(f"facts@{depth} {label}", reached(items[:depth], evidence))
    figures.add(f"milliseconds {label}", sum(t.milliseconds for t in result.timings if t.stage == "total"))
    if len(evidence) < 2:
        return
    beside = sum(one.tokens for one in result.observations)
    ids = [source for one in result.observations for source in one.fact.source_fact_ids]
    sources = [fact.metadata.get(ITEM_KEY, "") for fact in engine.facts.get_many(bank, ids)]
    for budget in BUDGETS:
        alone = items_of(within(result.recollections, budget))
        figures.add(f"spread {budget} tokens {label}, facts", reached(alone, evidence))
        if result.observations:
            rest = items_of(within(result.recollections, budget - beside))
            figures.add(
                f"spread {budget} tokens {label}, with observations", reached([*rest, *sources], evidence)
            )
            figures.add(
                f"spread {budget} + {round(beside, -2)} tokens {label}", reached([*alone, *sources], evidence)
            )


def run(banks: Sequence[LabelledBank], database: Path, every: int, recipe: str) -> Figures:
    """All figures, before and after."""
    figures = Figures()
    settings = read_settings(None, {"recipe": recipe})
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "consolidated.db"
        with Perdure.open(database, settings=settings) as engine:
            retain_banks(engine, banks, lambda *_: None)
            for bank in banks:
                for query in bank.queries[::every]:
                    measure(engine, bank.id, query, "before", figures)
        shutil.copy(database, copy)
        with Perdure.open(copy, settings=settings) as engine:
            for bank in banks:
                operation = engine.consolidate(bank.id)
                done = engine.operations.get(bank.id, operation.id, wait=3600)
                print(bank.id, done.status.value, done.result)
            for bank in banks:
                for query in bank.queries[::every]:
                    measure(engine, bank.id, query, "after", figures)
    return figures


PEOPLE = "Ann Bob Cleo Dan Eva Finn".split()
CITIES = "Lisbon Oslo Turin Graz Lyon Bergen".split()
FIRMS = "Ford Siemens Bosch Nokia Philips Bayer".split()
CHATTER = (
    "I was at the harbour with friends and it rained all day.", "I bought a lamp and it broke on the way home.",
    "I waited an hour for the train again.", "I talked to the neighbours about the roof.",
    "I read a long book about bees.", "I painted the kitchen door on Sunday.", "I lost my keys and found them later.",
    "I helped a friend carry a wardrobe.", "I cooked too much soup for everybody.", "I walked along the river for hours.",
)  # fmt: skip
PROFILE_BUDGETS = (80, 120, 240)


def stated_values(number: int) -> dict[str, str]:
    """What somebody says of themself -> the value in it."""
    city, firm = CITIES[number], FIRMS[number]
    return {
        f"I live in {city}.": city, f"I work at {firm}.": firm, "I have a dog named Rex.": "rex",
        "I drive a Volvo.": "volvo", "I like jazz.": "jazz", "I play the cello.": "cello",
    }  # fmt: skip


def run_made_up(recipe: str) -> Figures:
    """How much of what somebody said of themself is within reach of a question about them."""
    figures = Figures()
    with (
        tempfile.TemporaryDirectory() as folder,
        Perdure.open(Path(folder) / "m.db", settings=read_settings(None, {"recipe": recipe})) as engine,
    ):
        for number, person in enumerate(PEOPLE):
            stated = list(stated_values(number))
            for place, chat in enumerate(CHATTER):
                engine.retain("b", chat, speaker=person)
                if place < len(stated):
                    engine.retain("b", stated[place], speaker=person)
        engine.operations.get("b", engine.consolidate("b").id, wait=600)
        for number, person in enumerate(PEOPLE):
            values = stated_values(number).values()
            result = engine.recall("b", f"What do you know about {person}?", track=False)
            beside = [one for one in result.observations if person in one.fact.entities][:1]
            used = sum(one.tokens for one in beside)
            for budget in PROFILE_BUDGETS:
                alone = within(result.recollections, budget)
                mixed = [*beside, *within(result.recollections, budget - used)] if used <= budget else alone
                for label, shown in (("facts", alone), ("with an observation", mixed)):
                    text = " ".join(one.text.lower() for one in shown if person in one.text)
                    share = sum(value.lower() in text for value in values) / len(values)
                    figures.add(f"profile {budget} tokens, {label}", share)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--made-up", action="store_true")
    parser.add_argument("--banks", type=int, default=4)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--recipe", default="fast")
    parser.add_argument("--database", type=Path, default=Path("observations.db"))
    options = parser.parse_args()
    if options.made_up:
        figures = run_made_up(options.recipe)
    elif options.data is not None:
        banks = load_banks(options.data)[: options.banks]
        figures = run(banks, options.database, options.every, options.recipe)
    else:
        parser.error("DATA.json or --made-up")
    for name, value, count in figures.rows():
        print(f"{name:60} {value:8.3f}  ({count})")


if __name__ == "__main__":
    main()
