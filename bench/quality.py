"""Recall quality on labelled data files, local facts beside verbatim turns.

    python -m bench.quality DATA.json [DATA.json ...] [--verbatim] [--recipes default fast] [--page docs/benchmarks.md]

Every row is what `perdure eval` prints for the same file; each file's section of the page is written anew.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from bench.page import PAGE, load_now, table, taken, write_section
from perdure.evaluation.data import CACHE, load_banks
from perdure.evaluation.run import evaluate
from perdure.settings import Settings

ITEMS = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10")
NAMES = {"local": "local facts", "verbatim": "verbatim turns"}
SESSIONS = ("any@5", "all@5", "any@10", "all@10")


def figures(path: Path, extractor: str, recipe: str, cache: Path) -> dict[str, Any]:
    """What `perdure eval` finds."""
    settings = Settings.model_validate({"extractor": extractor, "recipe": recipe})
    cache.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    report = evaluate(load_banks(path), settings, cache, {"budget": "mid", "max_tokens": 8192}).figures()
    print(f"{path.stem} {extractor} {recipe}: {time.perf_counter() - started:.0f} s", flush=True)
    return report


def section(command: str, path: Path, rows: dict[str, dict[str, Any]], load: float) -> list[str]:
    """One data set: a row a configuration, then the first one's kinds of question."""
    head = ["", *ITEMS, *(f"sessions {name}" for name in SESSIONS), "p50 ms", "p95 ms"]
    cells = [
        _row(label, found["items"]["all"], found["sessions"]["all"], found["latency_ms"])
        for label, found in rows.items()
    ]
    first = next(iter(rows.values()))
    cells += [
        _row(f"· {kind} ({items['queries']:.0f})", items, first["sessions"][kind], None)
        for kind, items in first["items"].items()
        if kind != "all" and items["queries"]
    ]
    return [f"### {path.stem}", "", taken(command, load), "", *table(head, cells)]


def _row(
    label: str, items: dict[str, float], sessions: dict[str, float], times: dict[str, float] | None
) -> list[str]:
    cells = [f"{items[name]:.3f}" for name in ITEMS] + [f"{sessions[name]:.3f}" for name in SESSIONS]
    return [label, *cells, *([f"{times['p50']:.0f}", f"{times['p95']:.0f}"] if times else ["", ""])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--verbatim", action="store_true", help="also over verbatim turns")
    parser.add_argument("--recipes", nargs="*", default=["default", "fast"])
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    extractors = ["local", "verbatim"] if chosen.verbatim else ["local"]
    for path in chosen.data:
        load = load_now()
        rows = {
            f"{recipe}, {NAMES[extractor]}": figures(path, extractor, recipe, chosen.cache)
            for extractor in extractors
            for recipe in chosen.recipes
        }
        command = f"python -m bench.quality {path.name}{' --verbatim' if chosen.verbatim else ''}"
        write_section(path.stem, section(command, path, rows, load), chosen.page)


if __name__ == "__main__":
    main()
