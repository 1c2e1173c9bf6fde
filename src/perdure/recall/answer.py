"""Answering: the fitted candidates become recollections, with chunks, entities and notes beside them."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.domain.fact import Chunk, Entity, Fact
from perdure.domain.recall import Candidate, Evidence, Query, RecallResult, Recollection
from perdure.domain.trace import Trace
from perdure.recall.enrich import conflicts, timelines
from perdure.recall.evidence import evidence_of, overall
from perdure.recall.fit import BudgetCut, fit_chunks
from perdure.recall.parts import RecallComponents
from perdure.recall.request import RecallRequest


def answer(
    parts: RecallComponents,
    request: RecallRequest,
    query: Query,
    fitted: BudgetCut,
    facts: Mapping[str, Fact],
    trace: Trace,
) -> RecallResult:
    """The result that the caller sees."""
    taken = [facts[candidate.fact_id] for candidate, _ in fitted.taken]
    warnings = conflicts(taken)
    levels = evidence_of([candidate for candidate, _ in fitted.taken])
    recollections = tuple(
        _recollection(number, candidate, tokens, level, facts[candidate.fact_id], request, warnings)
        for number, ((candidate, tokens), level) in enumerate(zip(fitted.taken, levels, strict=True), start=1)
    )
    chunks = _chunks(parts, request, taken)
    entities = _entities(parts, request, taken)
    return RecallResult(
        query=query,
        recipe=request.recipe.name,
        recollections=recollections,
        chunks=chunks,
        entities=entities,
        evidence=overall([r.evidence for r in recollections]),
        tokens=fitted.tokens,
        notes=tuple(timelines(taken)),
        degraded=trace.degraded,
        timings=trace.timings,
        cut=fitted.cut if request.explain else (),
    )


def _recollection(
    number: int,
    candidate: Candidate,
    tokens: int,
    level: Evidence,
    fact: Fact,
    request: RecallRequest,
    warnings: Mapping[str, str],
) -> Recollection:
    return Recollection(
        fact=fact,
        score=candidate.score,
        citation=number,
        tokens=tokens,
        evidence=level,
        candidate=candidate if request.explain else None,
        notes=(warnings[fact.id],) if fact.id in warnings else (),
    )


def _chunks(parts: RecallComponents, request: RecallRequest, taken: list[Fact]) -> tuple[Chunk, ...]:
    if not request.include_chunks:
        return ()
    wanted = list(dict.fromkeys(fact.chunk_id for fact in taken if fact.chunk_id))
    found = {chunk.id: chunk for chunk in parts.store.chunks(request.bank, ids=wanted)}
    in_order = [found[chunk_id] for chunk_id in wanted if chunk_id in found]
    return fit_chunks(in_order, parts.tokens, request.max_chunk_tokens)


def _entities(parts: RecallComponents, request: RecallRequest, taken: list[Fact]) -> tuple[Entity, ...]:
    if not request.include_entities:
        return ()
    wanted = list(dict.fromkeys(entity for fact in taken for entity in fact.entity_ids))
    return tuple(keyed.entity for keyed in parts.store.entities(request.bank, ids=wanted))
