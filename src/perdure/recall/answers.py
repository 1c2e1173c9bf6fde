"""Answers: statements that tell what the question asks for go before sentences that merely share its words.

Where a question asks for a slot of a subject ("Where does Ann live?"), a candidate that tells it gains, and one that does not
assert anything (a question, a supposition, a plan, fiction) loses. Both are factors on the odds of the score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp, inf

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, Query, Stance
from perdure.recall.score import multiply_odds
from perdure.text.answer_kind import AnswerKind, asked_kind, may_hold
from perdure.text.asked_slot import AskedSlot
from perdure.text.assertion import speaks_of_change, speaks_of_end, speaks_of_new_value
from perdure.text.kin import PERSONS
from perdure.text.names import normal_name
from perdure.text.slot_table import ended_slots, past_relations, slots
from perdure.text.supposition import is_asked, is_supposed
from perdure.text.terms import plain_words
from perdure.text.wordlist import word_set

LEAST_LOGIT = -3.0
"""Of the cross-encoder, for a statement that only its words make an answer about the present, where the newest counts."""
HOPELESS = 5.0
"""How far below the best statement of the subject one may stand for the cross-encoder that only its words make an answer."""
CLOSE, CLOSE_LOGIT = 2.0, 2.0
"""How far below the best statement of the subject another one answers as well, and from which logit on."""
CHANGED, CHANGED_LOGIT = 5.0, 0.0
"""The same, of a statement in words of change."""
AROUND = 4.0
"""How much of the logit that a statement owes to what was said around it is taken back, at most."""
SURE_LOGIT = 4.0
"""From which on the names in a statement are taken for values."""
FIRST_PLACES = 8
"""Where the cross-encoder read nothing, how far down such a statement may stand."""
_LEFT = re.compile(
    r"\b(?:left|leaves|leaving|on leave|resign\w*|goodbye|stolen|is done|are done|finished|no more|instead of|rather than)\b",
    re.IGNORECASE,
)
"""Words of an end beside those that close a value."""
_NEAR_SLOTS = (
    word_set("works_at works_as works_hours works_from"),
    word_set("lives_in address lives_with rent"),
    word_set("studies studies_at learns"),
    word_set("plays practises learns uses_band"),
)
"""Slots of which one statement often tells several."""
_SAME_KIN = tuple(
    map(
        word_set,
        ("mother mum mom mama", "father dad papa", "kids children kid child twins", "grandmother grandma gran nan",
         "grandfather grandpa grandad", "husband hubby", "parents folks"),
    )
)  # fmt: skip
_SAID = re.compile(r"^(?:Asked (?:by \S+ )?\".*?\", )?(?P<name>.{1,40}?) said: ")
_SAID_WITHIN = re.compile(r"(?P<stop>[.!?][\"”]? )[^\".!?]{1,40}? said: (?=[\"“])")
_RELATIVE = re.compile(
    rf"^(?:[^,:]{{0,20}}: )?(?P<owner>[\w-]+|The user)['’]s (?:\w+ )?(?:{'|'.join(sorted(map(re.escape, PERSONS), key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_SOMETHING = re.compile(r"[\"“]?An? \w+ (?:has|had|is|was|will)\b")
_I = re.compile(r"\b(?:I|we)\b", re.IGNORECASE)
_OWN_VIEW = re.compile(r"\b(?:I|my|me|mine|we|our|us)\b|\bI'", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPreference:
    """Factors on the odds of candidates, where a question asks for a slot."""

    stated: float = 1.0
    """Of a statement that was read as the slot."""
    told: float = 1.0
    """Of a statement that tells the slot in its words."""
    named: float = 1.0
    """Of one that holds the noun of a slot that no table has."""
    of_another: float = 1.0
    """Of a statement of the same slot of another subject."""
    elsewhere: float = 1.0
    """Of any other statement that speaks of somebody else."""
    no_value: float = 1.0
    """Of one that holds no value of the kind that is asked for."""
    supposed: float = 1.0
    """Of what asserts nothing."""
    too_late: float = 1.0
    """Of what began after the time that is asked for."""


def prefer_answers(
    pool: Sequence[Candidate],
    query: Query,
    slot: AskedSlot | None,
    preference: AnswerPreference | None,
    depth: int,
) -> list[Candidate]:
    """The pool with its head, whose facts are read, scored by whether it answers; best first."""
    if slot is None or preference is None:
        return list(pool)
    head = [candidate for candidate in pool[:depth] if candidate.fact is not None]
    timely = _timely(head, slot, query)
    late = {one.fact_id for one in head} - {one.fact_id for one in timely}
    stated = [one for one in timely if one.fact is not None and states_value(one.fact, slot)]
    kind = asked_kind(query.text, slot.relations[0])
    best = max((own_logit(one) for one in timely if _is_of_subject(one.fact, slot)), default=-inf)
    nearest = min(best - HOPELESS, max((own_logit(one) - 1.0 for one in stated if one.logits), default=inf))
    values = values_of(head, slot, query)
    was_read = any(candidate.logits for candidate in head)
    for place, candidate in enumerate(head):
        fact = candidate.fact
        if fact is None:
            continue
        if candidate.own_logit is not None and candidate.logits:
            excess = max(candidate.logits) - max(candidate.own_logit, max(candidate.logits) - AROUND)
            if excess > 0.0:
                multiply_odds(candidate, "around", exp(-0.7 * excess))
        if candidate.fact_id in late:
            multiply_odds(candidate, "late", preference.too_late)
            candidate.answers = slot.states(fact.subject, fact.relation) or (
                tells(fact, slot) and not is_supposed(fact.text)
            )
        elif slot.states(fact.subject, fact.relation):
            candidate.answers = True
            if states_value(fact, slot):
                multiply_odds(candidate, "slot", preference.stated)
        elif candidate.states_slot and own_logit(candidate) >= nearest:
            # It took the place of a value of the slot, whatever it was read as.
            candidate.answers = True
            multiply_odds(candidate, "slot", preference.told)
        elif is_asked(fact.text) or is_supposed(fact.text):
            multiply_odds(candidate, "asserted", preference.supposed)
        elif (
            fact.relation in slot.relations
            and _is_name(fact.subject)
            and (any(one.states_slot for one in head) or _is_name(slot.subject))
        ):
            multiply_odds(candidate, "slot", preference.of_another)
        elif tells_of_change(fact, slot, values, is_near=own_logit(candidate) >= nearest):
            candidate.answers = True
            multiply_odds(candidate, "slot", preference.named if slot.is_open else preference.told)
        elif holds_kind(fact, kind, slot) and tells(fact, slot):
            least = min(nearest, LEAST_LOGIT) if query.stance is Stance.NOW else nearest
            candidate.answers = own_logit(candidate) >= least if was_read else place < FIRST_PLACES
            if candidate.answers or not candidate.logits:
                multiply_odds(candidate, "slot", preference.named if slot.is_open else preference.told)
        else:
            candidate.answers = was_read and answers_as_well(candidate, slot, query, best, stated)
            if slot.one and own_logit(candidate) >= max(best, SURE_LOGIT) and _is_of_subject(fact, slot):
                multiply_odds(candidate, "slot", preference.named if slot.is_open else preference.told)
            elif not candidate.answers and not holds_kind(fact, kind, slot):
                multiply_odds(candidate, "value", preference.no_value)
            elif not candidate.answers and speaks_of_another(fact, slot):
                multiply_odds(candidate, "slot", preference.elsewhere)
    return sorted(pool, key=lambda candidate: (-candidate.score, candidate.fact_id))


def answers_as_well(
    candidate: Candidate, slot: AskedSlot, query: Query, best: float, stated: Sequence[Candidate]
) -> bool:
    """Whether a statement of the subject answers nearly as well as the best for the cross-encoder; in words of change, not much worse.

    Where a value was read as the slot, a statement without words of change must be sure, and later.
    """
    fact, logit = candidate.fact, own_logit(candidate)
    if fact is None or (not slot.is_open and states_other_slot(fact, slot)) or not _is_of_subject(fact, slot):
        return False
    if logit >= max(best - CLOSE, SURE_LOGIT if stated else CLOSE_LOGIT):
        return all(_is_later(fact, one.fact) for one in stated)
    if query.stance is not Stance.NOW or logit < max(best - CHANGED, CHANGED_LOGIT):
        return False
    return speaks_of_new_value(fact.text) or _is_over(fact.text)


def _is_later(fact: Fact, other: Fact | None) -> bool:
    begun, earlier = _begun(fact), _begun(other) if other is not None else None
    return begun is not None and earlier is not None and begun > earlier


def _begun(fact: Fact) -> datetime | None:
    return fact.valid_from or fact.mentioned_at or fact.recorded_at


def speaks_of_another(fact: Fact, slot: AskedSlot) -> bool:
    """Whether a statement begins with somebody else's name and does not mention the subject, who did not say it."""
    if slot.is_for_person or slot.is_subject(fact.speaker) or slot.is_subject(fact.subject):
        return False
    words = normal_name(body_of(fact)).split()
    names = {
        normal_name(name).split()[0] for name in (*fact.entities, fact.speaker or "") if normal_name(name)
    }
    return bool(words) and words[0] in names and not set(words) & set(normal_name(slot.subject).split())


