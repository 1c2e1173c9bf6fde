"""Recalls and reflections as JSON, for every surface that prints or sends it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perdure.domain.plain import to_plain

if TYPE_CHECKING:
    from perdure.domain.recall import Candidate, RecallResult, Recollection
    from perdure.reflect.reflection import Reflection, ReflectionStep, ReflectionTrace


def plain_recall(result: RecallResult) -> dict[str, Any]:
    """Return a recall as JSON: results best first, what was understood, what failed and how long it took."""
    return {
        "query": result.query.text,
        "recipe": result.recipe,
        "evidence": result.evidence.value,
        "confidence": result.confidence,
        "abstained": result.abstained,
        "abstained_because": result.abstained_because,
        "tokens": result.tokens,
        "results": [_result(recollection) for recollection in result.recollections],
        "chunks": to_plain(result.chunks),
        "entities": to_plain(result.entities),
        "notes": list(result.all_notes),
        "understood": {
            "asked_at": to_plain(result.query.asked_at),
            "entities": list(result.query.entity_names),
            "window": to_plain(result.query.window),
            "anchors": list(result.query.anchors),
        },
        "degraded": to_plain(result.degraded),
        "timings_ms": {time.stage: round(time.milliseconds, 3) for time in result.timings},
        "cut": [plain_candidate(candidate) for candidate in result.cut],
    }


def _result(recollection: Recollection) -> dict[str, Any]:
    fact = to_plain(recollection.fact)
    fact.update(
        score=recollection.score,
        citation=recollection.citation,
        tokens=recollection.tokens,
        evidence=recollection.evidence.value,
        relevance=recollection.relevance,
        replaced_by=recollection.replaced_by.id if recollection.replaced_by is not None else None,
        notes=list(recollection.notes),
        doubt=recollection.doubt,
        stale_months=recollection.stale_months,
        explain=plain_candidate(recollection.candidate) if recollection.candidate is not None else None,
    )
    return dict(fact)


def plain_reflection(reflection: Reflection) -> dict[str, Any]:
    """Return a reflection as JSON: the answer, its sentences, their facts, and how it came about."""
    return {
        "text": reflection.text,
        "answer": reflection.answer,
        "evidence": reflection.evidence.value,
        "sentences": to_plain(reflection.sentences),
        "based_on": [
            {"citation": number, "id": one.fact.id, "text": one.fact.text, "score": one.score}
            for number, one in enumerate(reflection.based_on, start=1)
        ],
        "trace": plain_trace(reflection.trace),
    }


def plain_trace(trace: ReflectionTrace) -> dict[str, Any]:
    """Return how an answer came about: its steps with the number of facts that each gave."""
    return {**to_plain(replace(trace, steps=())), "steps": [_step(step) for step in trace.steps]}


def _step(step: ReflectionStep) -> dict[str, Any]:
    asked = {name: getattr(step, name) for name in ("refused", "input_tokens", "output_tokens")}
    return {
        "tool": step.tool,
        "query": step.query,
        "facts": len(step.fact_ids),
        "evidence": step.evidence.value,
        "milliseconds": round(step.milliseconds, 3),
        **{name: value for name, value in asked.items() if value},
    }


def plain_candidate(candidate: Candidate) -> dict[str, Any]:
    """How a fact was found and scored, and why it was left out if it was."""
    return {
        "id": candidate.fact_id,
        "channels": {rank.channel: {"rank": rank.rank, "score": rank.score} for rank in candidate.ranks},
        "fused": candidate.fused,
        "rerank": candidate.rerank,
        "strength": candidate.strength,
        "relevance": candidate.relevance,
        "boosts": dict(candidate.boosts),
        "score": candidate.score,
        "cut": candidate.cut,
    }


def total_milliseconds(result: RecallResult) -> float:
    """Return the time of a recall from beginning to end."""
    return next((time.milliseconds for time in result.timings if time.stage == "total"), 0.0)
