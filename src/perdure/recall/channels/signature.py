"""Signature channel: facts whose 256-bit signature is near, no model needed."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import SignatureProbe
from perdure.recall.channels.context import ChannelContext
from perdure.text.signature import signature as sign

FLOOR = 0.65


def signature(context: ChannelContext) -> Sequence[Hit]:
    """Hamming similarity of at least 0.65."""
    probe = SignatureProbe(sign(context.query.content), min_score=FLOOR)
    return context.store.search(context.bank, probe, context.wanted, context.limit)