def _is_over(text: str) -> bool:
    return speaks_of_end(text) or _LEFT.search(text) is not None


def states_value(fact: Fact, slot: AskedSlot) -> bool:
    """Whether a fact was read as a value of the slot, not as the end of one."""
    return slot.states(fact.subject, fact.relation) and not ended_slots(fact.relation or "")


def _timely(head: Sequence[Candidate], slot: AskedSlot, query: Query) -> list[Candidate]:
    """What did not begin after the asked time; all, when nothing of that answers, since then the time was misread."""
    if query.stance is not Stance.PAST:
        return list(head)
    of_subject = [one for one in head if _is_of_subject(one.fact, slot)]
    least = max(map(own_logit, of_subject), default=-inf) - HOPELESS
    early = [one for one in head if one.fact is not None and not begins_after(one.fact, query)]
    if not any(one in of_subject and own_logit(one) >= least for one in early):
        return list(head)
    # Before a change, the statement of the change itself tells what was.
    return [one for one in head if one in early or (query.before and one.fact and _is_over(one.fact.text))]


def begins_after(fact: Fact, query: Query) -> bool:
    """Whether a statement is of a time after the one that the question asks for."""
    end = query.window.end if query.window is not None else None
    if query.stance is not Stance.PAST or end is None or end >= query.asked_at:
        return False
    begun = fact.valid_from or fact.dated
    return begun is not None and begun >= end and fact.relation not in past_relations()


