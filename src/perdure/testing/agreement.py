"""Whether two stores give the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from perdure.domain.fact import Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.domain.time import Window
from perdure.ports.probe import Probe
from perdure.ports.store import Features, Selection, Store

TOLERANCE = 2e-3
"""How far scores may lie apart where a store rounds vectors or weights."""


def assert_same_hits(expected: Sequence[Hit], actual: Sequence[Hit], tolerance: float = TOLERANCE) -> None:
    """Equal ranks and scores, where facts whose scores are nearly equal may change places."""
    assert len(actual) == len(expected), f"{len(actual)} hits instead of {len(expected)}"
    assert len({hit.fact_id for hit in actual}) == len(actual), "a fact was found twice"
    scores = {hit.fact_id: hit.score for hit in expected}
    for place, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        assert abs(wanted.score - got.score) <= tolerance, f"place {place}: {got} instead of {wanted}"
        if got.fact_id in scores:
            assert abs(scores[got.fact_id] - got.score) <= tolerance, f"place {place}: score of {got}"
        else:
            last = expected[-1].score
            assert abs(got.score - last) <= tolerance, f"place {place}: {got} was not expected"


def assert_same_features(expected: Features, actual: Features) -> None:
    """Equal but for the rounding of vectors."""
    assert actual.vectors.keys() == expected.vectors.keys()
    for view, vector in expected.vectors.items():
        np.testing.assert_allclose(actual.vectors[view], vector, atol=TOLERANCE)
    for name in ("terms", "words", "signature", "tokens", "dedupe_key", "passage"):
        assert getattr(actual, name) == getattr(expected, name), name


def assert_same_links(expected: Sequence[Link], actual: Sequence[Link]) -> None:
    """Equal but for the rounding of weights."""
    assert [(link.source, link.target, link.kind) for link in actual] == [
        (link.source, link.target, link.kind) for link in expected
    ]
    for wanted, got in zip(expected, actual, strict=True):
        assert abs(wanted.weight - got.weight) < 1e-5


def assert_same_search(
    expected: Store, actual: Store, bank: str, probe: Probe, wanted: Filter, limit: int
) -> None:
    """Equal answers to a probe."""
    ours, theirs = (store.search(bank, probe, wanted, limit) for store in (expected, actual))
    try:
        assert_same_hits(ours, theirs)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{probe}\n{wanted}\nexpected {ours}\nactual   {theirs}") from error


def assert_same_memory(expected: Store, actual: Store, bank: str, wanted: Filter) -> None:
    """Equal facts, features, links, documents, chunks, entities and counts."""
    everything = Selection(
        wanted=Filter(now=wanted.now, any_time=True, include_expired=True), limit=1_000_000
    )
    facts = expected.browse(bank, everything)
    assert actual.browse(bank, everything) == facts
    _assert_same_pages(expected, actual, bank, wanted, facts.facts)
    ids = [fact.id for fact in facts.facts]
    assert actual.facts(bank, ids) == expected.facts(bank, ids)
    assert_same_outlines(expected, actual, bank, ids)
    features, others = expected.features(bank, ids), actual.features(bank, ids)
    assert others.keys() == features.keys()
    for ident in ids:
        assert_same_features(features[ident], others[ident])
    assert actual.passages(bank, ids) == expected.passages(bank, ids)
    assert_same_links(expected.links(bank, ids), actual.links(bank, ids))
    assert actual.documents(bank) == expected.documents(bank)
    for document in expected.documents(bank):
        ours = expected.chunks(bank, document_id=document.id)
        assert actual.chunks(bank, document_id=document.id) == ours
    assert actual.entities(bank) == expected.entities(bank)
    keys = sorted({features[ident].dedupe_key for ident in ids})
    assert actual.known(bank, keys) == expected.known(bank, keys)
    _assert_same_stats(expected, actual, bank)


def assert_same_outlines(expected: Store, actual: Store, bank: str, ids: Sequence[str]) -> None:
    """Equal outlines in the order of the ids; names of speakers in any case."""
    ours, theirs = (
        [(ident, replace(outline, speaker=outline.speaker.casefold())) for ident, outline in found.items()]
        for found in (store.outlines(bank, ids) for store in (expected, actual))
    )
    assert theirs == ours


def _assert_same_pages(
    expected: Store, actual: Store, bank: str, wanted: Filter, facts: Sequence[Fact]
) -> None:
    selections = [
        Selection(wanted=wanted, offset=1, limit=3),
        Selection(wanted=wanted, oldest_first=True, text="AR"),
        Selection(wanted=wanted, speaker="alice", limit=5),
        *(Selection(wanted=wanted, by_date=Window(), offset=at, limit=7) for at in range(0, len(facts), 40)),
        Selection(
            wanted=wanted, by_date=Window(wanted.now - timedelta(days=365)), oldest_first=True, limit=9
        ),
        Selection(wanted=wanted, by_date=Window(None, wanted.now), text="AR", limit=9),
    ]
    for fact in facts[:3]:
        entity = fact.entity_ids[0] if fact.entity_ids else None
        selections.append(Selection(wanted=wanted, entity_id=entity))
        selections.append(Selection(wanted=wanted, subject=fact.subject, relation=fact.relation))
    for selection in selections:
        assert actual.browse(bank, selection) == expected.browse(bank, selection), selection


def _assert_same_stats(expected: Store, actual: Store, bank: str) -> None:
    ours, theirs = expected.stats(bank), actual.stats(bank)
    for name in (
        "facts", "current_facts", "facts_by_type", "documents", "chunks", "entities", "links_by_kind", "tags",
    ):  # fmt: skip
        assert getattr(theirs, name) == getattr(ours, name), name
