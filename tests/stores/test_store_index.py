"""Parts of the search index against the plain way to compute the same."""

from __future__ import annotations

from datetime import UTC, datetime
from struct import pack, pack_into
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from perdure.domain.fact import Fact, FactType, LinkKind, Tier
from perdure.errors import StoreCorrupt
from perdure.ports.store import Features
from perdure.stores.index import postings, rank, table, vectors
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


def test_masked_search_rescores_only_admitted_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT_UP_TO", 1_000)
    matrix = crowded(20_000, 64)
    mask = np.arange(len(matrix)) % 2 == 0
    rows, scores = vectors.nearest(coded(matrix), matrix[10], mask, 300)
    assert mask[rows].all()
    assert len(rows) >= vectors.RESCORED
    assert rows[int(np.argmax(scores))] == 10


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
    expected = pack("<8B", 4, 2, 0, 3, 0, 0, 0, 0)
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
        "type": 2, "tier": 0, "classification": 3, "unsure": 0, "question": 0,
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


def test_vectors_of_different_dimensions_are_told() -> None:
    view = vectors.ViewBuilder("fact")
    view.append(np.array([0]), np.ones((1, 4), np.float32))
    with pytest.raises(StoreCorrupt):
        view.append(np.array([1]), np.ones((1, 1), np.float32))


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
