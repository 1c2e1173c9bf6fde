"""Evidence: how strongly what was recalled supports an answer."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Candidate, Evidence

STRONG_AT = 0.9933
WEAK_AT = 0.5
"""Logits 5 and 0 of the default cross-encoder, calibrated on labelled questions (docs/decisions/evidence.md)."""


def evidence_of(candidates: Sequence[Candidate]) -> list[Evidence]:
    """Judged by the cross-encoder alone: the other figures are not comparable between questions.

    What it did not read is weak at best, and nothing when the weakest that it read is nothing. When it read none,
    all is weak.
    """
    weakest = min((c.rerank for c in candidates if c.rerank is not None), default=WEAK_AT)
    unread = Evidence.WEAK if weakest >= WEAK_AT else Evidence.NONE
    return [unread if c.rerank is None else _level(c.rerank) for c in candidates]


def _level(rerank: float) -> Evidence:
    if rerank >= STRONG_AT:
        return Evidence.STRONG
    return Evidence.WEAK if rerank >= WEAK_AT else Evidence.NONE


def overall(found: Sequence[Evidence]) -> Evidence:
    """The strongest there is; none for an empty answer."""
    for level in (Evidence.STRONG, Evidence.WEAK):
        if level in found:
            return level
    return Evidence.NONE
