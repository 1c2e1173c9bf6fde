"""Reading: a trained reader tells which of the best candidates answer the question, and with which words."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, Query, sigmoid
from perdure.errors import ModelError, public_message
from perdure.ports.reader import PlacedStatement
from perdure.ports.store import Passage
from perdure.recall.components import RecallRun
from perdure.recall.signals import bounded_odds


def read_answers(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the pool with the readings of its head added to the strengths, best first; unchanged without a reader.

    What was not read counts as the weakest that was.
    """
    request, recipe, reader = run.request, run.request.recipe, run.components.reader
    head = list(pool[: recipe.read])
    if not head:
        return list(pool)
    if reader is None:
        run.trace.failed("reader", "no reader is configured")
        return list(pool)
    run.read_facts(head)
    head = [candidate for candidate in head if candidate.fact is not None]
    passages = run.reading.passages([candidate.fact_id for candidate in head])
    statements = [_place(c.fact, passages.get(c.fact_id)) for c in head if c.fact is not None]
    try:
        readings = reader.answers(query.text, request.asker or query.asker or "", statements)
    except ModelError as error:
        run.trace.failed("reader", public_message(error))
        return list(pool)
    blend, gains = recipe.blend, []
    for candidate, statement, reading in zip(head, statements, readings, strict=True):
        candidate.answers, candidate.rerank = reading.answers, sigmoid(reading.relevance)
        candidate.before = statement.before
        candidate.span = statement.text[slice(*reading.span)]
        gains.append(blend.answers * bounded_odds(reading.answers) + blend.relevance * reading.relevance)
    weakest = min(gains, default=0.0)
    gain_of = {candidate.fact_id: gain for candidate, gain in zip(head, gains, strict=True)}
    for candidate in pool:
        candidate.set_strength((candidate.strength or 0.0) + gain_of.get(candidate.fact_id, weakest))
    return sorted(pool, key=lambda c: (-(c.strength or 0.0), c.fact_id))


def _place(fact: Fact, passage: Passage | None) -> PlacedStatement:
    return PlacedStatement.of(fact, passage.in_context if passage is not None else "")