def own_logit(candidate: Candidate) -> float:
    """How well a statement answers for the cross-encoder: alone, else with what was said around it."""
    if candidate.own_logit is not None:
        return candidate.own_logit
    return max(candidate.logits) if candidate.logits else -inf


def body_of(fact: Fact) -> str:
    """A statement without who said it."""
    prefix = _SAID.match(fact.text)
    return _SAID_WITHIN.sub(r"\g<stop>", fact.text[prefix.end() :] if prefix else fact.text)


def _is_of_subject(fact: Fact | None, slot: AskedSlot) -> bool:
    return fact is not None and is_about(fact, body_of(fact), slot)


def holds_kind(fact: Fact, kind: AnswerKind, slot: AskedSlot) -> bool:
    """Whether a statement may hold a value of the kind that is asked for."""
    return may_hold(kind, body_of(fact), fact.entities, (slot.subject, fact.speaker or ""))


def states_other_slot(fact: Fact, slot: AskedSlot) -> bool:
    """Whether a fact was read as another slot than the asked one."""
    relation = fact.relation or ""
    if relation in (*slot.relations, *slot.also) or any(
        relation in kin and slot.relations[0] in kin for kin in _NEAR_SLOTS
    ):
        return False
    return relation in slots() or bool(ended_slots(relation))


