"""How a fact ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from perdure.domain.fact import Fact


def closed(fact: Fact, retired_at: datetime, valid_to: datetime | None, superseded_by: str | None) -> Fact:
    """The fact ended, never before it began: clocks are set back, and facts change while their end is decided."""
    end = valid_to or fact.valid_to
    return replace(
        fact,
        retired_at=max(retired_at, fact.recorded_at or retired_at),
        valid_to=end and max(end, fact.valid_from or end),
        superseded_by=superseded_by,
    )


def rewritten(stored: Fact, changed: Fact, *, reopens: bool) -> Fact:
    """What is stored of a change: recall statistics stay, and a fact that was closed meanwhile stays closed."""
    kept = replace(
        changed,
        recall_count=stored.recall_count,
        last_recalled_at=stored.last_recalled_at,
        recall_times=stored.recall_times,
    )
    if reopens or stored.retired_at is None or changed.retired_at is not None:
        return kept
    return replace(
        kept, retired_at=stored.retired_at, superseded_by=stored.superseded_by, valid_to=stored.valid_to
    )
