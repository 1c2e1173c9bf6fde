"""Ablation: each channel alone, all fused, the default with parts left out, and every recipe.

    python -m bench.ablation DATA.json [DATA.json ...] [--sample 250] [--recipe-sample 60 ...] [--out docs]

Writes docs/ablation.md and docs/ablation.svg; --recipe-sample may be given a number for each file. The recipes are asked fewer questions because
`tempr` reads 300 pairs each.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.page import load_now, taken
from perdure.engine import Perdure
from perdure.evaluation.data import CACHE, LabelledBank, load_banks
from perdure.evaluation.measures import Ranking, latency, summarise
from perdure.evaluation.run import ask, bank_database, retain_banks
from perdure.recall.recipe import Blend, ChannelSpec, Recipe
from perdure.recall.recipes import DEFAULT, RECIPES
from perdure.settings import Settings

CHANNELS = ("semantic", "neighbourhood", "keyword", "graph", "temporal", "pagerank", "fuzzy", "signature")
Results = dict[str, dict[str, dict[str, float]]]
"""Part of the table -> label -> measure -> figure."""
MEASURES = {"items": ("recall@5", "recall@10", "ndcg@10"), "sessions": ("any@5", "all@5")}


def variants() -> dict[str, Recipe]:
    """Label -> recipe, in the order of the table."""
    table: dict[str, Recipe] = {}
    for name in CHANNELS:
        alone = (ChannelSpec(name=name),)
        table[f"{name} alone"] = Recipe(name=name, channels=alone, cross_pool=0)
    table["five channels, RRF"] = replace(DEFAULT, read=0, blend=Blend())
    table["default without the reader"] = replace(DEFAULT, read=0)
    table |= {f"default {label}": recipe for label, recipe in without_each_channel(DEFAULT).items()}
    table["default without titles"] = replace(DEFAULT, blend=replace(DEFAULT.blend, titles=0.0))
    table["default without links"] = replace(DEFAULT, blend=replace(DEFAULT.blend, links=0.0))
    table["default without covering"] = replace(DEFAULT, blend=replace(DEFAULT.blend, cover=0.0))
    return table


def without_each_channel(recipe: Recipe) -> dict[str, Recipe]:
    """The recipe as often as it has channels, each time without one of them."""
    return {
        f"without {spec.name}": replace(recipe, channels=tuple(s for s in recipe.channels if s != spec))
        for spec in recipe.channels
    }


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
    """The figures of one variant."""
    rankings: list[Ranking] = [
        ask(engine, bank.id, query, recipe=recipe, max_tokens=8192)[0]
        for bank in banks
        for query in bank.queries
    ]
    figures: dict[str, float] = {}
    for over, names in MEASURES.items():
        summary = summarise(rankings, over)
        figures.update({f"{over} {name}": summary.get(name, 0.0) for name in names})
    figures["p50 ms"] = latency(rankings)["p50"]
    return figures


def run(path: Path, samples: tuple[int, int], cache: Path) -> Results:
    """All variants and all recipes on one data file."""
    everything = load_banks(path)
    cache.mkdir(parents=True, exist_ok=True)
    with Perdure.open(bank_database(everything, Settings(), cache)) as engine:
        retain_banks(engine, everything, lambda *_: None)
        parts = {"default": DEFAULT, **variants()}
        return {
            "variants": _figures(engine, path.stem, sampled(everything, samples[0]), parts),
            "recipes": _figures(engine, path.stem, sampled(everything, samples[1]), RECIPES),
        }


def _figures(
    engine: Perdure, name: str, banks: Sequence[LabelledBank], recipes: Mapping[str, Recipe]
) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {}
    for label, recipe in recipes.items():
        started = time.perf_counter()
        results[label] = measure(engine, banks, recipe)
        seconds = time.perf_counter() - started
        print(f"{name:18} {label:36} {_short(results[label])}  {seconds:.0f} s", flush=True)
    return results


def _short(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.3f}" for name, value in figures.items())


def _listed(counts: Sequence[int]) -> str:
    return " / ".join(str(count) for count in counts)


def write_table(
    results: Mapping[str, Results], samples: tuple[int, Sequence[int]], load: float, folder: Path
) -> None:
    """docs/ablation.md: two tables a data set."""
    lines = [
        "# Ablation",
        "",
        f"Written by `python -m bench.ablation`: about {samples[0]} questions of each set for the variants and {_listed(samples[1])} "
        "for the recipes, evenly spaced, facts by the local extractor. `items` are turns or passages, `sessions` the "
        "sessions (or passages) they belong to; the figure in brackets is the distance to the default, in points.",
        "",
        taken("python -m bench.ablation", load),
    ]
    for name, parts in results.items():
        lines += [
            "",
            f"## {name}",
            "",
            *_table(parts["variants"], timed=False),
            "",
            *_table(parts["recipes"], timed=True),
        ]
    lines += ["", "![recall@5 of every variant](ablation.svg)", ""]
    (folder / "ablation.md").write_text("\n".join(lines), encoding="utf-8")


def _table(rows: Mapping[str, dict[str, float]], *, timed: bool) -> list[str]:
    columns = [name for name in next(iter(rows.values())) if timed or name != "p50 ms"]
    lines = [f"| | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
    for label, figures in rows.items():
        cells = [
            f"{figures[c]:.0f}"
            if c == "p50 ms"
            else f"{figures[c]:.3f} ({100 * (figures[c] - rows['default'][c]):+.1f})"
            for c in columns
        ]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def draw(results: Mapping[str, Results], folder: Path) -> None:
    """docs/ablation.svg: recall@5 of every variant and recipe, a panel a data set."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    names = list(results)
    first = next(iter(results.values()))
    labels = [(part, label) for part in ("variants", "recipes") for label in first[part]]
    figure, axes = pyplot.subplots(
        1, len(names), figsize=(3.2 * len(names) + 2.4, 0.24 * len(labels) + 1), sharey=True
    )
    panels: list[Any] = [axes] if len(names) == 1 else list(axes)
    for axis, name in zip(panels, names, strict=True):
        values = [results[name][part][label]["items recall@5"] for part, label in labels]
        colours = [
            "#4c72b0" if part == "recipes" or label == "default" else "#b8c4d8" for part, label in labels
        ]
        axis.barh(range(len(labels)), values, color=colours)
        axis.set_yticks(range(len(labels)), [_title(*label) for label in labels], fontsize=7)
        axis.set_xlim(0, 1.09)
        axis.set_title(name, fontsize=9)
        axis.tick_params(axis="x", labelsize=7)
        for place, value in enumerate(values):
            axis.text(value + 0.01, place, f"{value:.2f}", va="center", fontsize=6)
    panels[0].invert_yaxis()  # all panels share it
    figure.supxlabel("recall@5 over items", fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "ablation.svg")


def _title(part: str, label: str) -> str:
    return f"recipe {label}, fewer questions" if part == "recipes" else label


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=250)
    parser.add_argument("--recipe-sample", type=int, nargs="+", default=[60])
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    samples = (chosen.sample, chosen.recipe_sample)
    results: dict[str, Results] = {}
    load = load_now()
    for place, path in enumerate(chosen.data):
        asked = chosen.recipe_sample[min(place, len(chosen.recipe_sample) - 1)]
        results[path.stem] = run(path, (chosen.sample, asked), chosen.cache)
        (chosen.cache / "ablation.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
        write_table(results, samples, load, chosen.out)
        draw(results, chosen.out)


if __name__ == "__main__":
    main()
