"""Answering: the candidates that fit become recollections, with evidence, warnings, chunks and entities beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from perdure.domain.fact import Chunk, Entity, Fact
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate, Evidence, Query, RecallResult, Recollection
from perdure.domain.rendering import ending, shortened
from perdure.recall.budget import BudgetCut, fit_chunks
from perdure.recall.components import RecallRun
from perdure.recall.doubtful import judge_doubts
from perdure.text.relation_table import is_single_valued

STRONG_AT = 0.9933
WEAK_AT = 0.5
"""Logits 5 and 0 of the default cross-encoder, calibrated on labelled questions (docs/decisions/evidence.md)."""
MAX_TIMELINE = 5


def answer(run: RecallRun, query: Query, cut: BudgetCut) -> RecallResult:
    """The result that the caller sees."""
    explain = run.request.explain
    facts = [candidate.fact for candidate, _ in cut.taken if candidate.fact is not None]
    levels = evidence_of([candidate for candidate, _ in cut.taken])
    over = {fact.id for fact in facts if is_over(fact, run.where)}
    successors = _successors(run, [fact for fact in facts if fact.id in over])
    warnings = conflicts([fact for fact in facts if fact.id not in over])
    judge_doubts(run, [candidate for candidate, _ in cut.taken])
    recollections = tuple(
        Recollection(
            fact=fact,
            score=candidate.score,
            citation=citation,
            tokens=tokens,
            evidence=level,
            candidate=candidate if explain else None,
            replaced_by=successors.get(fact.id),
            notes=_notes(fact, over, successors, warnings, candidate.doubt or None),
            doubt=candidate.doubt or None,
        )
        for citation, (fact, (candidate, tokens), level) in enumerate(
            zip(facts, cut.taken, levels, strict=True), start=1
        )
    )
    return RecallResult(
        query=query,
        recipe=run.request.recipe.name,
        recollections=recollections,
        chunks=_chunks(run, facts),
        entities=_entities(run, facts),
        evidence=strongest(levels),
        tokens=cut.tokens,
        notes=tuple(timelines(facts)),
        degraded=run.trace.degraded,
        timings=run.trace.timings,
        cut=cut.left if explain else (),
    )


def is_over(fact: Fact, where: Filter) -> bool:
    """Whether the fact was true and is no longer, as far as the filter knows."""
    known_at = where.as_of.known
    if fact.valid_to is None:
        return False
    if fact.end_recorded_at is not None:
        return known_at is None or fact.end_recorded_at <= known_at
    return fact.valid_to <= (where.as_of.valid or where.judged_at)


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
) -> tuple[str, ...]:
    if fact.id in over:
        return (ending(fact, successors.get(fact.id)),)
    doubts = (f"doubtful: {doubt}",) if doubt is not None else ()
    return (*doubts, warnings[fact.id]) if fact.id in warnings else doubts


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


def evidence_of(candidates: Sequence[Candidate]) -> list[Evidence]:
    """Judged by the cross-encoder alone: the other figures are not comparable between questions.

    What it did not read is weak at best, and nothing when the weakest that it read is nothing. When it read none,
    all is weak.
    """
    weakest = min((c.rerank for c in candidates if c.rerank is not None), default=WEAK_AT)
    unread = Evidence.WEAK if weakest >= WEAK_AT else Evidence.NONE
    return [unread if c.rerank is None else _level(c.rerank) for c in candidates]


def _level(rerank: float) -> Evidence:
    if rerank >= STRONG_AT:
        return Evidence.STRONG
    return Evidence.WEAK if rerank >= WEAK_AT else Evidence.NONE


def strongest(levels: Sequence[Evidence]) -> Evidence:
    """The strongest level there is; none for an empty answer."""
    return next((level for level in (Evidence.STRONG, Evidence.WEAK) if level in levels), Evidence.NONE)


def conflicts(facts: Sequence[Fact]) -> dict[str, str]:
    """Fact id -> warning, for facts that give one subject different objects of a single-valued relation."""
    stated: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.subject and fact.relation and fact.object and is_single_valued(fact.relation):
            stated[(fact.subject.casefold(), fact.relation)].append(fact)
    warnings: dict[str, str] = {}
    for (_, relation), same in stated.items():
        objects = {fact.id: fact.object or "" for fact in same}
        for fact_id, own in objects.items():
            others = {other for other in objects.values() if other.casefold() != own.casefold()}
            if others:
                warnings[fact_id] = f"Conflicts with another result: {relation} {', '.join(sorted(others))}"
    return warnings


def timelines(facts: Sequence[Fact]) -> list[str]:
    """For each topic that several dated facts share: how it went on over time."""
    topics: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.topic and fact.dated is not None:
            topics[fact.topic].append(fact)
    lines = []
    for topic, members in sorted(topics.items()):
        if len(members) > 1:
            ordered = sorted(members, key=lambda fact: (fact.dated, fact.id))[-MAX_TIMELINE:]
            steps = " -> ".join(f"{fact.dated:%Y-%m-%d} {shortened(fact.text)}" for fact in ordered)
            lines.append(f"Timeline of {topic}: {steps}")
    return lines
