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
from perdure.domain.recall import RecallResult
from perdure.engine import Perdure
from perdure.recall.recipes import DEFAULT, TEMPR, Recipe
from perdure.settings import Settings
from perdure.surfaces.cli.evaluate import CACHE
from perdure.surfaces.evaluation.data import load_banks
from perdure.surfaces.evaluation.metrics import Ranking, summarise
from perdure.surfaces.evaluation.run import ask, bank_database, retain_banks

FULL = replace(TEMPR, name="full", channels=DEFAULT.channels)
STAGES = ("rerank.late", "rerank.cross")


def report(name: str, asked: Sequence[tuple[Ranking, RecallResult]]) -> float:
    """Print one recipe's line; returns the p50 of its reranking."""
    times = [{stage.stage: stage.milliseconds for stage in result.timings} for _, result in asked]
    late, cross = (median(found.get(stage, 0.0) for found in times) for stage in STAGES)
    whole = median(sum(found.get(stage, 0.0) for stage in STAGES) for found in times)
    quality = summarise([ranking for ranking, _ in asked], "items")
    print(
        f"{name:8} late {late:6.1f} ms  cross {cross:7.1f} ms  both {whole:7.1f} ms   "
        f"nDCG@10 {quality['ndcg@10']:.3f}  recall@5 {quality['recall@5']:.3f}  recall@10 {quality['recall@10']:.3f}",
        flush=True,
    )
    return whole


def shared(one: RecallResult, other: RecallResult, depth: int = 10) -> int:
    """How many of the first facts both have."""
    heads = [{r.fact.id for r in result.recollections[:depth]} for result in (one, other)]
    return len(heads[0] & heads[1])


def run(path: Path, queries: int, cache: Path) -> None:
    """Both orders on evenly spaced questions of one data file."""
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
    times = {label: report(label, found) for label, found in asked.items()}
    common = mean(
        shared(one[1], other[1]) for one, other in zip(asked["default"], asked["full"], strict=True)
    )
    print(
        f"{path.stem}, {len(asked['full'])} questions: the cascade is {times['full'] / times['default']:.1f} times as fast; "
        f"{common:.1f} of the first 10 in common"
    )


def _label(recipe: Recipe) -> str:
    return "default" if recipe is DEFAULT else "full"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    for path in chosen.data:
        run(path, chosen.queries, chosen.cache)


if __name__ == "__main__":
    main()