def values_of(head: Sequence[Candidate], slot: AskedSlot, query: Query) -> list[frozenset[str]]:
    """The words of values that were stated: of the slot, and the names in what answers best of all for the cross-encoder."""
    stated = [
        frozenset(plain_words(one.fact.object or ""))
        for one in head
        if one.fact is not None and slot.states(one.fact.subject, one.fact.relation)
    ]
    best = max(head, key=own_logit, default=None)
    if (
        best is None
        or best.fact is None
        or own_logit(best) < SURE_LOGIT
        or not _is_of_subject(best.fact, slot)
    ):
        return stated
    asked = {*plain_words(query.content), *plain_words(slot.subject), *plain_words(best.fact.speaker or "")}
    named = [frozenset(plain_words(name)) for name in (*best.fact.entities, best.fact.object or "")]
    return [*stated, *(words for words in named if words and not words & asked)]


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
    body = body_of(fact)
    return slot.is_told_by(body) and is_about(fact, body, slot)


def tells_of_change(
    fact: Fact, slot: AskedSlot, values: Sequence[frozenset[str]], *, is_near: bool = True
) -> bool:
    """Whether the subject's own words say what became of a value of the slot ("we sold the Mazda and got a Volvo").

    That a value is over counts wherever it is said, another word of change only in a statement near to what is asked for.
    """
    if not slot.is_subject(fact.speaker) and not slot.is_of_thing:
        return False
    body = body_of(fact)
    if not (_is_over(body) or (is_near and speaks_of_change(body))):
        return False
    words = frozenset(plain_words(body)) - frozenset(plain_words(fact.speaker or ""))
    return any(value and value <= words for value in values)


def _with_synonyms(words: Iterable[str]) -> set[str]:
    """The words, with the others for the same relatives ("mum" beside "mother")."""
    own = set(words)
    return own.union(*(kin for kin in _SAME_KIN if kin & own))


def _is_about_relative(body: str, slot: AskedSlot) -> bool:
    """Whether a statement begins with somebody of the subject's ("Ann's colleague Bea ..."), and the slot is no such person."""
    match = _RELATIVE.match(body)
    if match is None or slot.is_told_by(match[0]):
        return False
    # "Ann's mother Bea ..." is about Bea, and about nobody who is not Ann.
    names = normal_name(slot.subject).split()
    return bool(names) and normal_name(match["owner"]).split()[-1:] == names[-1:]


def is_about(fact: Fact, body: str, slot: AskedSlot) -> bool:
    """Whether a statement speaks of the subject: names it, or is its own word and of nobody else."""
    if fact.subject and slot.is_subject(fact.subject):
        return True
    names = normal_name(slot.subject).split()
    words = normal_name(body).split()
    owner, _, owned = slot.subject.rpartition("'s ")
    said = set(plain_words(body))
    if owner and said & _with_synonyms(plain_words(owned)):
        return True
    if slot.is_open and slot.is_subject(fact.speaker) and said & set(slot.relations[0].split("_")):
        return True
    others = {normal_name(name).split()[0] for name in fact.entities if normal_name(name)} - set(names)
    if names and names[-1] in words and not _is_about_relative(body, slot):
        return True
    if words and words[0] in others and not slot.is_for_person and not _I.search(body):
        return False
    if normal_name(fact.speaker) != normal_name(slot.subject) or _SOMETHING.match(body):
        return False
    if _OWN_VIEW.search(body):
        return True
    if _is_about_relative(body, slot):
        return False
    return (not fact.subject and (not words or words[0] not in others)) or (fact.subject or "").startswith(
        "the "
    )
