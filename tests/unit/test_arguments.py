"""Arguments as every surface reads them: what they mean, and that errors name them as the surface spells them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from perdure import Perdure
from perdure.domain.time import Window
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.arguments import (
    find_bank,
    find_document,
    find_entity,
    read_closed_window,
    read_moment,
    read_utc,
    read_window,
)

MAY_2, MAY_3 = datetime(2024, 5, 2, tzinfo=UTC), datetime(2024, 5, 3, tzinfo=UTC)


def test_a_moment_without_a_zone_is_utc() -> None:
    assert read_moment("2024-05-02", "--as-of") == read_utc("2024-05-02T02:00:00+02:00", "as_of") == MAY_2
    assert read_moment(None, "--as-of") is read_utc(None, "as_of") is None
    assert read_utc(MAY_2.astimezone(timezone(timedelta(hours=3))), "as_of").tzinfo is UTC  # type: ignore[union-attr]


@pytest.mark.parametrize("read", [read_moment, read_utc])
def test_a_moment_that_is_none_is_refused_by_its_name(read: object) -> None:
    with pytest.raises(InvalidInput, match="--asked-at: expected an ISO 8601"):
        read("soon", "--asked-at")  # type: ignore[operator]


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_years_at_the_ends_of_the_calendar_are_refused_where_arithmetic_follows(year: str) -> None:
    assert read_moment(f"{year}-01-01", "x") is not None
    with pytest.raises(InvalidInput, match="as_of: expected a year from 2 to 9998"):
        read_utc(f"{year}-01-01", "as_of")


def test_a_window_may_be_open_and_ends_before_its_last_moment_unless_whole_days_are_meant() -> None:
    assert read_window(None, None) is None
    assert read_window("2024-05-02", None) == Window(MAY_2, None)
    assert read_window(None, "2024-05-02") == Window(None, MAY_2)
    assert read_window(None, "2024-05-02", whole_days=True) == Window(None, MAY_3)
    assert read_window(None, "2024-05-02T00:00", whole_days=True) == Window(None, MAY_2)
    assert read_window("2024-05-02", "9999-12-31", whole_days=True) == Window(MAY_2, None)


def test_a_closed_window_holds_its_end() -> None:
    window = read_closed_window(MAY_2, MAY_3, "during")
    assert window.overlaps(MAY_3, MAY_3)
    assert not window.overlaps(MAY_3 + timedelta(seconds=1), None)


def test_a_window_that_ends_before_it_starts_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInput, match=r"--since: expected a date not after --until \(2024-01-01\)"):
        read_window("2025-01-01", "2024-01-01", ("--since", "--until"))
    with pytest.raises(InvalidInput, match="during: expected a start that is not after the end"):
        read_closed_window(MAY_3, MAY_2, "during")


def test_banks_documents_and_entities_are_found_or_named(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as engine:
        engine.retain("b", "Maya Silva plays the cello.", document_id="d")
        assert find_bank(engine, "b") is not None
        assert find_bank(engine, "c") is None
        assert find_document(engine, "b", "d").id == "d"
        maya = find_entity(engine, "b", "maya silva")
        assert find_entity(engine, "b", maya.id) == maya
        with pytest.raises(NotFound, match="document 'e'"):
            find_document(engine, "b", "e")
        with pytest.raises(NotFound, match="entity 'Nobody'"):
            find_entity(engine, "b", "Nobody")
