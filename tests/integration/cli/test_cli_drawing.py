"""What people see: stretches of time as they would write them, and tables that fit the terminal."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from perdure import Perdure
from perdure.surfaces.cli.draw import span
from perdure.surfaces.cli.draw_recall import draw_explained

FACT = "Maya, who plays the cello in the evenings, moved from Porto to a small flat in Lisbon in March 2024."


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        ("2024-01-01", "2025-01-01", "2024"),
        ("2024-02-01", "2024-03-01", "2024-02"),
        ("2024-12-01", "2025-01-01", "2024-12"),
        ("2024-03-01", "2024-06-01", "2024-03-01 to 2024-05-31"),
        ("2024-04-14", "2024-04-21", "2024-04-14 to 2024-04-20"),
        ("2024-04-14", "2024-04-15", "2024-04-14"),
        ("2024-04-14T09:30", "2024-04-14T11:00", "2024-04-14"),
    ],
)
def test_a_span_is_shown_by_its_last_day_and_not_by_the_day_after(start: str, end: str, shown: str) -> None:
    assert span(moment(start), moment(end)) == shown


@pytest.mark.parametrize("width", [80, 100, 120])
def test_an_explained_recall_fits_the_terminal(tmp_path: Path, width: int) -> None:
    with Perdure.open(tmp_path / "memory.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("b", FACT, timestamp="2024-05-02")
        result = engine.recall("b", "Where does Maya live?", explain=True)
    drawn = io.StringIO()
    draw_explained(Console(file=drawn, width=width), result, {})
    lines = drawn.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert all(name in drawn.getvalue() for name in ("sem", "key", "graph", "fused", "score"))
    assert sum("cello" in line or "Lisbon" in line for line in lines) >= 1
    assert len(lines) < 20
