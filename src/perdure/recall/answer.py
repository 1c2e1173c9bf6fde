"""Answering: the candidates that fit become recollections, with evidence, warnings, chunks and entities beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from perdure.domain.fact import Chunk, Entity, Fact
from perdure.domain.prompt import Timeline
from perdure.domain.recall import Degraded, Query, RecallResult, Recollection
from perdure.domain.rendering import edge, ending, last_mentioned
from perdure.recall.budget import BudgetCut, fit_chunks
from perdure.recall.components import RecallRun
from perdure.recall.current import ANSWERS, conflicts, is_over
from perdure.recall.doubt import judge_doubts
from perdure.recall.judge import JudgedPool
from perdure.recall.staleness import stale_months

MAX_TIMELINE = 5
MOST_DAMAGED = 3
"""Damaged rows of a kind that an answer names; a damaged page may hold hundreds."""
MENTIONED_WITH = "mentioned with"
"""What stands in the place of a relation where none is stated."""


def answer(run: RecallRun, query: Query, judged: JudgedPool, cut: BudgetCut) -> RecallResult:
    """The result that the caller sees."""
    explain = run.request.explain
    facts = [candidate.fact for candidate, _ in cut.taken if candidate.fact is not None]
    over = {fact.id for fact in facts if is_over(fact, run.where)}
    successors = _successors(run, [fact for fact in facts if fact.id in over])
    warnings = conflicts([fact for fact in facts if fact.id not in over])
    judge_doubts(run, [candidate for candidate, _ in cut.taken])
    current = [candidate for candidate, _ in cut.taken if candidate.fact_id not in over]
    stale = stale_months(run.reading, current, run.where.as_of.valid or query.asked_at)
    recollections = tuple(
        Recollection(
            fact=fact,
            score=candidate.score,
            citation=citation,
            tokens=tokens,
            relevance=judged.relevance(candidate),
            evidence=judged.level(candidate),
            candidate=candidate if explain else None,
            replaced_by=successors.get(fact.id),
            edge=_edge(fact, query) if run.request.recipe.edges else "",
            notes=_notes(fact, over, successors, warnings, candidate.doubt or None, stale.get(fact.id)),
            doubt=candidate.doubt or None,
            stale_months=stale.get(fact.id),
            answers=candidate.answers,
            span=candidate.span if (candidate.answers or 0.0) >= ANSWERS else "",
            is_earlier=candidate.is_earlier,
        )
        for citation, (fact, (candidate, tokens)) in enumerate(zip(facts, cut.taken, strict=True), start=1)
    )
    return RecallResult(
        query=query,
        recipe=run.request.recipe.name,
        recollections=recollections,
        chunks=_chunks(run, facts),
        entities=_entities(run, facts),
        evidence=judged.evidence,
        confidence=judged.judgement.confidence,
        abstained_because=judged.abstained_because,
        tokens=cut.tokens,
        timelines=tuple(timelines(facts)),
        max_tokens=run.request.max_tokens,
        count_tokens=run.components.tokens.count,
        degraded=(*run.trace.degraded, *_damaged(run)),
        timings=run.trace.timings,
        cut=(*cut.left, *judged.dropped) if explain else (),
        signals=judged.signals if explain else None,
    )


def _edge(fact: Fact, query: Query) -> str:
    """Return the relation that a fact states, else that it names an entity of the question together with others."""
    if fact.subject and fact.relation and fact.object:
        return edge(fact.subject, fact.relation, fact.object)
    named = dict(zip(fact.entity_ids, fact.entities, strict=True))
    asked = next((entity_id for entity_id in query.entities if entity_id in named), None)
    others = [name for entity_id, name in named.items() if entity_id != asked]
    return edge(named[asked], MENTIONED_WITH, ", ".join(others)) if asked is not None and others else ""


def _damaged(run: RecallRun) -> tuple[Degraded, ...]:
    """Return the rows that this recall met and had to leave out: each of a few, of more their number."""
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for damage in run.reading.damaged():
        alike[damage.kind, damage.problem].append(damage.name)
    parts = (
        (f"{len(names)} of kind {kind}", problem)
        if len(names) > MOST_DAMAGED
        else (f"{kind} {name}", problem)
        for (kind, problem), names in alike.items()
        for name in (names[:1] if len(names) > MOST_DAMAGED else names)
    )
    return tuple(Degraded(part=part, reason=problem) for part, problem in parts)


def _successors(run: RecallRun, facts: Sequence[Fact]) -> dict[str, Fact]:
    """Fact id -> what ended it."""
    ids = list(dict.fromkeys(fact.superseded_by for fact in facts if fact.superseded_by is not None))
    by_id = {fact.id: fact for fact in run.reading.facts(ids)} if ids else {}
    return {fact.id: by_id[fact.superseded_by] for fact in facts if fact.superseded_by in by_id}


def _notes(
    fact: Fact,
    over: Collection[str],
    successors: Mapping[str, Fact],
    warnings: Mapping[str, str],
    doubt: str | None,
    stale: int | None,
) -> tuple[str, ...]:
    if fact.id in over:
        return (ending(fact, successors.get(fact.id)),)
    notes = [f"doubtful: {doubt}"] if doubt is not None else []
    notes += [warnings[fact.id]] if fact.id in warnings else []
    notes += [last_mentioned(stale)] if stale is not None else []
    return tuple(notes)


def _chunks(run: RecallRun, facts: Sequence[Fact]) -> tuple[Chunk, ...]:
    include = run.request.include
    if not include.chunks:
        return ()
    ids = list(dict.fromkeys(fact.chunk_id for fact in facts if fact.chunk_id))
    return fit_chunks(run.reading.chunks(ids=ids), run.components.tokens, include.max_chunk_tokens)


def _entities(run: RecallRun, facts: Sequence[Fact]) -> tuple[Entity, ...]:
    if not run.request.include.entities:
        return ()
    ids = list(dict.fromkeys(entity_id for fact in facts for entity_id in fact.entity_ids))
    return tuple(keyed.entity for keyed in run.reading.entities(ids=ids))


def timelines(facts: Sequence[Fact]) -> list[Timeline]:
    """For each topic that several dated facts share: how it went on over time."""
    topics: defaultdict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for fact in facts:
        if fact.topic and fact.dated is not None:
            topics[fact.topic].append((fact.dated, fact.id))
    return [
        Timeline(topic=topic, steps=tuple(sorted(steps)[-MAX_TIMELINE:]))
        for topic, steps in sorted(topics.items())
        if len(steps) > 1
    ]
