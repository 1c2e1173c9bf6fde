"""Graph channel: facts connected to what the question is about."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import GraphProbe
from perdure.recall.channels.context import ChannelContext

SEEDS = 20
SEED_FLOOR = 0.3
EXPANDED = 6
"""Of so many facts that the channel may bring, one spreads on at each further hop."""


def graph(context: ChannelContext) -> Sequence[Hit]:
    """Link expansion from the question's entities and its best semantic hits; more hops with more budget."""
    nearest = context.nearest.first(SEEDS, SEED_FLOOR)
    seeds = {hit.fact_id: min(hit.score, 1.0) for hit in nearest}
    if not seeds and not context.query.entities:
        return []
    breadth = max(1, context.limit // EXPANDED)
    expansion = GraphProbe(facts=seeds, entities=context.query.entities, hops=context.hops, breadth=breadth)
    return context.store.search(context.bank, expansion, context.wanted, context.limit)
