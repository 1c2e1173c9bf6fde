"""A recall as clients ask for it and as they get it."""

from __future__ import annotations

from typing import Any

from perdure.domain.fact import Fact, FactType
from perdure.domain.recall import Candidate, RecallResult, Recollection
from perdure.domain.time import AsOf
from perdure.engine import Perdure
from perdure.recall.request import MinScores, Situation
from perdure.surfaces.plain import plain_recall
from perdure.surfaces.rest.bank_config import Acting, acting, find_bank
from perdure.surfaces.rest.present import as_of_parts, instant, iso, window
from perdure.surfaces.rest.schemas import recall as bodies
from perdure.surfaces.rest.schemas.shared import TagGroup

Json = dict[str, Any]
"""Built as plain objects, in the form of schemas.recall: hundreds of models an answer would cost milliseconds."""
_TIMES = ("occurred_start", "occurred_end", "mentioned_at", "valid_from", "valid_to")
_SCORED = {"semantic": "semantic", "semantic_floor": "semantic", "keyword": "keyword"}
_OPTIONAL = ("document_id", "chunk_id", "subject", "relation", "object", "confidence")


def run_recall(engine: Perdure, bank: str, body: bodies.RecallRequest) -> Json:
    """Ask the engine and put the answer into the form of RecallResponse."""
    config = acting(find_bank(engine, bank))
    result = engine.recall(bank, body.query, **recall_options(engine, config, body))
    recalled = list(result.recollections)
    prefers = (
        config.recall_prefer_observations if body.prefer_observations is None else body.prefer_observations
    )
    if prefers:
        recalled = _without_sources(recalled)
    response: Json = {
        "results": [_result(r, body.explain or body.trace) for r in recalled],
        "trace": _trace(result) if body.trace else None,
        "entities": _entities(engine, result, body.include.entities),
        "chunks": _chunks(engine, bank, result) if _wants_chunks(body, config) else None,
        "recipe": result.recipe,
        "evidence": result.evidence.value,
        "tokens": sum(r.tokens for r in recalled),
        "degraded": [{"part": d.part, "reason": d.reason} for d in result.degraded],
        "notes": list(result.notes),
        "timings_ms": {time.stage: round(time.milliseconds, 3) for time in result.timings},
        "context": result.to_prompt() if body.context_string else None,
    }
    if body.include.source_facts is not None:
        response |= _source_facts(engine, bank, recalled, body.include.source_facts)
    return response


def recall_options(engine: Perdure, config: Acting, body: bodies.RecallRequest) -> dict[str, Any]:
    """The engine's arguments."""
    valid, known = as_of_parts(body.as_of)
    chunks = body.include.chunks
    return {
        "budget": body.budget,
        "max_tokens": config.recall_max_tokens if body.max_tokens is None else body.max_tokens,
        "types": body.types,
        "tags": body.tags,
        "tags_match": body.tags_match,
        "tag_groups": tag_groups(body.tag_groups),
        "metadata": body.metadata,
        "during": window(body.during, "during"),
        "temporal_window": window(body.temporal_window, "temporal_window"),
        "as_of": AsOf(valid=valid, known=known),
        "entity_hints": body.entity_hints,
        "situation": Situation(**body.surroundings.model_dump()) if body.surroundings else None,
        "include_chunks": _wants_chunks(body, config),
        "max_chunk_tokens": chunks.max_tokens if chunks is not None else config.recall_chunks_max_tokens,
        "include_entities": body.include.entities is not None,
        "min_scores": MinScores(**body.min_scores.model_dump()) if body.min_scores else None,
        "recipe": recipe_of(engine, config, body.recipe),
        "explain": True,
        "track": body.track,
        "query_timestamp": instant(body.query_timestamp, "query_timestamp"),
        "limit": body.limit,
        "topic": body.topic,
        "tier": body.tier,
        "max_classification": body.max_classification,
        "document_ids": frozenset(body.document_ids) if body.document_ids is not None else None,
        "include_expired": body.include_expired,
    }


def recipe_of(engine: Perdure, config: Acting, name: str | None) -> Any:
    """The recipe with what the bank has switched off left out."""
    switches = {
        "keyword": config.enable_text_search,
        "temporal": config.enable_temporal_retrieval,
        "graph": config.enable_graph_retrieval,
    }
    without = [channel for channel, on in switches.items() if not on]
    return engine.trimmed_recipe(name, without=without, rerank=config.enable_reranking)


def tag_groups(groups: list[TagGroup] | None) -> list[dict[str, Any]] | None:
    """Groups as plain objects."""
    return None if groups is None else [group.model_dump(by_alias=True) for group in groups]


def _wants_chunks(body: bodies.RecallRequest, config: Acting) -> bool:
    return body.include.chunks is not None or config.recall_include_chunks


