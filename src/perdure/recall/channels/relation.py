"""Relation channel: stated relations of the first entity that the question names."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import RelationProbe
from perdure.recall.channels.context import ChannelContext

EDGE_SCORE = 0.6


def relation(context: ChannelContext) -> Sequence[Hit]:
    """The entity's edges, `alice -[works_with]-> bob`, each at abmind's fixed score."""
    if not context.query.entities:
        return []
    first = next(iter(context.query.entities))
    hits = context.store.search(context.bank, RelationProbe({first: 1.0}), context.wanted, context.limit)
    return [Hit(hit.fact_id, EDGE_SCORE) for hit in hits]
