"""Recall, top to bottom: understand -> search -> fuse -> outline -> rerank -> score -> hydrate -> diversify -> fit."""

from __future__ import annotations

from perdure.domain.recall import RecallResult
from perdure.domain.trace import Trace
from perdure.recall.answer import answer
from perdure.recall.diversify import diversify
from perdure.recall.fit import fit
from perdure.recall.hydrate import PoolFacts, hydrate
from perdure.recall.parts import RecallComponents
from perdure.recall.question import understand
from perdure.recall.request import RecallRequest
from perdure.recall.rerank import rerank
from perdure.recall.search import search
from perdure.recall.stages import fuse_hits, score_candidates


def recall(parts: RecallComponents, request: RecallRequest) -> RecallResult:
    """The facts of a bank that matter for a question, best first, within the token budget."""
    trace = Trace()
    budget = parts.budgets.size(request.budget, request.max_tokens)
    limit = request.limit or request.recipe.limit

    with trace.stage("understand"):
        understood = understand(parts, request, trace)
    with trace.stage("search"):
        hits = search(parts, request, understood, trace)
    with trace.stage("fuse"):
        pool = fuse_hits(request.recipe, hits, parts.pool or request.recipe.pool)
    with trace.stage("outline"):
        facts = PoolFacts(parts, request.bank, pool.ids)
    with trace.stage("rerank"):
        candidates = rerank(parts, request, understood.query, pool, facts, trace)
    with trace.stage("score"):
        candidates = score_candidates(parts, request, understood.query, candidates, facts, hits)
    with trace.stage("hydrate"):
        hydrate(facts, candidates, request.max_tokens, limit)
    with trace.stage("diversify"):
        candidates = diversify(candidates, facts, request.recipe.diversity)
    with trace.stage("fit"):
        fitted = fit(candidates, facts, parts.tokens, request.max_tokens, 2 * budget, limit)
    return answer(parts, request, understood.query, fitted, facts, trace)
