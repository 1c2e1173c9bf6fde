"""Slots: values that one thing had at different times trade places, so that the one asked for stands first among them.

A slot is a group of candidates that replaced each other, state different values of one single-valued relation, or say nearly
the same in nearly the same words. Its members keep the places and scores that they have together: the member that fits the
question's stance to time gets the best of them. Nothing else in the ranking moves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

from perdure.domain.fact import CORRECTION, Fact
from perdure.domain.recall import Candidate, Query, Stance
from perdure.domain.time import Window
from perdure.text.asked_slot import AskedSlot
from perdure.text.names import normal_name
from perdure.text.relation_table import is_single_valued
from perdure.text.slot_table import ended_slots
from perdure.text.terms import plain_words

SLOT_DEPTH = 60
"""Candidates that are looked at, the best first."""
LEAST_SHARED = 4
"""Words that two statements share at least to be the same statement with another value."""
LEAST_CONTENT = 2
"""How many of these say what it is about."""
MOST_DIFFERENT = 2
"""Words in which each of them may differ."""
_WORD = re.compile(r"\w+")
_FOR_EVENT = re.compile(r"\s*(?:when|wann|cuándo|quand)\b", re.IGNORECASE)
_ABOUT_PRESENT = re.compile(
    r"\s*(?:who|what|which|where|how (?:much|many|often|old|do|does|is|are)|do|does|is|are|am)\b",
    re.IGNORECASE,
)
TIED_PLACES = 3
TIED_LOGIT = 3.0
TIED_MARGIN = 1.5
"""Of the cross-encoder, between candidates of which the newer one goes first."""
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)

Key = tuple[float | bool | str, ...]


def order_slots(
    pool: Sequence[Candidate], query: Query, asked: AskedSlot | None = None, at: datetime | None = None
) -> list[Candidate]:
    """The pool with the members of each slot in the order that the question asks for; facts of its head are read.

    What answers the asked slot is one slot. A question for an event ("When did ...?") asks for no value: nothing moves.
    """
    ordered = list(pool)
    head = ordered[:SLOT_DEPTH]
    if asked is None:
        if query.stance is not Stance.NOW and _FOR_EVENT.match(query.text):
            return ordered
        groups = slots(head, query)
        groups += [
            ties for ties in _near_ties(head, query) if not any(set(ties) & set(places) for places in groups)
        ]
    else:
        query = _at_named_time(head, query, asked)
        groups = [_answers(head, query)] if asked.one and _orders_answers(query) else []
    for places in groups:
        members = [ordered[place] for place in places]
        scores = [member.score for member in members]
        best_first = sorted(
            members, key=lambda member: _standing(member, members, query, asked, at), reverse=True
        )
        for place, score, member in zip(places, scores, best_first, strict=True):
            if score != member.score:
                member.boosts["history"] = score / member.score if member.score else 1.0
            ordered[place] = member
        for score, member in zip(scores, best_first, strict=True):
            member.score = score
    return ordered


def _near_ties(head: Sequence[Candidate], query: Query) -> list[list[int]]:
    """The first places, where one speaker answers a question about the present more than once, and nearly as well."""
    if (
        query.stance is not Stance.NOW
        or not _ABOUT_PRESENT.match(query.text)
        or not head
        or not head[0].logits
    ):
        return []
    best = head[0]
    places = [
        place
        for place, candidate in enumerate(head[:TIED_PLACES])
        if candidate.fields.speaker == best.fields.speaker
        and len(candidate.logits) > 1
        and candidate.logits[-1] >= max(TIED_LOGIT, best.logits[-1] - TIED_MARGIN)
    ]
    return [places] if len(places) > 1 else []


def _orders_answers(query: Query) -> bool:
    """Whether the question asks for the value of one time; one that asks for what is or was ("ever") does not."""
    return query.stance is not Stance.ANY or query.window is not None


def _answers(head: Sequence[Candidate], query: Query) -> list[int]:
    """Places of the candidates that answer; of those that only end a value, the ones that end a value of these, now."""
    values = [
        _value(one.fact) for one in head if one.answers and one.fact is not None and not _is_ending(one.fact)
    ]
    return [
        place
        for place, candidate in enumerate(head)
        if candidate.answers
        and not (
            _is_ending(candidate.fact)
            and (query.stance is not Stance.NOW or not _ends_one(candidate.fact, values))
        )
    ]


def _is_ending(fact: Fact | None) -> bool:
    """Whether a fact only says that a value is over, without one of its own."""
    return fact is not None and bool(ended_slots(fact.relation or ""))


def _ends_one(fact: Fact | None, values: Sequence[set[str]]) -> bool:
    """Whether an ending is of one of the values, or of whatever value there was."""
    ended = _value(fact) if fact is not None else set()
    return not ended or any(ended & value for value in values)


def _at_named_time(head: Sequence[Candidate], query: Query, asked: AskedSlot | None) -> Query:
    """The question with the time at which something held that it names beside what it asks for ("my boss at Fjällkraft")."""
    if asked is None or query.window is not None or query.before or query.stance is Stance.NOW:
        return query
    words = set(plain_words(query.content))
    for candidate in head:
        fact = candidate.fact
        if fact is None or fact.relation in asked.relations or not is_single_valued(fact.relation or ""):
            continue
        value = _value(fact)
        if value and value <= words and asked.is_subject(fact.subject) and fact.valid_to is not None:
            return replace(query, window=Window(_begun(fact), fact.valid_to))
    return query


def slots(head: Sequence[Candidate], query: Query) -> list[list[int]]:
    """Places of the candidates that belong together, two or more each."""
    group: dict[int, int] = {place: place for place in range(len(head))}

    def root(place: int) -> int:
        while group[place] != place:
            place = group[place]
        return place

    for same in _alike(head, query):
        first, *others = same
        for other in others:
            group[root(other)] = root(first)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for place in range(len(head)):
        groups[root(place)].append(place)
    return [places for places in groups.values() if len(places) > 1]


def _alike(head: Sequence[Candidate], query: Query) -> Iterable[list[int]]:
    facts = {place: one.fact for place, one in enumerate(head) if one.fact is not None}
    by_key: defaultdict[Hashable, list[int]] = defaultdict(list)
    places = {fact.id: place for place, fact in facts.items()}
    for place, fact in facts.items():
        if fact.subject and fact.relation and fact.object and is_single_valued(fact.relation):
            by_key[normal_name(fact.subject), fact.relation].append(place)
        if fact.superseded_by in places:
            yield [place, places[fact.superseded_by]]
    yield from by_key.values()
    if query.stance is Stance.NOW:
        yield from _near_identical(facts)
    if query.before:
        # What tells of the value that came afterwards steps behind the value before it.
        after = [place for place, fact in facts.items() if _tells_of(fact, query.before)]
        yield from (
            [place, *after] for place, fact in facts.items() if places.get(fact.superseded_by or "") in after
        )


def _near_identical(facts: dict[int, Fact]) -> Iterable[list[int]]:
    """Statements of one speaker that differ in a word or two, which then are the value."""
    words = {place: frozenset(_WORD.findall(fact.text.casefold())) for place, fact in facts.items()}
    for place, other in combinations(facts, 2):
        if facts[place].speaker == facts[other].speaker and _differ_in_a_value(words[place], words[other]):
            yield [place, other]


def _differ_in_a_value(own: frozenset[str], other: frozenset[str]) -> bool:
    shared = own & other
    different = max(len(own), len(other)) - len(shared)
    if len(shared) < LEAST_SHARED or not 0 < different <= MOST_DIFFERENT:
        return False
    return len(plain_words(" ".join(shared))) >= LEAST_CONTENT


def _standing(
    member: Candidate,
    members: Sequence[Candidate],
    query: Query,
    asked: AskedSlot | None,
    at: datetime | None,
) -> Key:
    """How well a member fits the question's stance; the highest comes first."""
    fact = member.fact
    if fact is None:
        return ()
    begun, end = _begun(fact), fact.valid_to
    moment = at or query.asked_at
    over = (
        end is not None and end <= moment
        if at is not None
        else end is not None and (fact.is_ended or end <= moment)
    )
    if query.stance is Stance.NOW:
        if asked is None:
            return not over, float(fact.trust), _is_own_word(fact), _seconds(begun), fact.ordinal
        return (
            not over, float(fact.trust), asked.is_subject(fact.speaker), begun.date().toordinal(), CORRECTION in fact.flags,
            asked.states(fact.subject, fact.relation), _seconds(begun), fact.ordinal,
        )  # fmt: skip
    if asked is not None and query.before:
        followed = _comes_before_named(fact, members, query)
        if followed is not None:
            return followed, _seconds(begun), fact.ordinal
    if query.before:
        fit: Key = _replaced_what_is_named(fact, members, query), not _tells_of(fact, query.before)
    else:
        fit = (query.window is None and _is_named(fact, query),)
    if query.window is not None:
        fit = *fit, *held_during(fact, query.window, query.asked_at)
    asked_state: float = over if query.stance is Stance.PAST else not over
    if asked is not None and query.stance is Stance.PAST:
        asked_state = over + 0.5 * (not over and _is_followed(fact, members))
    if query.earliest:
        return *fit, -_seconds(begun), -fact.ordinal
    return *fit, asked_state, _seconds(end if over and end is not None else begun), fact.ordinal


