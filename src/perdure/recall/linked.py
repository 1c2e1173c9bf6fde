"""Linked strength: a candidate gains from a strong one that mentions what its document is about.

Two-hop questions name one document and mean another that it leads to. Edges that know this role count;
mere sharing of entities brings less than half (docs/decisions/linked-strength.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.recall import Candidate
from perdure.text.titles import TitleFinder, spread_over, title_aliases

BACKWARD = 0.5
"""Weight of the way from what is mentioned to what mentions it."""
BASE_RANK = 20
"""A document's lead is measured from the strength at this rank."""

Edges = defaultdict[str, dict[str, float]]
"""Document -> {other document: weight}."""


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
    matches: dict[str, float] = {}
    for name in titles.finder.find(text):
        _raise_to(matches, titles.named[name].items())
    return matches


def add_linked_strength(pool: Sequence[Candidate], titles: Titles, share: float) -> list[Candidate]:
    """Add `share` x the best of (edge weight x lead) over the documents that lend a candidate's document strength.

    Returns the pool best first; unchanged where no titles are mentioned.
    """
    edges = lending_edges(_mentions(pool, titles))
    if not edges:
        return list(pool)
    leads = document_leads(pool)
    for candidate in pool:
        lenders = edges.get(_document(candidate), {})
        bonus = share * max(
            (weight * leads.get(lender, 0.0) for lender, weight in lenders.items()), default=0.0
        )
        if bonus > 0.0:
            candidate.set_strength((candidate.strength or 0.0) + bonus)
            candidate.boosts["+linked"] = bonus
    return sorted(pool, key=lambda c: (-c.relevance, c.fact_id))


def document_leads(pool: Sequence[Candidate]) -> dict[str, float]:
    """Document -> how far its best candidate stands above the document at BASE_RANK, at least 0."""
    best: dict[str, float] = {}
    _raise_to(best, ((_document(candidate), candidate.strength or 0.0) for candidate in pool))
    ordered = sorted(best.values(), reverse=True)
    base = ordered[min(BASE_RANK, len(ordered)) - 1] if ordered else 0.0
    return {document: max(strength - base, 0.0) for document, strength in best.items()}


def lending_edges(mentions: Mapping[str, Mapping[str, float]]) -> Edges:
    """Document -> {document that lends it strength: weight}.

    A mention lends its weight / sqrt(how many mention the same document) forward, half of that backward.
    """
    indegree = Counter(target for targets in mentions.values() for target in targets)
    edges: Edges = defaultdict(dict)
    for source, targets in mentions.items():
        for target, weight in targets.items():
            scaled = weight / indegree[target] ** 0.5
            _raise_to(edges[target], [(source, scaled)])
            _raise_to(edges[source], [(target, BACKWARD * scaled)])
    return edges


def _mentions(pool: Sequence[Candidate], titles: Titles) -> Edges:
    """Document -> {other document that its candidates mention: how surely}."""
    mentions: Edges = defaultdict(dict)
    for candidate in pool:
        if candidate.fact is not None:
            source = _document(candidate)
            matches = title_matches(titles, candidate.fact.text).items()
            _raise_to(mentions[source], (match for match in matches if match[0] != source))
    return mentions


def _document(candidate: Candidate) -> str:
    """A fact without a document stands for itself."""
    return candidate.fields.document_id or candidate.fact_id


def _raise_to(table: dict[str, float], values: Iterable[tuple[str, float]]) -> None:
    """Raise entries to the given values where they are lower or missing."""
    for key, value in values:
        if value > table.get(key, float("-inf")):
            table[key] = value
