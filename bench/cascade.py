"""The rerank cascade beside the full pass: `python -m bench.cascade DATA.json [--queries 40]`.

The same pool of 300 is ordered twice in one run: by the default recipe (late interaction over all, the cross-encoder over
the best) and by the cross-encoder over all 300 facts (as in `tempr`). Prints the time of both, their
ratio and what either is worth on the labelled questions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

from bench.ablation import sampled
from bench.page import PAGE, load_now, table, taken, write_section
from perdure.domain.recall import RecallResult
from perdure.engine import Perdure
from perdure.evaluation.data import CACHE, load_banks
from perdure.evaluation.measures import Ranking, summarise
from perdure.evaluation.run import ask, bank_database, retain_banks
from perdure.recall.recipe import Recipe
from perdure.recall.recipes import DEFAULT, TEMPR
from perdure.settings import Settings

FULL = replace(TEMPR, name="full", channels=DEFAULT.channels)
HEAD = ("", "late, ms", "cross, ms", "both, ms", "nDCG@10", "recall@5", "recall@10")
STAGES = ("rerank.late", "rerank.cross")


def report(name: str, asked: Sequence[tuple[Ranking, RecallResult]]) -> tuple[float, list[str]]:
    """The p50 of a recipe's reranking, and its row of the table."""
    times = [{stage.stage: stage.milliseconds for stage in result.timings} for _, result in asked]
    late, cross = (median(found.get(stage, 0.0) for found in times) for stage in STAGES)
    whole = median(sum(found.get(stage, 0.0) for stage in STAGES) for found in times)
    quality = summarise([ranking for ranking, _ in asked], "items")
    row = [name, *(f"{ms:.1f}" for ms in (late, cross, whole))]
    row += [f"{quality[measure]:.3f}" for measure in ("ndcg@10", "recall@5", "recall@10")]
    print("  ".join(row), flush=True)
    return whole, row


def shared(one: RecallResult, other: RecallResult, depth: int = 10) -> int:
    """How many of the first facts both have."""
    heads = [{r.fact.id for r in result.recollections[:depth]} for result in (one, other)]
    return len(heads[0] & heads[1])


def run(path: Path, queries: int, cache: Path) -> list[str]:
    """Both orders on evenly spaced questions of one data file: the section of the page."""
    everything = load_banks(path)
    settings = Settings()
    cache.mkdir(parents=True, exist_ok=True)
    asked: dict[str, list[tuple[Ranking, RecallResult]]] = {"default": [], "full": []}
    with Perdure.open(bank_database(everything, settings, cache), settings=settings) as engine:
        retain_banks(engine, everything, lambda *_: None)
        for bank in sampled(everything, queries):
            ask(engine, bank.id, bank.queries[0], recipe=DEFAULT)
            for query in bank.queries:
                for recipe in (DEFAULT, FULL):
                    asked[_label(recipe)].append(ask(engine, bank.id, query, recipe=recipe, max_tokens=8192))
    reports = {label: report(label, found) for label, found in asked.items()}
    ratio = reports["full"][0] / reports["default"][0]
    common = mean(
        shared(one[1], other[1]) for one, other in zip(asked["default"], asked["full"], strict=True)
    )
    told = (
        f"{path.stem}, {len(asked['full'])} questions: the cascade is {ratio:.1f} times as fast; "
        f"{common:.1f} of the first 10 in common."
    )
    print(told)
    return [told, "", *table(HEAD, [row for _, row in reports.values()]), ""]


def _label(recipe: Recipe) -> str:
    return "default" if recipe is DEFAULT else "full"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    names = " ".join(path.name for path in chosen.data)
    command = f"python -m bench.cascade {names} --queries {chosen.queries}"
    lines = ["### Rerank cascade", "", taken(command, load_now()), ""]
    for path in chosen.data:
        lines += run(path, chosen.queries, chosen.cache)
    write_section("cascade", lines, chosen.page)


if __name__ == "__main__":
    main()