def _comes_before_named(fact: Fact, members: Sequence[Candidate], query: Query) -> bool | None:
    """Whether a fact began before the value that the question names ("before Lisbon"); None when no member has that value."""
    named = set(plain_words(query.before))
    with_value = [
        other.fact
        for other in members
        if other.fact is not None and named and named <= set(plain_words(other.fact.text))
    ]
    if not with_value:
        return None
    first = min(map(_begun, with_value))
    return all(fact.id != other.id for other in with_value) and _begun(fact) < first


def _is_followed(fact: Fact, members: Sequence[Candidate]) -> bool:
    """Whether a member of a later day tells another value."""
    return any(
        other.fact is not None and _begun(other.fact).date() > _begun(fact).date() for other in members
    )


def held_during(fact: Fact, window: Window, now: datetime) -> tuple[float, float]:
    """(seconds of the window in which a fact held, minus the seconds from the window to when it held).

    Of a window without a beginning ("before Lisbon") what began last before its end counts.
    """
    begun, end = _begun(fact), fact.valid_to or now
    if window.start is None:
        last = window.end or now
        return (_seconds(begun), 0.0) if begun < last else (-1.0, -_seconds(begun))
    opens, closes = window.start, window.end or max(now, window.start)
    held = (min(end, closes) - max(begun, opens)).total_seconds()
    return (held, 0.0) if held > 0.0 else (0.0, held)


def _replaced_what_is_named(fact: Fact, members: Sequence[Candidate], query: Query) -> bool:
    """Whether the value that the question names came after this fact's."""
    return any(
        other.fact is not None and other.fact_id == fact.superseded_by and _tells_of(other.fact, query.before)
        for other in members
    )


def _tells_of(fact: Fact, words: str) -> bool:
    named = set(plain_words(words))
    return bool(named) and named <= set(plain_words(fact.text))


def _is_named(fact: Fact, query: Query) -> bool:
    value = _value(fact)
    return bool(value) and value <= set(plain_words(query.text))


def _value(fact: Fact) -> set[str]:
    return set(plain_words(fact.object or ""))


def _is_own_word(fact: Fact) -> bool:
    return bool(fact.speaker and fact.subject) and normal_name(fact.speaker) == normal_name(
        fact.subject or ""
    )


def _begun(fact: Fact) -> datetime:
    return fact.valid_from or fact.mentioned_at or fact.recorded_at or _START_OF_TIME


def _seconds(moment: datetime) -> float:
    return (moment - _START_OF_TIME).total_seconds()
