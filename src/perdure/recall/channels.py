"""The channels: one function per retrieval method, each filtered before it ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit, Query
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import Reading
from perdure.recall.budget import HOPS
from perdure.recall.components import RecallRun
from perdure.recall.freshness import admitted_notes
from perdure.recall.question import ParsedQuestion
from perdure.text.signature import signature as text_signature

SEEDS = 20
"""Nearest facts from which the graph channel starts."""
SEED_FLOOR = 0.3
GRAPH_BREADTH = 6
"""At each further hop one fact spreads on per this many that the graph channel may bring."""
OVERFETCH = 3
"""`semantic_floor` brings this multiple of its limit, for diversity later on."""
SIGNATURE_FLOOR = 0.65
NOTE_SCORE = 0.5
EDGE_SCORE = 0.6
MENTION_SCORE = 0.01
"""Of a statement that names an entity with another one, without a stated relation: below what words find."""


class SharedSemanticSearch:
    """The facts nearest to the question; the first channel that asks searches, the others wait for it."""

    def __init__(self, reading: Reading, vector: Vector | None, where: Filter, limit: int) -> None:
        self._reading, self._vector, self._where = reading, vector, where
        self._limit = limit
        self._hits: list[Hit] | None = None
        self._lock = Lock()

    def first(self, count: int, floor: float | None = None) -> list[Hit]:
        """The nearest facts, best first, with cosines of at least the floor; none without a vector."""
        if self._vector is None:
            return []
        with self._lock:
            if self._hits is None or len(self._hits) == self._limit < count:
                self._limit = max(self._limit, count)
                self._hits = self._reading.search(SemanticProbe(self._vector), self._where, self._limit)
            hits = self._hits[:count]
        return [hit for hit in hits if floor is None or hit.score >= floor]


@dataclass(frozen=True, slots=True, eq=False)
class ChannelContext:
    """What a channel gets to work with."""

    run: RecallRun
    question: ParsedQuestion
    nearest: SharedSemanticSearch
    limit: int

    @property
    def query(self) -> Query:
        """The question as it was read."""
        return self.question.query

    def search(self, probe: Probe) -> list[Hit]:
        """The facts that answer the probe, best first."""
        return self.run.reading.search(probe, self.run.where, self.limit)


def semantic(context: ChannelContext) -> list[Hit]:
    """Cosine with the question, best first."""
    return context.nearest.first(context.limit, context.run.request.min_scores.semantic)


def semantic_floor(context: ChannelContext) -> list[Hit]:
    """Cosine above a floor, more than the limit."""
    floor = max(context.run.components.similarity_floor, context.run.request.min_scores.semantic or 0.0)
    return context.nearest.first(context.limit * OVERFETCH, floor)


def neighbourhood(context: ChannelContext) -> list[Hit]:
    """Cosine with the facts' context view: found by what was said around them."""
    vector = context.question.vector
    return [] if vector is None else context.search(SemanticProbe(vector, view="context"))


def keyword(context: ChannelContext) -> list[Hit]:
    """BM25: facts that hold the question's terms, rare ones first."""
    if not context.query.terms:
        return []
    return context.search(KeywordProbe(context.query.terms, min_score=context.run.request.min_scores.keyword))


def graph(context: ChannelContext) -> list[Hit]:
    """Link expansion from the question's entities and its best semantic hits; more hops with more budget."""
    seeds = {hit.fact_id: min(hit.score, 1.0) for hit in context.nearest.first(SEEDS, SEED_FLOOR)}
    entities, hops = context.query.entities, HOPS[context.run.request.budget]
    if not seeds and not entities:
        return []
    breadth = max(1, context.limit // GRAPH_BREADTH)
    return context.search(GraphProbe(facts=seeds, entities=entities, hops=hops, breadth=breadth))


def temporal(context: ChannelContext) -> list[Hit]:
    """Facts in the question's window, then along links; nothing without a window."""
    window = context.query.window
    return [] if window is None else context.search(TemporalProbe(window, vector=context.question.vector))


def fuzzy(context: ChannelContext) -> list[Hit]:
    """BM25 hits, filled up to the limit by trigram matches of misspelt or partial words, scored below them."""
    hits = keyword(context)
    if len(hits) < context.limit and context.query.words:
        present = {hit.fact_id for hit in hits}
        fresh = [hit for hit in context.search(FuzzyProbe(context.query.words)) if hit.fact_id not in present]
        ceiling = hits[-1].score if hits else 1.0
        best = max((hit.score for hit in fresh), default=1.0) or 1.0
        hits = [*hits, *(Hit(hit.fact_id, ceiling * hit.score / best) for hit in fresh)]
    return hits[: context.limit]


def signature(context: ChannelContext) -> list[Hit]:
    """Facts whose 256-bit signature shares at least 0.65 of its bits with the question's; no model needed."""
    return context.search(SignatureProbe(text_signature(context.query.content), min_score=SIGNATURE_FLOOR))


def relation(context: ChannelContext) -> list[Hit]:
    """Stated relations of the first entity that the question names, `alice -[works_with]-> bob`, at a fixed score.

    Then statements that name it together with another entity, `alice -[mentioned with]-> bob`, at a lower one.
    """
    first = dict.fromkeys(list(context.query.entities)[:1], 1.0)
    if not first:
        return []
    stated = [hit.fact_id for hit in context.search(RelationProbe(first))]
    around = [hit.fact_id for hit in context.search(GraphProbe(facts={}, entities=first))]
    named = context.run.reading.facts([fact_id for fact_id in around if fact_id not in stated])
    mentioned = [fact.id for fact in named if len(fact.entity_ids) > 1]
    hits = [Hit(fact_id, EDGE_SCORE) for fact_id in stated]
    return [*hits, *(Hit(fact_id, MENTION_SCORE) for fact_id in mentioned)][: context.limit]


def pagerank(context: ChannelContext) -> list[Hit]:
    """Personalised PageRank from the question's entities; nothing without one."""
    entities = context.query.entities
    return context.search(PageRankProbe(entities)) if entities else []


def notes(context: ChannelContext) -> list[Hit]:
    """Paragraphs of notes that hold the question's words, at a fixed score; nothing where no notes are kept."""
    run, query = context.run, context.query
    if run.components.notes is None:
        return []
    paragraphs = run.components.notes.find(run.request.bank, query.words, query.window)
    where = run.where.changed(types=run.request.where.types)
    admitted = admitted_notes(run.reading, paragraphs, where)
    return [Hit(fact.id, NOTE_SCORE) for fact in admitted[: context.limit]]


Channel = Callable[[ChannelContext], list[Hit]]

CHANNELS: Mapping[str, Channel] = {
    channel.__name__: channel
    for channel in (
        semantic,
        semantic_floor,
        neighbourhood,
        keyword,
        graph,
        temporal,
        fuzzy,
        signature,
        relation,
        pagerank,
        notes,
    )
}
