"""Notes channel: paragraphs of consolidation notes that hold the question's words."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.filter import admits
from perdure.domain.recall import Hit
from perdure.recall.channels.context import ChannelContext

NOTE_SCORE = 0.5


def notes(context: ChannelContext) -> Sequence[Hit]:
    """Matching paragraphs at abmind's fixed score; nothing where no notes are kept."""
    if context.notes is None:
        return []
    found = context.notes.find(context.bank, context.query.words, context.query.window)
    allowed = [fact for fact in found if admits(context.wanted, fact)]
    return [Hit(fact.id, NOTE_SCORE) for fact in allowed[: context.limit]]
