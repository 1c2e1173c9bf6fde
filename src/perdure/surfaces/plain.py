"""Domain objects as plain JSON values, for every surface that prints or sends JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.domain.recall import Candidate, RecallResult, Recollection
    from perdure.reflect.reflection import Reflection

_PLAIN = frozenset({str, int, float, bool})


def plain(value: Any) -> Any:
    """Return a value with dataclasses as objects, dates as ISO 8601 text, and sets sorted."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, frozenset | set):
        return sorted(plain(part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


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
        "chunks": plain(result.chunks),
        "entities": plain(result.entities),
        "notes": list(result.all_notes),
        "understood": {
            "asked_at": plain(result.query.asked_at),
            "entities": list(result.query.entity_names),
            "window": plain(result.query.window),
            "anchors": list(result.query.anchors),
        },
        "degraded": plain(result.degraded),
        "timings_ms": {time.stage: round(time.milliseconds, 3) for time in result.timings},
        "cut": [plain_candidate(candidate) for candidate in result.cut],
    }


def _result(recollection: Recollection) -> dict[str, Any]:
    fact = plain(recollection.fact)
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
    trace = reflection.trace
    return {
        "text": reflection.text,
        "answer": reflection.answer,
        "evidence": reflection.evidence.value,
        "sentences": plain(reflection.sentences),
        "based_on": [
            {"citation": number, "id": one.fact.id, "text": one.fact.text, "score": one.score}
            for number, one in enumerate(reflection.based_on, start=1)
        ],
        "trace": {
            "reader": trace.reader,
            "steps": [
                {"tool": step.tool, "facts": len(step.fact_ids), "evidence": step.evidence.value}
                for step in trace.steps
            ],
            "directives": plain(trace.directives),
            "disposition": list(trace.disposition),
            "notes": list(trace.notes),
        },
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
