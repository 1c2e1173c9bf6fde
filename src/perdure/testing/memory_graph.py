"""The graph channels, written for obviousness: what every store's search must answer."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from perdure.domain.fact import Fact, Link, LinkKind
from perdure.domain.recall import Hit
from perdure.ports.probe import GraphProbe, PageRankProbe
from perdure.testing.memory_search import best


def graph(probe: GraphProbe, facts: Iterable[Fact], links: Iterable[Link], limit: int) -> list[Hit]:
    """Spreading activation among admitted facts, as GraphProbe states it."""
    facts, links = list(facts), list(links)
    admitted = {fact.id: fact for fact in facts}
    members = _members(facts, links, probe.hub_cap)
    frontier = {ident: held for ident, held in probe.facts.items() if ident in admitted and held > 0}
    seeds = set(frontier)
    totals = dict(frontier)
    given = dict(probe.entities)
    expanded: set[str] = set()
    for _ in range(probe.hops):
        frontier = {hit.fact_id: hit.score for hit in best(frontier, probe.breadth)}
        expanded |= frontier.keys()
        received = _spread(admitted, links, members, frontier, given)
        for ident, score in received.items():
            totals[ident] = totals.get(ident, 0.0) + score
        frontier = {
            ident: probe.decay * min(1.0, score) for ident, score in received.items() if ident not in expanded
        }
        given = {}
    if not probe.include_seeds:
        totals = {ident: score for ident, score in totals.items() if ident not in seeds}
    return best(totals, limit)


def _members(facts: list[Fact], links: list[Link], hub_cap: int) -> dict[str, set[str]]:
    """Entity id -> the admitted facts it joins: all, or of a hub the best-connected."""
    degree = {fact.id: len(set(fact.entity_ids)) for fact in facts}
    for link in links:
        for end in (link.source, link.target):
            if end in degree:
                degree[end] += 1
    mentioning: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        for entity in set(fact.entity_ids):
            mentioning[entity].append(fact.id)
    return {
        entity: set(sorted(ids, key=lambda ident: (-degree[ident], ident))[:hub_cap])
        for entity, ids in mentioning.items()
    }


def _spread(
    admitted: Mapping[str, Fact],
    links: Iterable[Link],
    members: Mapping[str, set[str]],
    frontier: Mapping[str, float],
    given: Mapping[str, float],
) -> dict[str, float]:
    """What one step from the frontier (and the given entities) brings to each fact; none excites itself."""
    excited: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for ident, held in frontier.items():
        for entity in set(admitted[ident].entity_ids):
            excited[entity].append((held, ident))
    for entity, held in given.items():
        excited[entity].append((held, ""))
    by_kind: dict[LinkKind, dict[str, float]] = {kind: {} for kind in LinkKind}
    for link in links:
        for near, far in ((link.source, link.target), (link.target, link.source)):
            if near in frontier and far in admitted and near != far:
                strongest = by_kind[link.kind]
                strongest[far] = max(strongest.get(far, 0.0), frontier[near] * link.weight)
    received = {}
    for ident, fact in admitted.items():
        shared = math.fsum(
            max((held for held, origin in excited[entity] if origin != ident), default=0.0)
            for entity in set(fact.entity_ids)
            if entity in excited and ident in members[entity]
        )
        score = (
            math.tanh(0.5 * shared)
            + by_kind[LinkKind.SEMANTIC].get(ident, 0.0)
            + by_kind[LinkKind.CAUSAL].get(ident, 0.0)
        )
        if score > 0:
            received[ident] = score
    return received


def pagerank(probe: PageRankProbe, facts: Iterable[Fact], links: Iterable[Link], limit: int) -> list[Hit]:
    """Mass walks entity -> fact -> entity, split equally at each step, and returns to the seeds.

    An entity hands its mass to the admitted facts it joins (of a hub the best-connected), a fact to all
    its entities. Seeds without an admitted fact are left out.
    """
    facts = list(facts)
    members = _members(facts, list(links), probe.hub_cap)
    entities = {fact.id: sorted(set(fact.entity_ids)) for fact in facts}
    seeds = {entity: weight for entity, weight in probe.entities.items() if entity in members and weight > 0}
    total = math.fsum(seeds.values())
    if total <= 0:
        return []
    home = {entity: weight / total for entity, weight in seeds.items()}
    mass = dict(home)
    for _ in range(probe.sweeps):
        arriving: dict[str, float] = defaultdict(float)
        for entity, held in mass.items():
            for ident in members[entity]:
                for neighbour in entities[ident]:
                    arriving[neighbour] += held / len(members[entity]) / len(entities[ident])
        mass = {
            entity: (1 - probe.damping) * home.get(entity, 0.0) + probe.damping * arriving.get(entity, 0.0)
            for entity in home.keys() | arriving.keys()
        }
    scores = {ident: math.fsum(mass.get(entity, 0.0) for entity in held) for ident, held in entities.items()}
    return best({ident: score for ident, score in scores.items() if score > 0}, limit)
