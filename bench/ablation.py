"""Ablation: each channel alone, all fused, the default with parts left out, and every recipe.

    python -m bench.ablation DATA.json [DATA.json ...] [--sample 100] [--out docs]

Writes docs/ablation.md and docs/ablation.svg.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from perdure.engine import Perdure
from perdure.recall.recipes import DEFAULT, RECIPES, Blend, ChannelSpec, Recipe
from perdure.settings import Settings
from perdure.surfaces.cli.evaluate import CACHE
from perdure.surfaces.evaluation.data import LabelledBank, load_banks
from perdure.surfaces.evaluation.metrics import Ranking, latency, summarise
from perdure.surfaces.evaluation.run import ask, bank_database, retain_banks

CHANNELS = ("semantic", "surroundings", "keyword", "graph", "temporal", "pagerank", "fuzzy", "signature")
MEASURES = {"items": ("recall@5", "recall@10", "ndcg@10"), "sessions": ("any@5", "all@5")}


def variants() -> dict[str, Recipe]:
    """Label -> recipe, in the order of the table."""
    table: dict[str, Recipe] = {}
    for name in CHANNELS:
        alone = (ChannelSpec(name=name),)
        table[f"{name} alone"] = Recipe(name=name, channels=alone, cross_pool=0)
    table["five channels, RRF"] = replace(DEFAULT, cross_pool=0, blend=Blend())
    table["default without the cross-encoder"] = replace(DEFAULT, cross_pool=0)
    for spec in DEFAULT.channels:
        kept = tuple(other for other in DEFAULT.channels if other != spec)
        table[f"default without {spec.name}"] = replace(DEFAULT, channels=kept)
    table["default without links"] = replace(DEFAULT, blend=replace(DEFAULT.blend, links=0.0))
    table["default without covering"] = replace(DEFAULT, blend=replace(DEFAULT.blend, cover=0.0))
    table.update({f"recipe {name}": recipe for name, recipe in RECIPES.items()})
    return table


def sampled(banks: Sequence[LabelledBank], count: int) -> list[LabelledBank]:
    """Every n-th question, about `count` in all."""
    total = sum(len(bank.queries) for bank in banks)
    step = max(total // count, 1)
    place = 0
    chosen = []
    for bank in banks:
        queries = [q for i, q in enumerate(bank.queries) if (place + i) % step == 0]
        place += len(bank.queries)
        if queries:
            chosen.append(LabelledBank(id=bank.id, items=bank.items, queries=queries))
    return chosen


def measure(engine: Perdure, banks: Sequence[LabelledBank], recipe: Recipe) -> dict[str, float]:
    """The table's figures for one variant."""
    rankings: list[Ranking] = [
        ask(engine, bank.id, query, recipe=recipe, max_tokens=8192)[0] for bank in banks for query in bank.queries
    ]
    figures: dict[str, float] = {}
    for over, names in MEASURES.items():
        summary = summarise(rankings, over)
        figures.update({f"{over} {name}": summary.get(name, 0.0) for name in names})
    figures["p50 ms"] = latency(rankings)["p50"]
    return figures


def run(path: Path, count: int, cache: Path) -> dict[str, dict[str, float]]:
    """All variants on one data file."""
    everything = load_banks(path)
    settings = Settings()
    cache.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, float]] = {}
    with Perdure.open(bank_database(everything, settings, cache), settings=settings) as engine:
        retain_banks(engine, everything, lambda *_: None)
        banks = sampled(everything, count)
        for label, recipe in variants().items():
            started = time.perf_counter()
            results[label] = measure(engine, banks, recipe)
            print(f"{path.stem:18} {label:36} {_short(results[label])}  {time.perf_counter() - started:.0f} s", flush=True)
    return results


def _short(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in figures.items())


def write_table(results: dict[str, dict[str, dict[str, float]]], count: int, folder: Path) -> None:
    """docs/ablation.md: one table a data set."""
    lines = [
        "# Ablation",
        "",
        f"Written by `python -m bench.ablation`: about {count} questions of each set, evenly spaced, facts by the local "
        "extractor. `items` are turns or passages, `sessions` are the sessions (or passages) they belong to.",
    ]
    for name, rows in results.items():
        columns = list(next(iter(rows.values())))
        lines += ["", f"## {name}", "", f"| | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
        for label, figures in rows.items():
            cells = [f"{figures[c]:.0f}" if c.endswith("ms") else f"{figures[c]:.3f}" for c in columns]
            lines.append(f"| {label} | {' | '.join(cells)} |")
    lines += ["", "![recall@5 of every variant](ablation.svg)", ""]
    (folder / "ablation.md").write_text("\n".join(lines), encoding="utf-8")


def draw(results: dict[str, dict[str, dict[str, float]]], folder: Path) -> None:
    """docs/ablation.svg: recall@5 of every variant, a panel a data set."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    names = list(results)
    labels = list(next(iter(results.values())))
    figure, axes = pyplot.subplots(1, len(names), figsize=(3.2 * len(names) + 2.4, 0.24 * len(labels) + 1), sharey=True)
    panels: list[Any] = [axes] if len(names) == 1 else list(axes)
    for axis, name in zip(panels, names, strict=True):
        values = [results[name][label]["items recall@5"] for label in labels]
        colours = ["#4c72b0" if label.startswith("recipe") else "#b8c4d8" for label in labels]
        axis.barh(range(len(labels)), values, color=colours)
        axis.set_yticks(range(len(labels)), labels, fontsize=7)
        axis.invert_yaxis()
        axis.set_xlim(0, 1)
        axis.set_title(name, fontsize=9)
        axis.tick_params(axis="x", labelsize=7)
        for place, value in enumerate(values):
            axis.text(value + 0.01, place, f"{value:.2f}", va="center", fontsize=6)
    figure.supxlabel("recall@5 over items", fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "ablation.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    results = {path.stem: run(path, chosen.sample, chosen.cache) for path in chosen.data}
    write_table(results, chosen.sample, chosen.out)
    draw(results, chosen.out)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
