"""Hits in columns are the hits of a list, and fuse alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.recall import Hit
from perdure.ports.hits import FactIds, Hits, sharing_ids
from perdure.recall.fuse import fuse, fuse_stages

NAMES = [f"{number * 37 % 64:02d}" for number in range(64)]
places = st.lists(st.integers(0, len(NAMES) - 1), unique=True, max_size=40)
channels = st.dictionaries(st.sampled_from(["semantic", "keyword", "graph", "notes"]), places, max_size=4)


def columns(found: list[int]) -> Hits:
    return Hits(NAMES, np.array(found, np.int64), 1.0 / (1.0 + np.arange(len(found))))


def plain(found: list[int]) -> list[Hit]:
    return [Hit(NAMES[place], 1.0 / (1.0 + rank)) for rank, place in enumerate(found)]


@given(places, st.integers(0, 40), st.integers(0, 40))
def test_columns_read_as_the_list(found: list[int], start: int, end: int) -> None:
    held, listed = columns(found), plain(found)
    assert held == listed
    assert list(held) == listed
    assert len(held) == len(listed)
    assert held[start:end] == listed[start:end]
    assert held[::-1] == listed[::-1]
    assert [held[place] for place in range(-len(found), len(found))] == listed + listed


@given(places, st.integers(0, 40), st.integers(0, 40))
def test_ids_read_as_the_list(found: list[int], start: int, end: int) -> None:
    held, listed = FactIds(NAMES, np.array(found, np.int64)), [NAMES[place] for place in found]
    assert held == listed
    assert list(held) == listed
    assert len(held) == len(listed)
    assert held[start:end] == listed[start:end]
    assert [held[place] for place in range(-len(found), len(found))] == listed + listed
    assert all(name in held for name in listed)
    assert "no" not in held


@given(channels, st.one_of(st.none(), st.integers(0, 70)), st.sets(st.sampled_from(["keyword", "notes"])))
def test_columns_fuse_as_lists_do(found: dict[str, list[int]], limit: int | None, listed: set[str]) -> None:
    expected = {name: plain(places) for name, places in found.items()}
    held = {name: plain(places) if name in listed else columns(places) for name, places in found.items()}
    assert fuse(held, limit=limit) == fuse(expected, limit=limit)
    assert fuse_stages(held, limit=limit) == fuse_stages(expected, limit=limit)
    for fused in (fuse(held, limit=limit), fuse_stages(held, limit=limit)):
        assert list(fused.ids) == [candidate.fact_id for candidate in fused]


@given(channels)
def test_fusion_is_the_sum_of_reciprocal_ranks(found: dict[str, list[int]]) -> None:
    shares: dict[str, float] = {}
    for places in found.values():
        for rank, place in enumerate(places, start=1):
            shares[NAMES[place]] = shares.get(NAMES[place], 0.0) + 1.0 / (60 + rank)
    fused = fuse({name: columns(places) for name, places in found.items()})
    assert {candidate.fact_id for candidate in fused} == shares.keys()
    for candidate in fused:
        assert abs(candidate.fused - shares[candidate.fact_id]) < 1e-15
        assert [one.channel for one in candidate.ranks] == sorted(
            name for name, places in found.items() if NAMES.index(candidate.fact_id) in places
        )
    assert fused == sorted(fused, key=lambda candidate: (-candidate.fused, candidate.fact_id))


def test_lists_come_to_share_their_ids() -> None:
    other = Hits([*NAMES], np.array([1, 2]), np.array([1.0, 0.5]))
    for lists in ([plain([3, 1]), columns([1, 2])], [columns([3, 1]), other]):
        first, second = sharing_ids(lists)
        assert first.all_ids is second.all_ids
        assert (first, second) == (plain([3, 1]), plain([1, 2]))
        assert first.places.tolist() == [0, 1]
        assert second.places.tolist() == [1, 2]
