"""Figures of both halves, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.page import table


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    count: int
    total: int

    @staticmethod
    def of(outcomes: Iterable[bool]) -> Share:
        """The share of outcomes that are true."""
        listed = list(outcomes)
        return Share(sum(listed), len(listed))

    def __str__(self) -> str:
        return f"{100 * self.count / self.total:.1f}% ({self.count}/{self.total})" if self.total else "-"

    def as_json(self) -> dict[str, float | int | None]:
        share = round(self.count / self.total, 4) if self.total else None
        return {"share": share, "count": self.count, "of": self.total}


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """The median of some times."""

    times: tuple[float, ...]

    def __str__(self) -> str:
        return f"{median(self.times):.0f}" if self.times else "-"

    def as_json(self) -> dict[str, float | int | None]:
        return {"p50": round(median(self.times), 1) if self.times else None, "of": len(self.times)}


Figure = Share | Milliseconds
Sections = Mapping[str, Mapping[str, Figure]]
"""Title of a table -> name of a row -> figure."""


@dataclass(frozen=True, slots=True)
class PartReport:
    """What one part of the benchmark found in one half."""

    sections: Sections
    misses: Sequence[str] = field(default=())
    """One line per wrong result."""


def side_by_side(halves: Mapping[str, PartReport]) -> list[str]:
    """A Markdown table per section, with a column per half."""
    titles = dict.fromkeys(title for report in halves.values() for title in report.sections)
    lines: list[str] = []
    for title in titles:
        columns = [report.sections.get(title, {}) for report in halves.values()]
        names = dict.fromkeys(name for column in columns for name in column)
        rows = [[name, *(str(column.get(name, "-")) for column in columns)] for name in names]
        lines += ["", *table([title, *halves], rows)]
    return lines


def as_json(report: PartReport) -> dict[str, dict[str, dict[str, float | int | None]]]:
    return {
        title: {name: figure.as_json() for name, figure in rows.items()}
        for title, rows in report.sections.items()
    }
