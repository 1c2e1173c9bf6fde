"""Reranking: the channels' scores order the pool, a reranker scores the best of it, linked candidates lend strength."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.item import USER_ROLES
from perdure.domain.recall import Candidate, Query, sigmoid
from perdure.errors import ModelError, public_message
from perdure.recall.blend import blend_relevance, cheap_strengths
from perdure.recall.components import RecallRun
from perdure.recall.coverage import rerank_for_coverage
from perdure.recall.linked import Titles, add_linked_strength, read_titles, title_matches
from perdure.text.asking import asked_roles
from perdure.text.terms import plain_words


def rerank(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the pool with its relevance, best first."""
    blend = run.request.recipe.blend
    titles = _read_titles(run, pool)
    _mark_named(pool, query, titles)
    extras = cheap_strengths(pool, blend)
    with run.trace.stage("rerank.cross"):
        _score_pairs(run, query, reading_order(pool, extras))
    blended = blend_relevance(pool, blend, extras)
    if titles is None or not blend.links:
        return blended
    with run.trace.stage("rerank.connect"):
        run.read_facts(blended)
        linked = add_linked_strength(blended, titles, blend.links)
        return rerank_for_coverage(linked, titles.by_document, query.terms, blend.cover)


def _read_titles(run: RecallRun, pool: Sequence[Candidate]) -> Titles | None:
    """What the pool's documents are about; None where nothing has a title or nothing asks for it."""
    blend = run.request.recipe.blend
    if not (blend.titles or blend.links):
        return None
    ids = sorted({c.fields.document_id for c in pool if c.fields.document_id is not None})
    titles = {document.id: document.title for document in run.reading.documents(ids)}
    return read_titles(titles) if any(titles.values()) else None


def _mark_named(pool: Sequence[Candidate], query: Query, titles: Titles | None) -> None:
    """Mark whether the question is about a candidate's document or speaker (docs/decisions/whose-words.md)."""
    documents = title_matches(titles, query.text) if titles is not None else {}
    words, roles = set(query.words), asked_roles(query.text)
    speakers = {c.fields.speaker for c in pool if c.fields.speaker}
    named = {name for name in speakers if words.intersection(plain_words(name))}
    asker = query.asker if roles == USER_ROLES else None
    in_role = {name for name in speakers if name.lower() in roles or name == asker}
    for candidate in pool:
        candidate.title = documents.get(candidate.fields.document_id or "")
        candidate.by_named = candidate.fields.speaker in named
        candidate.by_role = candidate.fields.speaker in in_role


def _score_pairs(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> None:
    """Write the reranker's logits of the first candidates."""
    recipe, reranker = run.request.recipe, run.components.reranker
    if recipe.cross_pool <= 0 or not pool:
        return
    if reranker is None:
        run.trace.failed("reranker", "no reranker is configured")
        return
    passages = run.reading.passages([candidate.fact_id for candidate in pool[: recipe.cross_pool]])
    head = [candidate for candidate in pool if candidate.fact_id in passages]
    texts = list(dict.fromkeys(passages[candidate.fact_id].own for candidate in head))
    try:
        logits = dict(zip(texts, map(float, reranker.score(query.text, texts)), strict=True))
    except ModelError as error:
        run.trace.failed("reranker", public_message(error))
        return
    for candidate in head:
        candidate.logit = logits[passages[candidate.fact_id].own]
        candidate.rerank = sigmoid(candidate.logit)


def reading_order(pool: Sequence[Candidate], strengths: Sequence[float]) -> list[Candidate]:
    """Return the pool in the order in which the reranker gets to read it."""
    if not any(strengths):
        return list(pool)
    order = sorted(range(len(pool)), key=lambda i: (-strengths[i], pool[i].fact_id))
    return [pool[i] for i in order]
