"""PageRank channel: facts of the entities nearest to the question's in the entity graph."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import PageRankProbe
from perdure.recall.channels.context import ChannelContext


def pagerank(context: ChannelContext) -> Sequence[Hit]:
    """Personalised PageRank from the question's entities and hints; nothing without one."""
    if not context.query.entities:
        return []
    probe = PageRankProbe(context.query.entities)
    return context.store.search(context.bank, probe, context.wanted, context.limit)
