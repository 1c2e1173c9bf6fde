"""What is current: which statements are over, in which order the values of one thing go, and which contradict each other.

A statement that another one replaced never stands above its successor, unless the question is about a time in which the
earlier one held. The members of such a line keep the places and scores that they have together, and trade them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate, Query
from perdure.domain.time import Window
from perdure.recall.components import RecallRun
from perdure.recall.score import multiply_odds
from perdure.text.relations import is_single_valued

ANSWERS = 0.4
"""Probability from which on a statement counts as an answer."""
HEAD = 30
"""Candidates whose facts are read and compared, the best first."""
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


def is_over(fact: Fact, where: Filter) -> bool:
    """Return whether the fact was true and is no longer, as far as the filter knows."""
    known_at = where.as_of.known
    if fact.valid_to is None:
        return False
    if fact.end_recorded_at is not None:
        return known_at is None or fact.end_recorded_at <= known_at
    return fact.valid_to <= (where.as_of.valid or where.judged_at)


def lower_ended(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the pool with what is over scored lower, best first; unchanged where the question is about the past."""
    factor = run.request.recipe.ended
    if factor is None or query.is_past:
        return list(pool)
    for candidate in pool[:HEAD]:
        if candidate.fact is not None and is_over(candidate.fact, run.where):
            multiply_odds(candidate, "ended", factor)
    return sorted(pool, key=lambda candidate: (-candidate.score, candidate.fact_id))


def order_lines(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the pool with the statements that replaced each other in the order that the question asks for."""
    ordered = list(pool)
    for places in _lines(ordered[:HEAD]):
        members = [ordered[place] for place in places]
        scores = [member.score for member in members]
        members.sort(key=lambda member: _fit(member.fact, run.where, query), reverse=True)
        for place, score, member in zip(places, scores, members, strict=True):
            if score != member.score:
                member.boosts["history"] = score / member.score if member.score else 1.0
            member.score, ordered[place] = score, member
    return ordered


def _lines(head: Sequence[Candidate]) -> Iterator[list[int]]:
    """Yield the places of the candidates that replaced each other, directly or in steps."""
    places = {candidate.fact_id: place for place, candidate in enumerate(head)}
    line_of = {place: [place] for place in places.values()}
    for place, candidate in enumerate(head):
        successor = places.get(candidate.fact.superseded_by or "") if candidate.fact is not None else None
        if successor is not None and line_of[successor] is not line_of[place]:
            line_of[place] += line_of[successor]
            for member in line_of[successor]:
                line_of[member] = line_of[place]
    lines = {id(line): line for line in line_of.values() if len(line) > 1}
    yield from (sorted(line) for line in lines.values())


def _fit(fact: Fact | None, where: Filter, query: Query) -> tuple[float, ...]:
    """Return how well a fact fits the time that the question is about; the highest comes first."""
    if fact is None:
        return (-1.0,)
    begun = _seconds(_begun(fact))
    if query.is_past and query.window is not None:
        return (*held_during(fact, query.window, query.asked_at), begun, fact.ordinal)
    return (not is_over(fact, where), begun, fact.ordinal)


def own_words_first(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> list[Candidate]:
    """Return the pool with what tools and web pages say about the user behind the rest of its head."""
    head = pool[:HEAD]
    ordered = sorted(head, key=lambda candidate: is_hearsay(candidate.fact, query, run.where))
    scores = [candidate.score for candidate in head]
    for score, candidate in zip(scores, ordered, strict=True):
        if score != candidate.score:
            candidate.boosts["origin"] = score / candidate.score if candidate.score else 1.0
        candidate.score = score
    return [*ordered, *pool[HEAD:]]


def is_hearsay(fact: Fact | None, query: Query, where: Filter) -> bool:
    """Return whether a tool or a web page says something of a user who was asked about, and no origin was asked for."""
    return query.about_user and where.origins is None and fact is not None and fact.is_foreign


def said_at(candidate: Candidate) -> tuple[datetime, int, datetime]:
    """Return when a statement was said; of one day the place in the document decides, then the time of recording."""
    fact = candidate.fact
    if fact is None:
        return _START_OF_TIME, 0, _START_OF_TIME
    return fact.mentioned_at or _START_OF_TIME, fact.ordinal, fact.recorded_at or _START_OF_TIME


def held_during(fact: Fact, window: Window, now: datetime) -> tuple[float, float]:
    """Return (seconds of the window in which a fact held, minus the seconds from the window to when it held).

    Of a window without a beginning ("before Lisbon") what began last before its end counts.
    """
    begun, end = _begun(fact), fact.valid_to or now
    if window.start is None:
        last = window.end or now
        return (_seconds(begun), 0.0) if begun < last else (-1.0, -_seconds(begun))
    opens, closes = window.start, window.end or max(now, window.start)
    held = (min(end, closes) - max(begun, opens)).total_seconds()
    return (held, 0.0) if held > 0.0 else (0.0, held)


def conflicts(facts: Sequence[Fact]) -> dict[str, str]:
    """Return fact id -> warning, for facts that give one subject different objects of a single-valued relation."""
    stated: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.subject and fact.relation and fact.object and is_single_valued(fact.relation):
            stated[(fact.subject.casefold(), fact.relation)].append(fact)
    warnings: dict[str, str] = {}
    for (_, relation), same in stated.items():
        objects = {fact.id: fact.object or "" for fact in same}
        for fact_id, own in objects.items():
            others = {other for other in objects.values() if other.casefold() != own.casefold()}
            if others:
                warnings[fact_id] = f"Conflicts with another result: {relation} {', '.join(sorted(others))}"
    return warnings


def _begun(fact: Fact) -> datetime:
    return fact.valid_from or fact.mentioned_at or fact.recorded_at or _START_OF_TIME


def _seconds(moment: datetime) -> float:
    return (moment - _START_OF_TIME).total_seconds()
