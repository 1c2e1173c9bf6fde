"""Questions for a time alone: what lies in the window is the answer, in the order of time, and nothing is searched for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from perdure.domain.fact import Fact, ranking_fields
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate, Query
from perdure.domain.time import Window
from perdure.ports.store import Order, Selection
from perdure.recall.blend import relevance_by_rank
from perdure.recall.components import RecallRun
from perdure.text.terms import plain_words

MOST_FACTS = 2_000
"""Facts that are looked at for a window."""
DATED_ELSEWHERE = 500
"""Facts dated before and after the window, among which those are looked for that were said in it."""
_LEAST_WORDS = 3
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


def window_facts(run: RecallRun, query: Query) -> list[Candidate]:
    """The facts of the window as candidates: the most important that fit the budget, then the rest, both in the order of time.

    A question for what was told takes what was said in the window; any other one what happened in it, then what was only
    said in it.
    """
    window = query.window or Window()
    during = Selection(where=run.where.changed(during=window), order=Order.EARLIEST_DATED, limit=MOST_FACTS)
    happened = run.reading.browse(during).facts
    said = _said_in(run, window, happened)
    first = said if query.asks_for_told else happened
    chosen = {fact.id for fact in first}
    second = [] if query.asks_for_told else [fact for fact in said if fact.id not in chosen]
    ordered = [*_fitting_first(run, first, query), *sorted(second, key=_said_order)]
    candidates = [Candidate(fact_id=fact.id, fact=fact, fields=ranking_fields(fact)) for fact in ordered]
    for place, candidate in enumerate(candidates):
        candidate.relevance = candidate.score = relevance_by_rank(place, len(candidates))
    return candidates


def importance(fact: Fact) -> int:
    """Return how much a fact says on its own: one with names or a relation more than small talk."""
    return (
        2 * bool(fact.subject and fact.relation and fact.object)
        + bool(fact.entities)
        + (len(plain_words(fact.text)) >= _LEAST_WORDS)
    )


def _said_in(run: RecallRun, window: Window, happened: Iterable[Fact]) -> list[Fact]:
    """What was said in the window, whenever it happened: in its conversations, and what is dated before and after it, the nearest first."""
    documents = frozenset(
        fact.document_id for fact in happened if fact.document_id and _is_said(fact, window)
    )
    selections = [
        Selection(where=_of_documents(run.where, documents), order=Order.EARLIEST_DATED, limit=MOST_FACTS)
    ]
    if window.start is not None:
        before = Window(None, window.start)
        selections.append(
            Selection(where=run.where, dated=before, order=Order.LATEST_DATED, limit=DATED_ELSEWHERE)
        )
    if window.end is not None:
        after = Window(window.end, None)
        selections.append(
            Selection(where=run.where, dated=after, order=Order.EARLIEST_DATED, limit=DATED_ELSEWHERE)
        )
    listed = (fact for selection in selections for fact in run.reading.browse(selection).facts)
    facts = {fact.id: fact for fact in (*happened, *listed) if _is_said(fact, window)}
    return list(facts.values())


def _of_documents(where: Filter, documents: frozenset[str]) -> Filter:
    allowed = where.document_ids
    return where.changed(document_ids=documents if allowed is None else documents & allowed)


def _is_said(fact: Fact, window: Window) -> bool:
    return window.overlaps(fact.mentioned_at, fact.mentioned_at)


def _fitting_first(run: RecallRun, facts: Sequence[Fact], query: Query) -> list[Fact]:
    """The facts in the order of time, behind those of them that fit the budget when the most important are taken first."""
    in_time = sorted(facts, key=_said_order if query.asks_for_told else _time_order)
    chosen: set[str] = set()
    left = run.request.max_tokens
    for fact in sorted(in_time, key=importance, reverse=True):
        left -= run.components.tokens.count(fact.text)
        if left < 0 or (run.limit is not None and len(chosen) >= run.limit):
            break
        chosen.add(fact.id)
    return sorted(in_time, key=lambda fact: fact.id not in chosen)


def _time_order(fact: Fact) -> tuple[datetime, datetime, int]:
    return fact.dated or _START_OF_TIME, fact.mentioned_at or _START_OF_TIME, fact.ordinal


def _said_order(fact: Fact) -> tuple[datetime, int]:
    return fact.mentioned_at or _START_OF_TIME, fact.ordinal
