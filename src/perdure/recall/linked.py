"""Connecting: a candidate gains from a strong one that mentions what its document is about.

Two-hop questions name one document and mean another that it leads to. Edges that know this role count;
mere sharing of entities brings less than half (docs/decisions/linked-strength.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate
from perdure.domain.revise import revised
from perdure.recall.blend import sigmoid
from perdure.text.titles import TitleFinder, spread_over, title_aliases

BACKWARD = 0.5
"""Weight of the way from what is mentioned to what mentions it."""
BASE_RANK = 20
"""A candidate's lead is measured from the strength at this place."""

Edges = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Titles:
    """What the pool's documents are about."""

    named: Mapping[str, Mapping[str, float]]
    """Name -> {document id: weight}."""
    finder: TitleFinder
    by_document: Mapping[str, str]


def read_titles(titles: Mapping[str, str]) -> Titles:
    """Document id -> title, made ready for finding them in texts."""
    named = spread_over({document: title_aliases(title) for document, title in titles.items() if title})
    return Titles(named, TitleFinder(named), titles)


def title_matches(titles: Titles, text: str) -> dict[str, float]:
    """Document id -> how surely the text names it."""
    found: dict[str, float] = {}
    for name in titles.finder.find(text):
        for document, weight in titles.named[name].items():
            found[document] = max(found.get(document, 0.0), weight)
    return found


def connect(
    pool: Sequence[Candidate], facts: Mapping[str, Fact], titles: Titles, share: float
) -> list[Candidate]:
    """The pool with linked strength added, best first; unchanged where no titles are mentioned."""
    leads = _leads(pool, facts)
    edges = _edges(pool, facts, titles)
    if not edges:
        return list(pool)
    gained = []
    for candidate in pool:
        document = _document(facts, candidate)
        bonus = max(
            (weight * leads.get(other, 0.0) for other, weight in edges.get(document, {}).items()), default=0.0
        )
        gained.append(_stronger(candidate, share * bonus) if bonus > 0.0 else candidate)
    return sorted(gained, key=lambda c: (-c.relevance, c.fact_id))


def _document(facts: Mapping[str, Fact], candidate: Candidate) -> str:
    fact = facts.get(candidate.fact_id)
    return (fact.document_id if fact is not None else None) or candidate.fact_id


def _leads(pool: Sequence[Candidate], facts: Mapping[str, Fact]) -> dict[str, float]:
    """Document -> how far its best candidate stands above the base rank."""
    best: dict[str, float] = {}
    for candidate in pool:
        document = _document(facts, candidate)
        best[document] = max(best.get(document, float("-inf")), candidate.strength or 0.0)
    ordered = sorted(best.values(), reverse=True)
    base = ordered[min(BASE_RANK, len(ordered)) - 1] if ordered else 0.0
    return {document: max(strength - base, 0.0) for document, strength in best.items()}


def _edges(pool: Sequence[Candidate], facts: Mapping[str, Fact], titles: Titles) -> Edges:
    """Document -> {document that lends it strength: weight}."""
    mentions: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for candidate in pool:
        fact = facts.get(candidate.fact_id)
        if fact is None:
            continue
        source = _document(facts, candidate)
        for target, weight in title_matches(titles, fact.text).items():
            if target != source:
                mentions[source][target] = max(mentions[source].get(target, 0.0), weight)
    indegree: defaultdict[str, int] = defaultdict(int)
    for targets in mentions.values():
        for target in targets:
            indegree[target] += 1
    edges: Edges = defaultdict(dict)
    for source, targets in mentions.items():
        for target, weight in targets.items():
            scaled = weight / indegree[target] ** 0.5
            edges[target][source] = max(edges[target].get(source, 0.0), scaled)
            edges[source][target] = max(edges[source].get(target, 0.0), BACKWARD * scaled)
    return edges


def _stronger(candidate: Candidate, bonus: float) -> Candidate:
    strength = (candidate.strength or 0.0) + bonus
    boosts = {**candidate.boosts, "+linked": bonus}
    return revised(candidate, strength=strength, relevance=sigmoid(strength), boosts=boosts)
