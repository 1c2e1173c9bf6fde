"""Fitting: the best facts, best first, until the token budget is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import Chunk, Fact
from perdure.domain.recall import Candidate
from perdure.domain.revise import revised
from perdure.ports.tokens import Tokens


@dataclass(frozen=True, slots=True)
class BudgetCut:
    """What was taken, with its token counts, and what was left out with the reason."""

    taken: tuple[tuple[Candidate, int], ...]
    left: tuple[Candidate, ...]
    reason: str | None
    tokens: int

    @property
    def cut(self) -> tuple[Candidate, ...]:
        """What was left out, each with the reason; made when asked for, since few callers do."""
        return tuple(revised(candidate, cut=self.reason) for candidate in self.left)


def fit(
    candidates: Sequence[Candidate],
    facts: Mapping[str, Fact],
    tokens: Tokens,
    max_tokens: int,
    considered: int,
    limit: int | None,
) -> BudgetCut:
    """Take best first; the first fact that does not fit ends it, as the order is the promise.

    Facts that are not there are left out.
    """
    taken: list[tuple[Candidate, int]] = []
    used = 0
    for position, candidate in enumerate(candidates):
        reason = None
        size = 0
        if limit is not None and len(taken) >= limit:
            reason = f"beyond the limit of {limit}"
        elif position >= considered:
            reason = f"beyond the {considered} considered"
        else:
            fact = facts.get(candidate.fact_id)
            if fact is None:
                continue  # Erased meanwhile.
            size = tokens.count(fact.text)
            if used + size > max_tokens:
                reason = f"token budget of {max_tokens} used up"
        if reason is not None:
            return BudgetCut(tuple(taken), tuple(candidates[position:]), reason, used)
        taken.append((candidate, size))
        used += size
    return BudgetCut(tuple(taken), (), None, used)


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
