"""Closings by the present rules on the same pairs that the reader is measured on.

python -m lab.rules --split test        (in an environment with Perdure installed)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.evaluate import CHANGES, wilson
from lab.examples import Pair, labelled_pairs_of, other_pairs_of
from lab.scenes import Scene, read_scenes
from perdure import Filter, Item, Perdure

_TURN = "turn"


class SetClock:
    """Tells the time that was last set."""

    def __init__(self) -> None:
        self.now = datetime(2020, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return that time."""
        return self.now


def closes(memory: Perdure, clock: SetClock, bank: str, pair: Pair) -> bool:
    """Retain both statements, each with the turn before it, and tell whether a fact of the earlier one is closed."""
    rows = sorted({row for at in (pair.earlier, pair.later) for row in (at - 1, at) if row >= 0})
    for place, row in enumerate(rows):
        said = pair.scene.statements[row]
        day = datetime.fromisoformat(said.date).replace(tzinfo=UTC)
        clock.now = max(clock.now, day + timedelta(minutes=place))
        item = Item(content=said.text, speaker=said.speaker, timestamp=clock.now, metadata={_TURN: str(row)})
        memory.retain(bank, [item], document_id=f"{bank}-{row}")
    clock.now += timedelta(days=1)
    current = {fact.id for fact in memory.facts.iterate(bank)}
    facts = memory.facts.iterate(bank, where=Filter(include_closed=True))
    earlier = [fact for fact in facts if fact.metadata.get(_TURN) == str(pair.earlier)]
    return any(fact.id not in current for fact in earlier)


def outcomes(scenes: Sequence[Scene], every: int) -> list[tuple[Pair, bool]]:
    """Return whether the rules close the earlier statement of each pair, of one pair in `every`."""
    pairs = [*labelled_pairs_of(scenes), *other_pairs_of(scenes, 2, 1)][::every]
    clock = SetClock()
    with TemporaryDirectory() as folder, Perdure.open(Path(folder) / "rules.db", clock=clock) as memory:
        results = []
        for number, pair in enumerate(pairs):
            clock.now = datetime(2020, 1, 1, tzinfo=UTC)
            results.append((pair, closes(memory, clock, f"pair-{number}", pair)))
        return results


def main() -> None:
    """Print shares of changes and of others that the rules close."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--work", type=Path, default=Path(".lab"))
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--every", type=int, default=1, help="take one pair in this many")
    options = arguments.parse_args()
    scenes = [scene for scene in read_scenes(options.work / "scenes.jsonl") if scene.split == options.split]
    results = outcomes([scene for scene in scenes if scene.effects], options.every)
    for language in ("all", *sorted({pair.scene.language for pair, _ in results})):
        chosen = [(pair, closed) for pair, closed in results if language in ("all", pair.scene.language)]
        figures = {}
        for name, is_change in (("changes closed", True), ("wrongly closed", False)):
            closed = [each for pair, each in chosen if (pair.effect in CHANGES) is is_change]
            low, high = wilson(sum(closed), len(closed))
            figures[name] = f"{sum(closed)} of {len(closed)} ({low:.3f} to {high:.3f})"
        print(language, json.dumps(figures))


if __name__ == "__main__":
    main()
