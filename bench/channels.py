"""What each channel is worth over many questions: `python -m bench.channels DATA.json [DATA.json ...] [--sample 1000]`.

Leaves one channel at a time out of `fast`, which has the channels of the default without its cross-encoder: ten times as many
questions can be asked in the same time as by `bench.ablation`, so that a difference of a point is more than one question.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from bench.ablation import measure, sampled, without_each_channel
from bench.page import PAGE, load_now, table, taken, write_section
from perdure.engine import Perdure
from perdure.evaluation.data import CACHE, load_banks
from perdure.evaluation.run import bank_database, retain_banks
from perdure.recall.recipe import Recipe
from perdure.recall.recipes import FAST
from perdure.settings import Settings


def variants() -> dict[str, Recipe]:
    """`fast`, and `fast` without each of its channels."""
    found = {"fast": FAST, **without_each_channel(FAST)}
    found["without links"] = replace(FAST, blend=replace(FAST.blend, links=0.0))
    return found


def run(path: Path, sample: int, cache: Path) -> list[str]:
    """The table of one data file: figures, and in brackets the distance to `fast` in points."""
    everything = load_banks(path)
    banks = sampled(everything, sample)
    figures: dict[str, dict[str, float]] = {}
    with Perdure.open(bank_database(everything, Settings(), cache), settings=Settings()) as engine:
        retain_banks(engine, everything, lambda *_: None)
        for label, recipe in variants().items():
            figures[label] = measure(engine, banks, recipe)
            print(path.stem, label, figures[label], flush=True)
    names = [name for name in figures["fast"] if name != "p50 ms"]
    rows = [
        [label, *(f"{found[n]:.3f} ({100 * (found[n] - figures['fast'][n]):+.1f})" for n in names)]
        for label, found in figures.items()
    ]
    asked = sum(len(bank.queries) for bank in banks)
    return ["", f"{path.stem}, {asked} questions:", "", *table(("", *names), rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    chosen.cache.mkdir(parents=True, exist_ok=True)
    names = " ".join(path.name for path in chosen.data)
    head = taken(f"python -m bench.channels {names} --sample {chosen.sample}", load_now())
    lines = ["### What each channel is worth", "", head]
    for path in chosen.data:
        lines += run(path, chosen.sample, chosen.cache)
    write_section("channels", lines, chosen.page)


if __name__ == "__main__":
    main()
