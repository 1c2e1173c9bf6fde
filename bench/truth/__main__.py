"""Does the memory notice that a value changed, and does it tell what is so now from what was?

    python -m bench.truth [--only pairs|dates|conversations] [--half seen|unseen|fresh] [--misses N] [--json]

Both halves are shown side by side. Misses are listed for the seen half only: nobody who writes rules may look at the
other one. README.md beside this file describes the data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from bench.truth.conversations import run_conversations
from bench.truth.dates import run_dates
from bench.truth.pairs import run_pairs
from bench.truth.report import PartReport, as_json, side_by_side

FOLDER = Path(__file__).parent
HALVES = ("seen", "unseen")
FRESH = "fresh"
"""Later batches of pairs and conversations, each run once before anybody looked at its misses; asked for by name only."""
PARTS: dict[str, Callable[[Path], PartReport]] = {
    "pairs": run_pairs,
    "dates": run_dates,
    "conversations": run_conversations,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--half", choices=(*HALVES, FRESH), help="this half alone, or the later batches")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="list N misses of the seen half")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    chosen = parser.parse_args()
    parts = [chosen.only] if chosen.only else list(PARTS)
    halves = [chosen.half] if chosen.half else list(HALVES)
    figures = {}
    for part in parts:
        paths = {half: FOLDER / half / f"{part}.json" for half in halves}
        reports = {half: PARTS[part](path) for half, path in paths.items() if path.exists()}
        if chosen.json:
            figures[part] = {half: as_json(report) for half, report in reports.items()}
            continue
        tables = side_by_side(reports) or [f"\n{part}: no data"]
        print("\n".join(tables), flush=True)
        for half in (name for name in ("seen", FRESH) if chosen.misses and name in reports):
            misses = reports[half].misses
            print(f"\nMisses, {half}: {min(chosen.misses, len(misses))} of {len(misses)}:")
            print("\n".join(f"- {miss}" for miss in misses[: chosen.misses]), flush=True)
    if chosen.json:
        print(json.dumps(figures, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
