"""Reranking: late interaction orders the pool, the cross-encoder reads the best of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from perdure.domain.ranking import RankingFields
from perdure.domain.recall import Candidate, Query
from perdure.domain.revise import revised
from perdure.domain.trace import Trace
from perdure.errors import ModelError
from perdure.recall.blend import cheap_strengths, sigmoid, with_relevance
from perdure.recall.coverage import cover
from perdure.recall.fuse import Pool
from perdure.recall.hydrate import PoolFacts
from perdure.recall.linked import Titles, connect, read_titles, title_matches
from perdure.recall.parts import RecallComponents
from perdure.recall.recipe import Blend, Recipe, View, ViewSpec
from perdure.recall.request import RecallRequest
from perdure.text.passage import full_passage, own_passage
from perdure.text.perspective import asked_roles
from perdure.text.terms import plain_words

Passages = Mapping[str, tuple[str, bytes]]


def rerank(
    parts: RecallComponents,
    request: RecallRequest,
    query: Query,
    pool: Pool,
    facts: PoolFacts,
    trace: Trace,
) -> list[Candidate]:
    """The pool with its relevance, best first."""
    recipe = request.recipe
    passages = _passages(parts, request.bank, recipe, pool.ids)
    titles = _titles(parts, request.bank, recipe, facts.outlines)
    ready = _with_names(pool, facts.outlines, query, titles)
    with trace.stage("rerank.late"):
        ready = _late_stage(parts, recipe, query, ready, passages, trace)
    with trace.stage("rerank.cross"):
        ready = _cross_stage(parts, recipe, query, ready, passages, trace)
    blended = with_relevance(ready, recipe.blend)
    if titles is None or not recipe.blend.links:
        return blended
    with trace.stage("rerank.connect"):
        facts.read(pool.ids)
        linked = connect(blended, facts, titles, recipe.blend.links)
        return cover(linked, facts, titles.by_document, query.terms, recipe.blend.cover)


def _with_names(
    pool: Sequence[Candidate], outlines: Mapping[str, RankingFields], query: Query, titles: Titles | None
) -> list[Candidate]:
    """Candidates that know whether the question is about their document's subject or their speaker."""
    named = title_matches(titles, query.text) if titles is not None else {}
    words, roles = set(query.words), asked_roles(query.text)
    speakers = {outline.speaker for outline in outlines.values() if outline.speaker}
    spoken = {name for name in speakers if words.intersection(plain_words(name))}
    in_role = {name for name in speakers if name.lower() in roles}
    if not (named or spoken or in_role):
        return list(pool)
    return [_named(c, outlines.get(c.fact_id), named, spoken, in_role) for c in pool]


def _named(
    candidate: Candidate,
    outline: RankingFields | None,
    documents: Mapping[str, float],
    speakers: Set[str],
    in_role: Set[str],
) -> Candidate:
    if outline is None:
        return candidate
    title = documents.get(outline.document_id or "")
    by_named, by_role = outline.speaker in speakers, outline.speaker in in_role
    if title is None and not (by_named or by_role):
        return candidate
    return revised(candidate, title=title, by_named=by_named, by_role=by_role)


def _titles(
    parts: RecallComponents, bank: str, recipe: Recipe, outlines: Mapping[str, RankingFields]
) -> Titles | None:
    """What the pool's documents are about; None where nothing has a title or nothing asks for it."""
    if not (recipe.blend.titles or recipe.blend.links):
        return None
    wanted = sorted({held.document_id for held in outlines.values() if held.document_id is not None})
    found = {document.id: document.title for document in parts.store.documents(bank, wanted)}
    return read_titles(found) if any(found.values()) else None


def _passages(parts: RecallComponents, bank: str, recipe: Recipe, ids: Sequence[str]) -> Passages:
    wants_late = recipe.late and parts.late is not None
    wants_cross = recipe.cross_pool > 0 and parts.reranker is not None
    if not (wants_late or wants_cross):
        return {}
    return parts.store.passages(bank, ids)


def _late_stage(
    parts: RecallComponents,
    recipe: Recipe,
    query: Query,
    pool: list[Candidate],
    passages: Passages,
    trace: Trace,
) -> list[Candidate]:
    if not recipe.late or parts.late is None or not pool:
        return pool
    packed = [passages.get(candidate.fact_id, ("", b""))[1] for candidate in pool]
    try:
        scores = parts.late.score(query.content, packed)
    except ModelError as error:
        trace.failed("late", str(error))
        return pool
    return [revised(c, late=float(s)) for c, s in zip(pool, scores, strict=True)]


def _cross_stage(
    parts: RecallComponents,
    recipe: Recipe,
    query: Query,
    pool: list[Candidate],
    passages: Passages,
    trace: Trace,
) -> list[Candidate]:
    if recipe.cross_pool <= 0 or not pool:
        return pool
    if parts.reranker is None:
        trace.failed("reranker", "no reranker is configured")
        return pool
    chosen = first_pass(pool, recipe.blend)[: recipe.cross_pool]
    head = [c for c in chosen if c.fact_id in passages]
    views = {c.fact_id: _views(passages[c.fact_id][0], place, recipe.views) for place, c in enumerate(head)}
    # Facts of one turn are the same text in place, and a fact that nothing was said before is alike in both views.
    texts = list(dict.fromkeys(text for seen in views.values() for text in seen))
    try:
        logits = parts.reranker.score(query.content, texts)
    except ModelError as error:
        trace.failed("reranker", str(error))
        return pool
    by_text = {text: float(logit) for text, logit in zip(texts, logits, strict=True)}
    read = {fact_id: tuple(by_text[text] for text in seen) for fact_id, seen in views.items() if seen}
    return [
        revised(c, logits=read[c.fact_id], rerank=sigmoid(max(read[c.fact_id]))) if c.fact_id in read else c
        for c in pool
    ]


def first_pass(pool: Sequence[Candidate], blend: Blend) -> list[Candidate]:
    """The pool in the order in which the cross-encoder gets to read it."""
    strengths = cheap_strengths(pool, blend)
    if not any(strengths):
        return list(pool)
    order = sorted(range(len(pool)), key=lambda i: (-strengths[i], pool[i].fact_id))
    return [pool[i] for i in order]


def _views(passage: str, place: int, specs: Sequence[ViewSpec]) -> list[str]:
    """What is read of the passage of the candidate at this place."""
    wanted = [spec.view for spec in specs if spec.first is None or place < spec.first]
    return [own_passage(passage) if view is View.OWN else full_passage(passage) for view in wanted]
