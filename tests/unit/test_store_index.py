"""Parts of the search index against the plain way to compute the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from perdure.stores.index import rank, runs, vectors
from perdure.stores.sqlite import codec


def coded(matrix: np.ndarray[Any, Any]) -> vectors.VectorView:
    scales, values = codec.encode_vectors(matrix.astype(np.float32))
    builder = vectors.CodedBuilder(matrix.shape[1], len(matrix))
    builder.append(np.arange(len(matrix)), scales, values)
    return builder.view()


def crowded(count: int, dimensions: int) -> np.ndarray[Any, Any]:
    """Unit vectors in clusters of different width around a far mean, as sentence encoders make them."""
    random = np.random.default_rng(dimensions)
    centres = random.normal(size=(100, dimensions))
    width = random.uniform(0.4, 1.6, (count, 1))
    drawn = width * (centres[random.integers(0, 100, count)] + random.normal(size=(count, dimensions)))
    drawn += 3.0 * random.normal(size=dimensions)
    unit: np.ndarray[Any, Any] = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return unit


@pytest.mark.parametrize("dimensions", [64, 100, 384, 450])
def test_likeness_is_the_stated_estimate(dimensions: int) -> None:
    matrix = crowded(vectors._SCANNED + 500, dimensions)
    view = coded(matrix)
    assert view.codes is not None
    assert view.scales is not None
    assert view.mean is not None
    query = matrix[7]
    around = view.codes * view.scales[:, None] - view.mean
    away = query - view.mean
    differ = ((around > 0) != (away > 0)).sum(axis=1)
    length = np.linalg.norm(around, axis=1)
    expected = np.linalg.norm(away) * length * np.cos(np.pi * differ / dimensions) - length**2 / 2
    np.testing.assert_allclose(view.likeness(query) * np.linalg.norm(away), expected, atol=1e-5)


def test_likeness_finds_the_nearest_where_bits_alone_do_not() -> None:
    matrix = crowded(30_000, 384)
    view, mask = coded(matrix), np.ones(len(matrix), np.bool_)
    assert view.mean is not None
    signs = matrix > view.mean
    found, by_bits = [], []
    for query in matrix[:20]:
        nearest = set(np.argsort(-(matrix @ query))[:300].tolist())
        rows, _ = view.search(query, mask, 300)
        assert vectors.RESCORED <= len(rows) < vectors.RESCORED + 100
        found.append(len(nearest & set(rows.tolist())) / 300)
        nearby = np.argsort((signs != (query > view.mean)).sum(axis=1), kind="stable")[: len(rows)]
        by_bits.append(len(nearest & set(nearby.tolist())) / 300)
    assert np.mean(found) > 0.95
    assert np.mean(found) > np.mean(by_bits) + 0.05


@pytest.mark.parametrize("wanted", [1, 40, 700, 5_000, 9_999])
def test_the_likeliest_are_the_highest_with_those_that_tie(wanted: int) -> None:
    random = np.random.default_rng(wanted)
    even = random.normal(size=10_000).round(2).astype(np.float32)
    uneven = np.sort(even)[::-1].copy()
    uneven[::16] = -10.0
    for likeness in (even, uneven, -np.sort(-even), np.full(10_000, -np.inf, np.float32)):
        border = np.sort(likeness)[-wanted]
        found = vectors.likeliest(likeness, wanted)
        assert found.tolist() == np.flatnonzero(likeness >= border).tolist()


def test_few_are_found_among_few() -> None:
    matrix = crowded(30_000, 384)
    view, mask = coded(matrix), np.ones(len(matrix), np.bool_)
    found = []
    for query in matrix[:20]:
        nearest = set(np.argsort(-(matrix @ query))[:5].tolist())
        rows, _ = view.search(query, mask, 5)
        assert len(rows) < vectors.RESCORED / 2
        found.append(len(nearest & set(rows.tolist())) / 5)
    assert np.mean(found) > 0.99


def test_masked_search_rescores_only_admitted_rows() -> None:
    matrix = crowded(20_000, 64)
    mask = np.arange(len(matrix)) % 2 == 0
    rows, scores = coded(matrix).search(matrix[10], mask, 300)
    assert mask[rows].all()
    assert len(rows) >= vectors.RESCORED
    assert rows[int(np.argmax(scores))] == 10


@pytest.mark.parametrize("size", [100, runs._TABLED + 1000])
def test_postings_of_several_heads(size: int) -> None:
    random = np.random.default_rng(size)
    head, tail = random.integers(0, 300, size), random.permutation(size)
    weight = random.random(size).astype(np.float32)
    held = runs.Runs()
    for part in np.array_split(np.arange(size), [size * 9 // 10, size * 99 // 100]):
        held = held.add(head[part], tail[part], weight[part])
    wanted = np.array([5, 299, 0, 1000, 17])
    expected = sorted(
        (place, int(tail[one]), float(weight[one]))
        for place, number in enumerate(wanted.tolist())
        for one in np.flatnonzero(head == number).tolist()
    )
    found = held.of_all(wanted)
    assert (
        sorted(zip(found.head.tolist(), found.tail.tolist(), found.weight.tolist(), strict=True)) == expected
    )
    pairs = [(place, row) for place, row, _ in expected]
    heads, tails = held.tails(wanted)
    assert sorted(zip(heads.tolist(), tails.tolist(), strict=True)) == pairs
    place, count, tails = held.slices(wanted)
    assert sorted(zip(np.repeat(place, count).tolist(), tails.tolist(), strict=True)) == pairs
    assert held.counts(wanted).tolist() == [int((head == number).sum()) for number in wanted.tolist()]


@pytest.mark.parametrize("limit", [1, 7, 60])
def test_rounding_ranks_as_if_all_were_rounded(limit: int) -> None:
    random = np.random.default_rng(limit)
    ids = [f"{number * 7919 % 5000:016d}-x{number % 3}" for number in range(500)]
    index: Any = SimpleNamespace(ids=ids, id_keys=rank.id_keys(ids))
    scores = random.choice([0.25, 0.5, 0.75], 500) + random.integers(-3, 4, 500) * 3e-10
    rows, ranked = rank.ranked(index, np.arange(500), scores, limit, digits=9)
    rounded = np.round(scores, 9)
    expected = sorted(range(500), key=lambda row: (-rounded[row], ids[row]))[:limit]
    assert rows.tolist() == expected
    assert ranked.tolist() == rounded[expected].tolist()
    hits = rank.as_hits(index, rows, ranked)
    assert [(hit.fact_id, hit.score) for hit in hits] == [(ids[row], rounded[row]) for row in expected]
