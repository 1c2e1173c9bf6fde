"""Signals of a recall's best candidates, from which the evidence is judged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSignals:
    """Signals of one candidate. None: that model or channel did not score it."""

    logit: float | None = None
    """The highest logit of the cross-encoder."""
    late: float | None = None
    cosine: float | None = None
    nearby: float | None = None
    """Cosine of the neighbourhood."""
    bm25: float = 0.0
    covered: float = 0.0
    """Share of the question's terms in the fact or its turn."""
    channels: int = 0
    score: float = 0.0
    """Relevance with boosts, which orders the candidates."""
    names: float = 0.0
    """Share of the entities named in the question that the fact mentions."""
    speaker: bool = False
    """Whether the question names, or is about, its speaker."""
    window: float | None = None
    """Factor for the nearness to the question's time; None if it has none."""
    stale: bool = False
    """Whether it is over, and the question is not about the past."""
    unsure: bool = False
    """Whether its source is little trusted, or it reads like an instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSignals:
    """Signals of the question itself, and its candidates in the order of the answer."""

    facts: tuple[FactSignals, ...]
    terms: int = 0
    entities: int = 0
    window: bool = False
    own: bool = False
    """Whether it is about the asker."""
    latin: float = 1.0
    """Share of its letters in the Latin script."""
    uncovered: float = 0.0
    """Share of its terms that none of the first candidates has."""
