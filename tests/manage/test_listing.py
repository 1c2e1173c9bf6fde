"""Facts by date and entities by name, through the engine and its asynchronous twin."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.aio import AsyncPerdure
from perdure.domain.time import Window, parse_instant
from perdure.engine import Perdure

QUICK = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
FEBRUARY = Window(parse_instant("2024-02-01", "start"), parse_instant("2024-03-01", "end"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "memory.db", **QUICK) as engine:
        for month, name in ((3, "Maya Chen"), (1, "José"), (2, "Straße GmbH")):
            engine.retain(
                "b",
                f"Picture {month} was sold in the shop.",
                timestamp=f"2024-{month:02}-10",
                entities=[name],
            )
        yield engine


def test_facts_are_listed_by_date(memory: Perdure) -> None:
    page = memory.facts.list("b", order="latest_dated")
    assert [fact.text[:9] for fact in page.facts] == ["Picture 3", "Picture 2", "Picture 1"]
    in_february = memory.facts.list("b", dated=FEBRUARY, order="latest_dated")
    assert [fact.text[:9] for fact in in_february.facts] == ["Picture 2"]
    assert in_february.total == 1


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("maya CHEN", ["Maya Chen"]),
        ("JOSÉ", ["José"]),
        ("STRASSE gmbh", ["Straße GmbH"]),
        ("Maya", []),
        ("Jose", []),
        ("the José", []),
        ("", []),
        ("?!", []),
    ],
)
def test_entities_are_found_by_their_name_in_any_case(memory: Perdure, name: str, found: list[str]) -> None:
    assert [entity.name for entity in memory.entities.list("b", name=name)] == found


def test_the_asynchronous_twin_takes_the_same_arguments(memory: Perdure) -> None:
    async def ask() -> tuple[int, int]:
        twin = AsyncPerdure(memory)
        page = await twin.facts.list("b", dated=FEBRUARY)
        return page.total, len(await twin.entities.list("b", name="josé"))

    assert asyncio.run(ask()) == (1, 1)
