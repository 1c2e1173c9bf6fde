"""A recall's time as one stacked bar with its legend."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from perdure.domain.recall import StageTime

_COLOURS = {
    "understand": "cyan",
    "search": "blue",
    "fuse": "white",
    "outline": "bright_white",
    "rerank": "magenta",
    "score": "green",
    "hydrate": "yellow",
    "diversify": "bright_blue",
    "fit": "bright_green",
}
LEAST_SHARE = 0.01
"""Stages below this share of the whole are told together."""


def milliseconds(value: float) -> str:
    """`0.4 ms`, `12 ms`, `1.3 s`."""
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def total(timings: Sequence[StageTime]) -> float:
    """Milliseconds from beginning to end."""
    return next((time.milliseconds for time in timings if time.stage == "total"), 0.0)


def channel_times(timings: Sequence[StageTime]) -> dict[str, float]:
    """Milliseconds of each channel."""
    return {
        time.stage.removeprefix("search."): time.milliseconds
        for time in timings
        if time.stage.startswith("search.")
    }


def stage_bar(timings: Sequence[StageTime], width: int) -> Text:
    """Each stage a stretch of the bar, then its name and time."""
    stages = [time for time in timings if time.stage in _COLOURS]
    whole = sum(time.milliseconds for time in stages) or 1.0
    long = [time for time in stages if time.milliseconds >= LEAST_SHARE * whole]
    bar, legend = Text(), Text()
    for time in long:
        cells = round(width * time.milliseconds / whole)
        bar.append("━" * max(cells, 1), style=_COLOURS[time.stage])
        legend.append("  ■ ", style=_COLOURS[time.stage])
        legend.append(f"{time.stage} {milliseconds(time.milliseconds)}", style="dim")
    rest = whole - sum(time.milliseconds for time in long)
    if len(long) < len(stages):
        legend.append(f"  rest {milliseconds(rest)}", style="dim")
    bar.truncate(width)
    return bar + legend
