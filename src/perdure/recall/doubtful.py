"""Doubtful candidates are marked, and stand lower."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.recall import Candidate
from perdure.recall.components import RecallRun
from perdure.recall.doubt import doubts
from perdure.recall.score import multiply_odds


def lower_doubtful(run: RecallRun, pool: Sequence[Candidate], factor: float, depth: int) -> list[Candidate]:
    """The pool with the doubtful ones of its head, whose facts are read, marked and scored lower; best first."""
    doubtful = judge_doubts(run, pool[:depth])
    if not doubtful or factor == 1.0:
        return list(pool)
    for candidate in doubtful:
        multiply_odds(candidate, "doubt", factor)
    return sorted(pool, key=lambda candidate: (-candidate.score, candidate.fact_id))


def judge_doubts(run: RecallRun, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Say of each candidate whose fact is read why it is doubtful, unless that is known; returns those that are."""
    unjudged = [one for one in candidates if one.fact is not None and one.doubt is None]
    reasons = doubts(run.reading, [one.fact for one in unjudged if one.fact is not None], run.where)
    for candidate in unjudged:
        candidate.doubt = reasons.get(candidate.fact_id, "")
    return [one for one in candidates if one.doubt]
