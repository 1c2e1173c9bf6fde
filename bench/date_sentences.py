"""Direction and non-dates: what is read from labelled sentences, the seen half beside the unseen one.

The second part of `python -m bench.dates`.

The labels are explained in bench/truth/README.md. A sentence is right when `read_timing` gives its first date: the same
days, the same minute where a time of day is said, and whether it was still ahead. A sentence without a date is right
when no window is given, or one that is marked as unsure; an unsure one when the nearest reading is given.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from perdure.extract.local.times import Timing, read_timing

TRUTH = Path(__file__).parent / "truth"
HALVES = ("seen", "unseen")


def sentences(half: str) -> list[dict[str, Any]]:
    """The labelled sentences of a half."""
    items: list[dict[str, Any]] = json.loads((TRUTH / half / "dates.json").read_text(encoding="utf-8"))
    return items


def timing_of(item: dict[str, Any]) -> Timing:
    """What is read from a sentence."""
    return read_timing(item["text"], datetime.fromisoformat(item["said_at"]))


def is_right(item: dict[str, Any], timing: Timing) -> bool:
    """Whether a reading agrees with a sentence's first label."""
    if not item["dates"]:
        return timing.window is None or not timing.sure
    if timing.window is None:
        return False
    label = item["dates"][0]
    if timing.planned != label["planned"]:
        return False
    start, end = timing.window.start, timing.window.end
    if label["start"] is not None and "T" in label["start"]:
        return start is not None and f"{start:%Y-%m-%dT%H:%M}" == label["start"]
    return _first_day(start) == label["start"] and _day_after(end) == label["end"]


def _first_day(start: datetime | None) -> str | None:
    return None if start is None else start.date().isoformat()


def _day_after(end: datetime | None) -> str | None:
    """The first day that a window does not touch."""
    if end is None:
        return None
    last: date = (end - timedelta(microseconds=1)).astimezone(end.tzinfo or UTC).date()
    return (last + timedelta(days=1)).isoformat()


def shares(items: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Right ones and all, by kind and language, and over all."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for item in items:
        correct = is_right(item, timing_of(item))
        for name in ("all", item["kind"], f"language {item['language']}"):
            total[name] += 1
            right[name] += correct
    return {
        name: (right[name], total[name]) for name in sorted(total, key=lambda name: (name == "all", name))
    }


def report() -> str:
    """Both halves side by side."""
    halves = {half: shares(sentences(half)) for half in HALVES}
    names = list(dict.fromkeys(name for rows in halves.values() for name in rows))
    lines = [f"{'kind':<14}" + "".join(f"{half:>18}" for half in HALVES)]
    for name in names:
        cells = [_cell(*rows.get(name, (0, 0))) for rows in halves.values()]
        lines.append(f"{name:<14}" + "".join(f"{cell:>18}" for cell in cells))
    return "\n".join(lines)


def _cell(right: int, total: int) -> str:
    return f"{right}/{total} {right / total:.3f}" if total else "-"


def misses() -> str:
    """The sentences of the seen half that are read wrong."""
    lines = []
    for item in sentences("seen"):
        timing = timing_of(item)
        if not is_right(item, timing):
            lines += [
                f"{item['id']} [{item['kind']}] {item['said_at'][:16]} {item['text']}",
                f"    label {item['dates']}",
            ]
            lines.append(f"    read  {timing.window} planned={timing.planned} sure={timing.sure}")
    return "\n".join(lines)
