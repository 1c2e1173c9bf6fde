"""Budgets: how deep a recall searches, and how much of what it found fits the tokens asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perdure.domain.fact import Chunk
from perdure.domain.recall import Budget, Candidate
from perdure.ports.tokens import Tokens

HOPS: Mapping[Budget, int] = {Budget.LOW: 1, Budget.MID: 2, Budget.HIGH: 3}
"""How many steps the graph channel may take."""
ASSUMED_TOKENS = 40
"""Assumed tokens per fact; sizes the blocks in which facts are read."""
MIN_BLOCK = 16

FactReader = Callable[[Sequence[Candidate]], None]
"""Fills in `Candidate.fact` where it is missing; facts that were erased meanwhile stay missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """Level -> recall budget: fixed, or adaptive as a share of the tokens asked for (both as in Hindsight)."""

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


@dataclass(frozen=True, slots=True)
class BudgetCut:
    """What was taken, with its token counts, and what was left out."""

    taken: tuple[tuple[Candidate, int], ...]
    left: tuple[Candidate, ...]
    tokens: int


def fit(
    candidates: Sequence[Candidate],
    read_facts: FactReader,
    tokens: Tokens,
    *,
    max_tokens: int,
    considered: int,
    limit: int | None,
) -> BudgetCut:
    """Take the best facts until the token budget is used, reading them block by block.

    Stops at the first fact over budget, so that the result is a prefix of the ranking. Facts that are gone are left out.
    """
    taken: list[tuple[Candidate, int]] = []
    used = unread = 0
    mean = float(ASSUMED_TOKENS)
    for position, candidate in enumerate(candidates):
        if limit is not None and len(taken) >= limit:
            reason = f"beyond the limit of {limit}"
            break
        if position >= considered:
            reason = f"beyond the {considered} considered"
            break
        if position >= unread:
            # As many as should fit, by the mean size of those taken so far.
            block = max(MIN_BLOCK, round((max_tokens - used) / mean))
            unread = min(position + block, considered)
            if limit is not None:
                unread = min(unread, position + limit - len(taken))
            read_facts(candidates[position:unread])
        if candidate.fact is None:
            continue
        size = tokens.count(candidate.fact.text)
        if used + size > max_tokens:
            reason = f"token budget of {max_tokens} used up"
            break
        taken.append((candidate, size))
        used += size
        mean = max(used / len(taken), 1.0)
    else:
        return BudgetCut(tuple(taken), (), used)
    left = tuple(candidates[position:])
    for candidate in left:
        candidate.cut = reason
    return BudgetCut(tuple(taken), left, used)


def fit_chunks(chunks: Sequence[Chunk], tokens: Tokens, max_tokens: int) -> tuple[Chunk, ...]:
    """Chunks in order until their own budget is used; the last one may be cut short."""
    taken: list[Chunk] = []
    left = max_tokens
    for chunk in chunks:
        if left <= 0:
            break
        size = tokens.count(chunk.text)
        fitted = chunk if size <= left else replace(chunk, text=tokens.cut(chunk.text, left), spans=())
        if fitted.text:
            taken.append(fitted)
        left -= size
    return tuple(taken)
