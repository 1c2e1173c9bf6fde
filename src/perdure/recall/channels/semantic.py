"""Semantic channel: facts whose meaning is near the question's."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import SemanticProbe
from perdure.recall.channels.context import ChannelContext

ABMIND_OVERFETCH = 3


def semantic(context: ChannelContext) -> Sequence[Hit]:
    """Cosine, best first."""
    return context.nearest.first(context.limit, context.floors.semantic)


def semantic_floor(context: ChannelContext) -> Sequence[Hit]:
    """abmind's Se: cosine above the floor, three times the limit, for diversity later on."""
    floor = max(context.similarity_floor, context.floors.semantic or 0.0)
    return context.nearest.first(context.limit * ABMIND_OVERFETCH, floor)


def neighbourhood(context: ChannelContext) -> Sequence[Hit]:
    """Cosine with the facts' context view: found by what was said around them."""
    if context.vector is None:
        return []
    probe = SemanticProbe(context.vector, view="context")
    return context.store.search(context.bank, probe, context.wanted, context.limit)
