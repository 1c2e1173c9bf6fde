"""Whether two stores give the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from perdure.domain.fact import Entity
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.domain.time import Window
from perdure.ports.probe import Probe
from perdure.ports.store import FactsWhere, Order, Reading, Selection, Store
from perdure.testing import TOLERANCE, assert_same_features, assert_same_links


def assert_same_hits(expected: Sequence[Hit], actual: Sequence[Hit], tolerance: float = TOLERANCE) -> None:
    """Equal ranks and scores, where facts whose scores are nearly equal may change places."""
    assert len(actual) == len(expected), f"{len(actual)} hits instead of {len(expected)}"
    assert len({hit.fact_id for hit in actual}) == len(actual), "a fact was found twice"
    scores = {hit.fact_id: hit.score for hit in expected}
    for rank, (right, got) in enumerate(zip(expected, actual, strict=True)):
        assert abs(right.score - got.score) <= tolerance, f"rank {rank}: {got} instead of {right}"
        if got.fact_id in scores:
            assert abs(scores[got.fact_id] - got.score) <= tolerance, f"rank {rank}: score of {got}"
        else:
            last = expected[-1].score
            assert abs(got.score - last) <= tolerance, f"rank {rank}: {got} was not expected"


def assert_same_search(
    expected: Store, actual: Store, bank: str, probe: Probe, where: Filter, limit: int
) -> None:
    """Equal answers to a probe."""
    with expected.reading(bank) as ours, actual.reading(bank) as theirs:
        right, got = ours.search(probe, where, limit), theirs.search(probe, where, limit)
    try:
        assert_same_hits(right, got)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{probe}\n{where}\nexpected {right}\nactual   {got}") from error


def assert_same_memory(expected: Store, actual: Store, bank: str, where: Filter) -> None:
    """Equal rows, listings and counts."""
    assert actual.banks() == expected.banks()
    with expected.reading(bank) as ours, actual.reading(bank) as theirs:
        ids = _assert_same_listings(ours, theirs, where)
        assert theirs.facts(ids) == ours.facts(ids)
        assert theirs.ranking_fields(ids) == ours.ranking_fields(ids)
        features, others = ours.features(ids), theirs.features(ids)
        assert others.keys() == features.keys()
        for fact_id in ids:
            assert_same_features(features[fact_id], others[fact_id])
        assert theirs.passages(ids) == ours.passages(ids)
        assert theirs.proofs(ids) == ours.proofs(ids)
        assert_same_links(ours.links(ids), theirs.links(ids))
        assert theirs.documents() == ours.documents()
        for document in ours.documents():
            assert theirs.chunks(document_id=document.id) == ours.chunks(document_id=document.id)
            of_document = FactsWhere(document_ids=[document.id], superseded_by=ids[:3], source_fact_ids=ids)
            assert theirs.find_facts(of_document) == ours.find_facts(of_document)
        assert _entities(theirs) == _entities(ours)
        keys = sorted({features[fact_id].dedupe_key for fact_id in ids})
        assert theirs.facts_by_dedupe_key(keys) == ours.facts_by_dedupe_key(keys)
        assert replace(theirs.stats(), bytes_on_disk=None) == replace(ours.stats(), bytes_on_disk=None)


def _entities(reading: Reading) -> list[tuple[Entity, set[str]]]:
    return [(keyed.entity, set(keyed.keys)) for keyed in reading.entities()]


def _assert_same_listings(ours: Reading, theirs: Reading, where: Filter) -> list[str]:
    """Equal pages; returns the ids of all facts as recorded."""
    everything = Filter(include_closed=True, include_expired=True).at(where.judged_at)
    total = ours.stats().facts
    recorded = Selection(where=everything, order=Order.OLDEST_RECORDED, limit=total)
    facts = ours.browse(recorded).facts
    selections = [
        recorded,
        Selection(where=where, offset=1, limit=3),
        Selection(where=where, order=Order.OLDEST_RECORDED, text="AR"),
        Selection(where=where, speaker="alice", limit=5),
        *(Selection(where=where, order=Order.LATEST_DATED, offset=at, limit=7) for at in range(0, total, 40)),
        Selection(
            where=where,
            dated=Window(where.judged_at - timedelta(days=365)),
            order=Order.EARLIEST_DATED,
            limit=9,
        ),
        Selection(where=where, dated=Window(None, where.judged_at), text="AR", limit=9),
    ]
    for fact in facts[:3]:
        selections += [
            Selection(where=where, entity_id=fact.entity_ids[0] if fact.entity_ids else None),
            Selection(where=where, subject=fact.subject, relation=fact.relation),
        ]
    for selection in selections:
        assert theirs.browse(selection) == ours.browse(selection), selection
    return [fact.id for fact in facts]
