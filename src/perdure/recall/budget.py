"""How deep a recall searches: fixed by level, or scaled with the token budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from perdure.domain.recall import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """Level -> recall budget."""

    fixed: Mapping[Budget, int] = field(
        default_factory=lambda: {Budget.LOW: 100, Budget.MID: 300, Budget.HIGH: 1000}
    )
    adaptive: bool = False
    ratios: Mapping[Budget, float] = field(
        default_factory=lambda: {Budget.LOW: 0.025, Budget.MID: 0.075, Budget.HIGH: 0.25}
    )
    least: int = 20
    most: int = 2000

    def size(self, level: Budget, max_tokens: int) -> int:
        """How many facts each channel may bring."""
        if not self.adaptive:
            return self.fixed[level]
        return int(min(max(max_tokens * self.ratios[level], self.least), self.most))


HOPS: Mapping[Budget, int] = {Budget.LOW: 1, Budget.MID: 2, Budget.HIGH: 3}
"""How many steps the graph channel may take."""
