"""Signals: what a recall found out about its best candidates, by which it is judged whether they help."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSignals:
    """What speaks for one candidate. None: that model or channel did not see it."""

    logit: float | None = None
    """The cross-encoder's best."""
    late: float | None = None
    cosine: float | None = None
    nearby: float | None = None
    """Cosine of the neighbourhood."""
    bm25: float = 0.0
    covered: float = 0.0
    """Share of the question's terms in the fact or the turn that it was drawn from."""
    channels: int = 0
    score: float = 0.0
    """Relevance with the boosts, by which the candidates are ordered."""
    names: float = 0.0
    """Share of the entities that the question names which the fact mentions."""
    speaker: bool = False
    """Whether the question names, or is about, who said it."""
    window: float | None = None
    """Factor for the nearness to the time that the question is about; None where it is about none."""
    stale: bool = False
    """Whether it is over, and the question is not about the past."""
    unsure: bool = False
    """Whether it was told with little trust, or reads like an order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSignals:
    """What is seen of the question itself, and its candidates in the order of the answer."""

    facts: tuple[FactSignals, ...]
    terms: int = 0
    entities: int = 0
    window: bool = False
    own: bool = False
    """Whether it is about who asks."""
    latin: float = 1.0
    """Share of the letters that are of the Latin script."""
    uncovered: float = 0.0
    """Share of its terms that none of the first candidates has."""
