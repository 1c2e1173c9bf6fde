"""Succession: among the best candidates, a statement that a later one ends or corrects goes behind it.

What was not noticed when it was written is judged when it is asked for: the pairs are few, and both are about the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, Query
from perdure.errors import ModelError, public_message
from perdure.ports.reader import PlacedStatement
from perdure.recall.components import RecallRun
from perdure.recall.current import said_at

CLOSES = 0.4
"""Probability from which on a later statement counts as ending or correcting an earlier one."""
LEAST_ANSWER = 0.1
"""Probability of answering that the later statement needs, so that what it says instead matters for the question."""


def order_successions(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the pool with the statements that later ones end behind these, marked as earlier.

    Questions about the past keep their order, and without a reader nothing changes.
    """
    ordered = list(pool)
    reader, compared = run.components.reader, run.request.recipe.compare
    head = [candidate for candidate in ordered[:compared] if candidate.fact is not None]
    if reader is None or len(head) < 2 or query.is_past or run.where.as_of.valid is not None:
        return ordered
    pairs = [
        (earlier, later)
        for earlier, later in permutations(head, 2)
        if said_at(earlier) < said_at(later)
        and (later.answers or 0.0) >= LEAST_ANSWER
        and _is_foreign(earlier) >= _is_foreign(later)
    ]
    if not pairs:
        return ordered
    try:
        readings = reader.effects([(_place(earlier), _place(later)) for earlier, later in pairs])
    except ModelError as error:
        run.trace.failed("reader", public_message(error))
        return ordered
    for (earlier, later), reading in zip(pairs, readings, strict=True):
        if reading.closes >= CLOSES:
            earlier.is_earlier = True
            _put_behind(ordered, earlier, later)
    return ordered


def _put_behind(ordered: list[Candidate], earlier: Candidate, later: Candidate) -> None:
    """Move the earlier candidate right behind the later one if it is before it; the places keep their scores."""
    first, last = ordered.index(earlier), ordered.index(later)
    if first > last:
        return
    scores = [candidate.score for candidate in ordered[first : last + 1]]
    moved = [*ordered[first + 1 : last + 1], earlier]
    for candidate, score in zip(moved, scores, strict=True):
        if score != candidate.score:
            candidate.boosts["succession"] = score / candidate.score if candidate.score else 1.0
        candidate.score = score
    ordered[first : last + 1] = moved


def _is_foreign(candidate: Candidate) -> bool:
    """Return whether a tool or a web page says it, which ends nothing that others said."""
    return candidate.fact is not None and candidate.fact.is_foreign


def _place(candidate: Candidate) -> PlacedStatement:
    fact = candidate.fact
    assert isinstance(fact, Fact)
    return replace(PlacedStatement.of(fact), before=candidate.before)
