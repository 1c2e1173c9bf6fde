"""Parts of the search index against the plain way to compute the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from struct import pack, pack_into
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from perdure.domain.fact import Fact, FactType, LinkKind, Tier
from perdure.domain.filter import Filter
from perdure.errors import StoreCorrupt
from perdure.ports.store import Features
from perdure.stores.index import masks, postings, rank, table, vectors
from perdure.stores.index.arrays import AppendOnlyArray
from perdure.stores.index.bank_index import BankIndex
from perdure.stores.index.cache import IndexCache
from perdure.stores.index.packing import (
    LinkEnd,
    digest,
    pack_fact,
    pair_hash,
    unpack_facts,
    unpack_tags,
)

NOW = datetime(2024, 6, 1, tzinfo=UTC)


def coded(matrix: np.ndarray[Any, Any]) -> vectors.CodedView:
    builder = vectors.ViewBuilder("fact")
    builder.append(np.arange(len(matrix)), matrix)
    view = builder.state()
    assert isinstance(view, vectors.CodedView)
    return view


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
def test_likeness_is_the_stated_estimate(dimensions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT_UP_TO", 1_000)
    matrix = crowded(2_000, dimensions)
    view = coded(matrix)
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
    signs = matrix > view.mean
    found, by_bits = [], []
    for query in matrix[:20]:
        nearest = set(np.argsort(-(matrix @ query))[:300].tolist())
        rows, _ = vectors.nearest(view, query, mask, 300)
        assert vectors.RESCORED <= len(rows) < vectors.RESCORED + 100
        found.append(len(nearest & set(rows.tolist())) / 300)
        nearby = np.argsort((signs != (query > view.mean)).sum(axis=1), kind="stable")[: len(rows)]
        by_bits.append(len(nearest & set(nearby.tolist())) / 300)
    assert np.mean(found) > 0.95
    assert np.mean(found) > np.mean(by_bits) + 0.05


def test_few_are_found_among_few() -> None:
    matrix = crowded(30_000, 384)
    view, mask = coded(matrix), np.ones(len(matrix), np.bool_)
    found = []
    for query in matrix[:20]:
        nearest = set(np.argsort(-(matrix @ query))[:5].tolist())
        rows, _ = vectors.nearest(view, query, mask, 5)
        assert len(rows) < vectors.RESCORED / 2
        found.append(len(nearest & set(rows.tolist())) / 5)
    assert np.mean(found) > 0.99


def test_masked_search_rescores_only_admitted_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT_UP_TO", 1_000)
    matrix = crowded(20_000, 64)
    mask = np.arange(len(matrix)) % 2 == 0
    rows, scores = vectors.nearest(coded(matrix), matrix[10], mask, 300)
    assert mask[rows].all()
    assert len(rows) >= vectors.RESCORED
    assert rows[int(np.argmax(scores))] == 10


@pytest.mark.parametrize("count", [1, 40, 5_000, 9_999, 10_000])
def test_the_likeliest_are_the_highest_with_those_that_tie(count: int) -> None:
    likeness = np.random.default_rng(count).normal(size=10_000).round(2).astype(np.float32)
    for values in (likeness, np.full(10_000, -np.inf, np.float32)):
        border = np.sort(values)[-count]
        assert vectors.likeliest(values, count).tolist() == np.flatnonzero(values >= border).tolist()


def test_a_view_that_grows_past_the_limit_is_coded_as_one_that_was_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vectors, "EXACT_UP_TO", 1_000)
    matrix = crowded(1_500, 100)
    grown = vectors.ViewBuilder("fact")
    for some in np.array_split(np.arange(1_500), 7):
        grown.append(some, matrix[some])
    view, loaded = grown.state(), coded(matrix)
    assert isinstance(view, vectors.CodedView)
    for name in ("rows", "codes", "scales", "bits", "radius"):
        np.testing.assert_array_equal(getattr(view, name), getattr(loaded, name))


@pytest.mark.parametrize("size", [100, postings.TAIL + 1000])
def test_postings_of_several_keys(size: int) -> None:
    random = np.random.default_rng(size)
    keys, items = random.integers(0, 300, size).astype(np.uint64), random.permutation(size)
    weights = random.random(size).astype(np.float32)
    index = postings.Postings()
    for part in np.array_split(np.arange(size), [size * 9 // 10, size * 99 // 100]):
        index = index.add(keys[part], items[part], weights[part])
    asked = np.array([5, 299, 0, 1000, 17], np.uint64)
    expected = sorted(
        (position, int(items[one]), float(weights[one]))
        for position, key in enumerate(asked.tolist())
        for one in np.flatnonzero(keys == key).tolist()
    )
    gathered = index.of_all(asked)
    assert sorted(zip(*(column.tolist() for column in gathered), strict=True)) == expected
    assert index.counts(asked).tolist() == [int((keys == key).sum()) for key in asked.tolist()]
    for position, key in enumerate(asked.tolist()):
        one = zip(*(column.tolist() for column in index.of(key)), strict=True)
        assert sorted(one) == [(item, weight) for at, item, weight in expected if at == position]
    distinct, position, item = index.entries()
    assert sorted(zip(distinct[position].tolist(), item.tolist(), strict=True)) == sorted(
        zip(keys.tolist(), items.tolist(), strict=True)
    )
    even = index.where(lambda keys, items: items % 2 == 0)
    assert even.counts(asked).tolist() == [int((items[keys == key] % 2 == 0).sum()) for key in asked.tolist()]


def test_postings_that_were_handed_out_do_not_change() -> None:
    first = postings.Postings().add(np.array([7], np.uint64), np.array([1]))
    second = first.add(np.array([7], np.uint64), np.array([2]))
    assert first.of(7)[0].tolist() == [1]
    assert second.of(7)[0].tolist() == [1, 2]


@pytest.mark.parametrize("last_axis", [False, True])
def test_views_of_an_array_do_not_change_while_it_grows(last_axis: bool) -> None:
    shape = (2, 0) if last_axis else (0, 2)
    array, views, copies = AppendOnlyArray(np.empty(shape, np.int64), last_axis=last_axis), [], []
    for step in range(200):
        values = np.full((2, 3), step)
        array.append(values if last_axis else values.T)
        if step % 7 == 0:
            array.assign(np.array([step]), -1)
        views.append(array.view)
        copies.append(array.view.copy())
    for view, copy in zip(views, copies, strict=True):
        np.testing.assert_array_equal(view, copy)
    assert copies[-1].size == 1200


def facts_table(numbers: list[int]) -> table.FactTable:
    """Facts of these numbers, one row each in this order."""
    builder = table.FactTableBuilder(1)
    body = pack_fact(Fact(id="x", bank="b", text="x"), Features(), ())
    ordered = np.array(sorted(numbers))
    facts = unpack_facts([body] * len(numbers))
    builder.append(ordered, [str(number) for number in ordered], facts)
    for number in numbers:
        builder.replace(np.array([number]), [str(number)], unpack_facts([body]))
    return builder.table()


@pytest.mark.parametrize("limit", [1, 7, 60])
def test_rounding_ranks_as_if_all_were_rounded_with_ties_in_recorded_order(limit: int) -> None:
    random = np.random.default_rng(limit)
    numbers = (1 + random.permutation(200)).tolist()
    facts = facts_table(numbers)
    rows = np.arange(200, 400)
    assert facts.numbers[rows].tolist() == numbers
    scores = random.choice([0.25, 0.5, 0.75], 200) + random.integers(-3, 4, 200) * 3e-10
    chosen, ranked = rank.best(facts, rows, scores, limit, digits=9)
    rounded = np.round(scores, 9)
    expected = sorted(range(200), key=lambda row: (-rounded[row], numbers[row]))[:limit]
    assert (chosen - 200).tolist() == expected
    assert ranked.tolist() == rounded[expected].tolist()
    hits = rank.hits(facts, (chosen, ranked))
    assert [(hit.fact_id, hit.score) for hit in hits] == [
        (str(numbers[row]), rounded[row]) for row in expected
    ]


def test_filters_of_equal_value_share_a_mask_and_those_that_admit_the_same_share_what_is_remembered() -> None:
    remembered = masks.FilterMasks(facts_table([1, 2, 3]))
    first = remembered.get(Filter(now=NOW, metadata={}))
    assert remembered.get(Filter(now=NOW)) is first
    assert remembered.get(Filter(now=NOW.replace(year=2025))) is first
    assert remembered.get(Filter(now=NOW, metadata={"a": "b"})) is not first


FACT = Fact(
    id="f",
    bank="b",
    text="text",
    type=FactType.OPINION,
    tier=Tier.CORE,
    classification=3,
    document_id="d",
    ordinal=9,
    recorded_at=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
    occurred_end=datetime(1970, 1, 2, tzinfo=UTC),
    mentioned_at=NOW,
    subject="Ann",
    entity_ids=("e", "e"),
    tags=frozenset({"b", "a"}),
    metadata={"k": "v"},
)
FEATURES = Features(terms={"word": 2.5, "none": 0.0})
LINKS = [LinkEnd(4, LinkKind.CAUSAL, True, 0.5)]
NEVER, ALWAYS, DAY = 2**63 - 1, -(2**63), 86_400_000_000


def test_a_body_is_what_the_format_says() -> None:
    """Written out here a second time: the bytes are on disk."""
    expected = pack("<8B", 3, 2, 0, 3, 0, 0, 0, 0)
    expected += pack("<9q", 1_000_000, NEVER, ALWAYS, NEVER, NEVER, NEVER, DAY, DAY, DAY)
    expected += pack("<6Q", digest("d"), 0, digest("ann"), 0, 0, digest(""))
    expected += pack("<qd6I", 9, 2.5, 2, 1, 1, 1, 1, 0)
    expected += b'["a", "b"]      ' + pack("<QQ", pair_hash("k", "v"), digest("e"))
    expected += pack("<If", crc32(b"word"), 2.5) + pack("<qfBBH", 4, 0.5, 2, 1, 0)
    checksum = crc32(FACT.id.encode() + expected[:164] + expected[168:])
    assert pack_fact(FACT, FEATURES, LINKS) == expected[:164] + pack("<I", checksum) + expected[168:]


def test_bodies_are_read_back() -> None:
    empty = Fact(id="g", bank="b", text="text")
    facts = unpack_facts([pack_fact(empty, Features(), ()), pack_fact(FACT, FEATURES, LINKS)])
    assert {name: values[1].item() for name, values in facts.columns.items()} == {
        "type": 2, "tier": 0, "classification": 3, "unsure": 0,
        "recorded": 1_000_000, "retired": NEVER, "valid_from": ALWAYS, "valid_to": NEVER, "end_recorded": NEVER,
        "expires": NEVER, "first": DAY, "last": DAY, "dated": DAY,
        "document": digest("d"), "topic": 0, "subject": digest("ann"), "relation": 0, "object": 0, "speaker": digest(""),
        "ordinal": 9, "length": 2.5,
    }  # fmt: skip
    assert [unpack_tags(text) for text in facts.tags] == [frozenset(), frozenset({"a", "b"})]
    assert facts.pairs.tolist() == [pair_hash("k", "v")]
    assert facts.entities.tolist() == [digest("e")]
    assert (facts.terms.tolist(), facts.frequencies.tolist()) == ([crc32(b"word")], [2.5])
    links = (facts.link_others, facts.link_kinds, facts.link_weights)
    assert [column.tolist() for column in links] == [[4], [2], [0.5]]
    for counts in (facts.pair_counts, facts.entity_counts, facts.term_counts, facts.link_counts):
        assert counts.tolist() == [0, 1]


def damaged(offset: int, layout: str, value: int) -> bytes:
    body = bytearray(pack_fact(FACT, FEATURES, LINKS))
    pack_into(layout, body, offset, value)
    return bytes(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        pack_fact(FACT, FEATURES, LINKS)[:100],
        pack_fact(FACT, FEATURES, LINKS)[:-16],
        pack_fact(FACT, FEATURES, LINKS)[:-3],
        pack_fact(FACT, FEATURES, LINKS) + bytes(8),
        damaged(0, "<B", 1),
        damaged(156, "<I", 2**31),
    ],
    ids=[
        "empty",
        "cut",
        "a link is gone",
        "bytes are gone",
        "longer",
        "of another version",
        "of another length",
    ],
)
def test_a_damaged_body_is_told(body: bytes) -> None:
    sound = pack_fact(FACT, FEATURES, ())
    with pytest.raises(StoreCorrupt):
        unpack_facts([sound, body, sound])


@pytest.mark.parametrize("body", [damaged(1, "<B", 9), damaged(2, "<B", 9), damaged(220, "<B", 9)])
def test_unknown_codes_are_told(body: bytes) -> None:
    with pytest.raises(StoreCorrupt):
        unpack_facts([body])


def test_tags_and_links_that_cannot_be_are_told() -> None:
    with pytest.raises(StoreCorrupt):
        unpack_tags(b'["a", ')
    assert unpack_tags(json.dumps(["ü", "a"]).encode()) == {"ü", "a"}
    facts = unpack_facts([pack_fact(FACT, FEATURES, [LinkEnd(7, LinkKind.CAUSAL, True, 0.5)])])
    with pytest.raises(StoreCorrupt):
        table.FactTableBuilder(1).append(np.array([7]), ["f"], facts)


def test_vectors_of_different_dimensions_are_told() -> None:
    view = vectors.ViewBuilder("fact")
    view.append(np.array([0]), np.ones((1, 4), np.float32))
    with pytest.raises(StoreCorrupt):
        view.append(np.array([1]), np.ones((1, 1), np.float32))


def test_a_change_of_a_fact_that_is_not_there_is_told() -> None:
    builder = table.FactTableBuilder(1)
    facts = unpack_facts([pack_fact(FACT, FEATURES, ())])
    builder.append(np.array([3]), ["f"], facts)
    builder.remove(np.array([3, 3, 2]))
    for change in (builder.set_columns, lambda numbers, facts: builder.replace(numbers, ["f"], facts)):
        with pytest.raises(StoreCorrupt):
            change(np.array([3]), facts)


def test_the_least_recently_used_indexes_leave_memory() -> None:
    cache = IndexCache(100)
    for bank in "abc":
        cache.get(bank).nbytes = 40
    cache.get("a")
    cache.trim()
    assert [bank in cache for bank in "abc"] == [True, False, True]
    assert isinstance(cache.get("b"), BankIndex)
    cache.get("b").nbytes = 1_000
    cache.trim()
    assert [bank in cache for bank in "abc"] == [False, True, False]
    cache.drop("b")
    assert "b" not in cache
