"""Links: near in time, near in meaning, cause and effect; a bounded number per fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import exp

import numpy as np

from perdure.domain.fact import Link, LinkKind
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.embedder import Vector
from perdure.ports.probe import SemanticProbe
from perdure.ports.store import NewFact, Reading
from perdure.retain.build import Draft

SEMANTIC_FLOOR = 0.7
SEMANTIC_NEIGHBOURS = 5
TEMPORAL_NEIGHBOURS = 2
TEMPORAL_SCALE = timedelta(days=1)
TEMPORAL_FLOOR = 0.05


def causal_links(drafts: Sequence[Draft]) -> list[Link]:
    """From each cause to its effect, with the extractor's confidence."""
    by_position = {(draft.plan.document.id, draft.position): draft.fact.id for draft in drafts}
    links = []
    for draft in drafts:
        for cause in draft.extracted.causes:
            source = by_position.get((draft.plan.document.id, cause.cause))
            if source is not None and source != draft.fact.id:
                links.append(Link(source, draft.fact.id, LinkKind.CAUSAL, cause.confidence))
    return links


def temporal_links(drafts: Sequence[Draft]) -> list[Link]:
    """Between a fact and the next few of its document in order of time; e^-(days apart)."""
    links = []
    by_document: dict[str, list[Draft]] = {}
    for draft in drafts:
        by_document.setdefault(draft.plan.document.id, []).append(draft)
    for group in by_document.values():
        dated = sorted(
            ((d.fact.dated, d.position, d.fact.id) for d in group if d.fact.dated is not None),
        )
        for index, (moment, _, fact_id) in enumerate(dated):
            for other, _, other_id in dated[index + 1 : index + 1 + TEMPORAL_NEIGHBOURS]:
                weight = nearness(moment, other)
                if weight >= TEMPORAL_FLOOR:
                    links.append(Link(fact_id, other_id, LinkKind.TEMPORAL, weight))
    return links


def nearness(one: datetime, other: datetime) -> float:
    """1 at the same time, 1/e a day apart."""
    return exp(-abs((one - other) / TEMPORAL_SCALE))


def semantic_links(reading: Reading, facts: Sequence[NewFact], now: datetime) -> list[Link]:
    """To the nearest few facts of cosine 0.7 or more, in the bank and among the new ones."""
    vectors = {new.fact.id: new.features.vectors["fact"] for new in facts if "fact" in new.features.vectors}
    if not vectors:
        return []
    current = Filter().at(now)
    among_new = _nearest_among(vectors)
    links: dict[tuple[str, str], Link] = {}
    for fact_id, vector in vectors.items():
        probe = SemanticProbe(vector, min_score=SEMANTIC_FLOOR)
        stored = reading.search(probe, current, SEMANTIC_NEIGHBOURS)
        nearest = sorted([*stored, *among_new[fact_id]], key=lambda hit: -hit.score)
        for hit in nearest[:SEMANTIC_NEIGHBOURS]:
            source, target = min(fact_id, hit.fact_id), max(fact_id, hit.fact_id)
            links[source, target] = Link(source, target, LinkKind.SEMANTIC, min(hit.score, 1.0))
    return list(links.values())


def _nearest_among(vectors: Mapping[str, Vector], block: int = 512) -> dict[str, list[Hit]]:
    """For each vector its nearest few others, in blocks so that memory stays bounded."""
    ids = list(vectors)
    matrix = np.stack([vectors[fact_id] for fact_id in ids]).astype(np.float32)
    few = min(SEMANTIC_NEIGHBOURS, len(ids) - 1)
    nearest: dict[str, list[Hit]] = {}
    for start in range(0, len(ids), block):
        # Cosines of a block of facts with all: (block, facts); a fact is no neighbour of itself.
        similar = matrix[start : start + block] @ matrix.T
        for row, scores in enumerate(similar):
            scores[start + row] = -1.0
            best = np.argpartition(-scores, few - 1)[:few] if few > 0 else np.empty(0, dtype=np.intp)
            nearest[ids[start + row]] = [
                Hit(ids[i], float(scores[i])) for i in sorted(best.tolist()) if scores[i] >= SEMANTIC_FLOOR
            ]
    return nearest
