"""Keyword channel: BM25 over index terms."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Hit
from perdure.ports.probe import KeywordProbe
from perdure.recall.channels.context import ChannelContext


def keyword(context: ChannelContext) -> Sequence[Hit]:
    """Facts that hold the question's terms, rare ones first."""
    if not context.query.terms:
        return []
    probe = KeywordProbe(context.query.terms, min_score=context.floors.keyword)
    return context.store.search(context.bank, probe, context.wanted, context.limit)
