"""Closings by the reader on the pairs of `bench/truth`, which it never saw.

python -m lab.changes --reader .lab/export/full bench/truth/fresh/pairs.json

The rules on the same pairs: `python -m bench.truth --only pairs --half fresh`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lab.evaluate import threshold_for, wilson
from perdure.models.reader import OnnxReader
from perdure.ports.reader import PlacedStatement


class Closing(NamedTuple):
    """How sure the reader is that a pair closes its old value."""

    language: str
    is_change: bool
    kind: str
    probability: float


def read_pairs(reader: OnnxReader, path: Path) -> Iterator[Closing]:
    """Yield a closing per pair of turns."""
    pairs: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    placed = [(_placed(pair["turns"], pair["old"]), _placed(pair["turns"], pair["new"])) for pair in pairs]
    for pair, reading in zip(pairs, reader.effects(placed), strict=True):
        yield Closing(pair["language"], pair["expect"] != "kept", pair.get("kind", ""), reading.closes)


def _placed(turns: Sequence[Mapping[str, Any]], row: int) -> PlacedStatement:
    turn = turns[row]
    before = f"{turns[row - 1]['speaker']}: {turns[row - 1]['text']}" if row else ""
    others = [other["speaker"] for other in turns if other["speaker"] != turn["speaker"]]
    listener = others[0] if others else ""
    return PlacedStatement(
        turn["text"], turn["speaker"], listener, date.fromisoformat(turn["date"][:10]), before
    )


def print_closings(name: str, closings: Sequence[Closing], fixed: Sequence[float]) -> None:
    """Print the shares closed at rates of wrong closings, and at fixed thresholds."""
    changes = np.array([each.probability for each in closings if each.is_change])
    others = np.array([each.probability for each in closings if not each.is_change])
    if not len(changes) or not len(others):
        return
    cells = []
    for rate in (0.01, 0.02, 0.05):
        threshold = threshold_for(others, rate)
        closed = int((changes >= threshold).sum())
        low, high = wilson(closed, len(changes))
        cells.append(
            f"{closed / len(changes):.3f} ({low:.2f} to {high:.2f}) at {rate:.0%} wrong, from {threshold:.3f}"
        )
    for threshold in fixed:
        cells.append(
            f"{(changes >= threshold).mean():.3f} / {(others >= threshold).mean():.3f} wrong at {threshold}"
        )
    print(f"{name}: {len(changes)} changes, {len(others)} others: " + "; ".join(cells))


def main() -> None:
    """Print closings of each file, in all and by language."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", type=Path, nargs="+")
    arguments.add_argument("--reader", type=Path)
    arguments.add_argument("--thresholds", type=float, nargs="*", default=[0.5, 0.7, 0.9])
    options = arguments.parse_args()
    reader = OnnxReader(options.reader)
    for path in options.files:
        closings = list(read_pairs(reader, path))
        print_closings(str(path), closings, options.thresholds)
        for language in sorted({each.language for each in closings}):
            print_closings(
                f"  {language}", [each for each in closings if each.language == language], options.thresholds
            )


if __name__ == "__main__":
    main()
