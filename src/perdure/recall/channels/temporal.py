"""Temporal channel: facts of the asked time."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import TemporalProbe
from perdure.recall.channels.context import ChannelContext


def temporal(context: ChannelContext) -> Sequence[Hit]:
    """Facts in the question's window, then along links; nothing without a window."""
    if context.query.window is None:
        return []
    probe = TemporalProbe(context.query.window, vector=context.vector)
    return context.store.search(context.bank, probe, context.wanted, context.limit)
