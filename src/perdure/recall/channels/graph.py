"""Graph channel: facts connected to what the question is about."""

from __future__ import annotations

from perdure.domain.recall import Hit
from perdure.ports.probe import GraphProbe, SemanticProbe
from perdure.recall.channels.context import ChannelContext

SEEDS = 20
SEED_FLOOR = 0.3


def graph(context: ChannelContext) -> list[Hit]:
    """Link expansion from the question's entities and its best semantic hits; more hops with more budget."""
    seeds: dict[str, float] = {}
    if context.vector is not None:
        probe = SemanticProbe(context.vector, min_score=SEED_FLOOR)
        nearest = context.store.search(context.bank, probe, context.wanted, SEEDS)
        seeds = {hit.fact_id: min(max(hit.score, 0.0), 1.0) for hit in nearest}
    if not seeds and not context.query.entities:
        return []
    expansion = GraphProbe(
        facts=seeds, entities=context.query.entities, hops=context.hops, breadth=context.limit
    )
    return context.store.search(context.bank, expansion, context.wanted, context.limit)