def _without_sources(recalled: list[Recollection]) -> list[Recollection]:
    replaced = {
        source for r in recalled if r.fact.type is FactType.OBSERVATION for source in r.fact.source_fact_ids
    }
    return [r for r in recalled if r.fact.id not in replaced]


def _result(recollection: Recollection, explain: bool) -> Json:
    body = fact_body(recollection.fact)
    candidate = recollection.candidate
    body["scores"] = _scores(recollection.score, candidate)
    body["citation"] = recollection.citation
    body["evidence"] = recollection.evidence.value
    if recollection.notes:
        body["notes"] = list(recollection.notes)
    if explain and candidate is not None:
        body["explain"] = {
            "channels": {r.channel: {"rank": r.rank, "score": r.score} for r in candidate.ranks},
            "fused": candidate.fused,
            "late": candidate.late,
            "rerank": candidate.rerank,
            "relevance": candidate.relevance,
            "boosts": dict(candidate.boosts),
            "score": candidate.score,
            "tokens": recollection.tokens,
        }
    return body


def fact_body(fact: Fact) -> Json:
    """A fact without scores, in the form of RecallResultBody; what is not known is left out."""
    body: Json = {
        "id": fact.id,
        "text": fact.text,
        "type": fact.type.value,
        "entities": fact.entities,
        "context": fact.context,
        "tags": sorted(fact.tags),
        "proof_count": fact.proof_count,
    }
    for name in _TIMES:
        moment = getattr(fact, name)
        if moment is not None:
            body[name] = moment.isoformat()
    for name in _OPTIONAL:
        value = getattr(fact, name)
        if value is not None:
            body[name] = value
    if fact.metadata:
        body["metadata"] = dict(fact.metadata)
    if fact.source_fact_ids:
        body["source_fact_ids"] = fact.source_fact_ids
    return body


def _scores(final: float, candidate: Candidate | None) -> Json:
    if candidate is None:
        return {"final": final}
    scores: Json = {"final": final, "reranker": candidate.rerank, "semantic": None, "keyword": None}
    for rank in candidate.ranks:
        name = _SCORED.get(rank.channel)
        if name is not None:
            scores[name] = rank.score
    return scores


def _trace(result: RecallResult) -> dict[str, Any]:
    told = plain_recall(result)
    total = next((time.milliseconds for time in result.timings if time.stage == "total"), 0.0)
    return {
        "query": result.query.text,
        "num_results": len(result.recollections),
        "time_seconds": round(total / 1000.0, 6),
        **{name: told[name] for name in ("recipe", "understood", "degraded", "timings_ms", "cut")},
    }


def _entities(
    engine: Perdure, result: RecallResult, options: bodies.EntityIncludeOptions | None
) -> Json | None:
    """Entities of the results by name, with the observations among the results that mention them."""
    if options is None:
        return None
    left = options.max_tokens
    states: dict[str, Json] = {
        entity.id: {"entity_id": entity.id, "canonical_name": entity.name, "observations": []}
        for entity in result.entities
    }
    for fact in (r.fact for r in result.recollections if r.fact.type is FactType.OBSERVATION):
        cost = engine.count_tokens(fact.text)
        for entity_id in fact.entity_ids:
            if entity_id in states and cost <= left:
                left -= cost
                observation = {"text": fact.text, "mentioned_at": iso(fact.mentioned_at)}
                states[entity_id]["observations"].append(observation)
    named: Json = {}
    for state in states.values():
        name = state["canonical_name"]
        named[name if name not in named else f"{name} ({state['entity_id']})"] = state
    return named


def _chunks(engine: Perdure, bank: str, result: RecallResult) -> Json:
    """Source text by chunk id; only the last one can have been cut short."""
    last = result.chunks[-1:]
    whole = {chunk.id: chunk.text for chunk in engine.chunks(bank, ids=[chunk.id for chunk in last])}
    return {
        chunk.id: {
            "id": chunk.id,
            "text": chunk.text,
            "chunk_index": chunk.ordinal,
            "truncated": chunk.id in whole and whole[chunk.id] != chunk.text,
        }
        for chunk in result.chunks
    }


def _source_facts(
    engine: Perdure, bank: str, recalled: list[Recollection], options: bodies.SourceFactsIncludeOptions
) -> Json:
    found: Json = {}
    left = options.max_tokens
    truncated = False
    for r in recalled:
        own = options.max_tokens_per_observation
        for fact in engine.facts_by_id(bank, [i for i in r.fact.source_fact_ids if i not in found]):
            cost = engine.count_tokens(fact.text)
            if (options.max_tokens >= 0 and cost > left) or (
                options.max_tokens_per_observation >= 0 and cost > own
            ):
                truncated = True
                continue
            left, own = left - cost, own - cost
            found[fact.id] = fact_body(fact)
    return {"source_facts": found, "source_facts_truncated": truncated}
