"""The multiplicative boosts: recency, nearness to the asked time, and proof."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import log

from perdure.domain.fact import FactType
from perdure.domain.ranking import RankingFields
from perdure.domain.time import Window

_DAY = timedelta(days=1)
NEUTRAL = 0.5


def boost(signal: float, alpha: float) -> float:
    """1 at the neutral signal 0.5, at most alpha/2 above or below."""
    return 1.0 + alpha * (signal - NEUTRAL)


def recency(dated: datetime | None, now: datetime) -> float:
    """1 today, falling by 1/365 a day to 0.1; undated is neutral."""
    if dated is None:
        return NEUTRAL
    days = max((now - dated) / _DAY, 0.0)
    return min(max(1.0 - days / 365.0, 0.1), 1.0)


def temporal_proximity(dated: datetime | None, window: Window | None) -> float:
    """1 at the window's centre, 0 at its edges and beyond; neutral without a window or a date.

    An open window has no centre: what lies inside is neutral-plus, outside 0.
    """
    if window is None or dated is None:
        return NEUTRAL
    centre, days = window.centre, window.days
    if centre is None:
        return NEUTRAL
    if days is None:
        return 1.0 if window.overlaps(dated, dated) else 0.0
    distance = abs((dated - centre) / _DAY)
    return 1.0 - min(distance / (days / 2.0), 1.0) if days else float(distance == 0.0)


def proof(outline: RankingFields) -> float:
    """0.5 + ln(n)/10 for observations, neutral for other facts."""
    if outline.type is not FactType.OBSERVATION:
        return NEUTRAL
    return min(max(NEUTRAL + log(outline.proof_count) / 10.0, 0.0), 1.0)
