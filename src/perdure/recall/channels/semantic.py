"""Semantic channel: facts whose meaning is near the question's."""

from __future__ import annotations

from perdure.domain.recall import Hit
from perdure.ports.probe import SemanticProbe
from perdure.recall.channels.context import ChannelContext

ABMIND_OVERFETCH = 3


def semantic(context: ChannelContext) -> list[Hit]:
    """Cosine, best first."""
    if context.vector is None:
        return []
    probe = SemanticProbe(context.vector, min_score=context.floors.semantic)
    return context.store.search(context.bank, probe, context.wanted, context.limit)


def semantic_floor(context: ChannelContext) -> list[Hit]:
    """abmind's Se: cosine above the floor, three times the limit, for diversity later on."""
    if context.vector is None:
        return []
    floor = max(context.similarity_floor, context.floors.semantic or 0.0)
    probe = SemanticProbe(context.vector, min_score=floor)
    return context.store.search(context.bank, probe, context.wanted, context.limit * ABMIND_OVERFETCH)


def surroundings(context: ChannelContext) -> list[Hit]:
    """Cosine with the facts' context view: found by what was said around them."""
    if context.vector is None:
        return []
    probe = SemanticProbe(context.vector, view="context")
    return context.store.search(context.bank, probe, context.wanted, context.limit)
