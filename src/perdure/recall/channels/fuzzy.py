"""Fuzzy channel: stemmed words first, then words that are spelt alike."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import FuzzyProbe, KeywordProbe
from perdure.recall.channels.context import ChannelContext


def fuzzy(context: ChannelContext) -> Sequence[Hit]:
    """BM25 hits, filled up to the limit by trigram matches of misspelt or partial words."""
    hits: Sequence[Hit] = []
    if context.query.terms:
        stemmed = KeywordProbe(context.query.terms, min_score=context.floors.keyword)
        hits = context.store.search(context.bank, stemmed, context.wanted, context.limit)
    if len(hits) < context.limit and context.query.words:
        seen = {hit.fact_id for hit in hits}
        floor = hits[-1].score if hits else 1.0
        alike = context.store.search(
            context.bank, FuzzyProbe(context.query.words), context.wanted, context.limit
        )
        fresh = [hit for hit in alike if hit.fact_id not in seen]
        best = max((hit.score for hit in fresh), default=1.0) or 1.0
        hits = [*hits, *(Hit(hit.fact_id, floor * hit.score / best) for hit in fresh)]
    return hits[: context.limit]
