"""Answers: statements that tell what the question asks for go before sentences that merely share its words.

Where a question asks for a slot of a subject ("Where does Ann live?"), a candidate that tells it gains, and one that does not
assert anything (a question, a supposition, a plan, fiction) loses. Both are factors on the odds of the score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate
from perdure.recall.score import multiply_odds
from perdure.text.asked_slot import AskedSlot
from perdure.text.assertion import speaks_of_change, speaks_of_end
from perdure.text.kin import PERSONS
from perdure.text.names import normal_name
from perdure.text.slot_table import slots
from perdure.text.supposition import is_asked, is_supposed
from perdure.text.terms import plain_words

LEAST_LOGIT = -3.0
"""Of the cross-encoder, for a statement that only its words make an answer."""
FIRST_PLACES = 8
"""Where the cross-encoder read nothing, how far down such a statement may stand."""
_SAID = re.compile(r"^(?:Asked (?:by \S+ )?\".*?\", )?(?P<name>.{1,40}?) said: ")
_RELATIVE = re.compile(
    rf"^(?:[^,:]{{0,20}}: )?(?:[\w-]+|The user)['’]s (?:\w+ )?(?:{'|'.join(sorted(map(re.escape, PERSONS), key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_OWN_VIEW = re.compile(r"\b(?:I|my|me|mine|we|our|us)\b|\bI'", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPreference:
    """Factors on the odds of candidates, where a question asks for a slot."""

    told: float = 1.0
    """Of a statement that tells the slot in its words."""
    named: float = 1.0
    """Of one that holds the noun of a slot that no table has."""
    of_another: float = 1.0
    """Of a statement of the same slot of another subject."""
    supposed: float = 1.0
    """Of what asserts nothing."""


def prefer_answers(
    pool: Sequence[Candidate], slot: AskedSlot | None, preference: AnswerPreference | None, depth: int
) -> list[Candidate]:
    """The pool with its head, whose facts are read, scored by whether it answers; best first."""
    if slot is None or preference is None:
        return list(pool)
    head = [candidate for candidate in pool[:depth] if candidate.fact is not None]
    is_stated = any(candidate.states_slot for candidate in head)
    values = [
        frozenset(plain_words(one.fact.object or ""))
        for one in head
        if one.fact is not None and slot.states(one.fact.subject, one.fact.relation)
    ]
    for candidate in pool[:depth]:
        fact = candidate.fact
        if fact is None:
            continue
        if slot.states(fact.subject, fact.relation):
            candidate.answers = True
        elif is_asked(fact.text) or is_supposed(fact.text):
            multiply_odds(candidate, "asserted", preference.supposed)
        elif (
            fact.relation in slot.relations
            and _is_name(fact.subject)
            and (is_stated or _is_name(slot.subject))
        ):
            multiply_odds(candidate, "slot", preference.of_another)
        elif tells(fact, slot) or tells_of_change(fact, slot, values):
            candidate.answers = True
            multiply_odds(candidate, "slot", preference.named if slot.is_open else preference.told)
    return sorted(pool, key=lambda candidate: (-candidate.score, candidate.fact_id))


def _is_name(subject: str | None) -> bool:
    """Whether a subject is a name, not somebody's ("Ann's mother") and not a thing ("the rent")."""
    return subject is not None and subject[:1].isupper() and "'s " not in subject


def tells(fact: Fact, slot: AskedSlot) -> bool:
    """Whether a fact that was not read so tells the slot of the subject in its words."""
    if (
        fact.relation in slots()
        and fact.relation not in (*slot.relations, *slot.also)
        and slot.is_subject(fact.subject)
    ):
        return False
    prefix = _SAID.match(fact.text)
    body = fact.text[prefix.end() :] if prefix else fact.text
    return slot.is_told_by(body) and is_about(fact, body, slot)


def tells_of_change(fact: Fact, slot: AskedSlot, values: Sequence[frozenset[str]]) -> bool:
    """Whether the subject's own words say what became of a value of the slot ("we sold the Mazda and got a Volvo")."""
    if not slot.is_subject(fact.speaker) or not (speaks_of_change(fact.text) or speaks_of_end(fact.text)):
        return False
    words = frozenset(plain_words(fact.text))
    return any(value and value <= words for value in values)


def _is_about_relative(body: str, slot: AskedSlot) -> bool:
    """Whether a statement begins with somebody of the subject's ("Ann's colleague Bea ..."), and the slot is no such person."""
    match = _RELATIVE.match(body)
    return match is not None and not slot.is_told_by(match[0])


def is_about(fact: Fact, body: str, slot: AskedSlot) -> bool:
    """Whether a statement speaks of the subject: names it, or is its own word and of nobody else."""
    if fact.subject and slot.is_subject(fact.subject):
        return True
    names = normal_name(slot.subject).split()
    words = normal_name(body).split()
    if names and names[-1] in words and not _is_about_relative(body, slot):
        return True
    if normal_name(fact.speaker) != normal_name(slot.subject):
        return False
    if _OWN_VIEW.search(body):
        return True
    if _is_about_relative(body, slot):
        return False
    others = {normal_name(name).split()[0] for name in fact.entities if normal_name(name)}
    return (not fact.subject and (not words or words[0] not in others)) or (fact.subject or "").startswith(
        "the "
    )
