"""Changes that no pattern tells: two statements that a trained model reads as values of one slot.

The model says which slot each sentence states, how the later one is meant and of whom both speak. It is a second opinion,
for statements that closed nothing by their wording; words decide whether it may be followed: the same value, one beside
others, or another thing of the same kind ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.fact import INSTRUCTION, PLANNED, Fact, FactType
from perdure.ports.embedder import Vector
from perdure.ports.statements import (
    BEGINS,
    CORRECTS,
    ENDS,
    HOLDS,
    NO_SLOT,
    StatementClassifier,
    StatementReading,
)
from perdure.retain.judged_changes import Judged, is_slot
from perdure.retain.replacement import (
    SLOTS_OF_PEOPLE,
    WORDED_SLOTS,
    agreement,
    pair_features,
    replacement_probability,
    shared_slot,
)
from perdure.retain.slot_match import same_value
from perdure.retain.statement_words import Wording, kin_subject, other_of_kind, wording_of
from perdure.text.assertion import takes_effect
from perdure.text.sentence import is_readable
from perdure.text.voice import voice_of
from perdure.text.wording_sentence import is_said_as_fact
from perdure.text.wordings import LANGUAGES, wordings

LONGEST_STATEMENT = 200
"""Characters of a sentence that is read."""
NO_SLOT_BELOW = 0.7
"""Probability of stating nothing from which a sentence is left alone."""
STANDS_OUT_BY = 1.1
"""How many times likelier the best candidate is than the next one with another value."""
NEAREST = 8
"""Candidates that are read, those with the nearest vectors first."""
_ADDS = re.compile(
    r"""\b(?:also|another|second|third|too|as\s+well|besides|in\s+addition|alongside|both|auch|noch\s+ein\w*|zus[äa]tzlich|außerdem|zweite\w*|weitere\w*|beide\w*
    |también|además|otr[oa]s?|segund[oa]|amb[oa]s|aussi|en\s+plus|un[e]?\s+autre|deuxi[èe]me|second[e]?|également|les\s+deux)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DENIES = re.compile(
    r"\b(?:no\s+(?:me|se|nos|te|he|ha|hemos|han|es|soy|estoy)\b|nicht\b(?!\s+mehr)|kein\w*\b(?!\s+\w+\s+mehr)|n['’e]\s?[^.,;]{1,20}\s+pas\b)",
    re.IGNORECASE,
)
"""A denial in German, Spanish or French; what is no longer so is not one."""
_NO_LONGER = re.compile(r"\bya\s+no\b", re.IGNORECASE)
_ADDRESSED = re.compile(
    r"\b(?:you|your|yours|you're|du|dein\w*|dich|dir|tu|tus|tuyo|te|ton|ta|tes|toi|vous|votre|usted)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i’m|i’ve|my|me|mine|we|we're|we've|our|us|ich|mein\w*|mir|mich|wir|unser\w*|uns|yo|mi|mis|me|nos|nuestr\w+"
    r"|je|j['’]\w+|mon|ma|mes|moi|nous|notre|nos)\b",
    re.IGNORECASE,
)
CLOSES_AT = 0.8
"""Probability of taking the other's place from which a statement does."""
CLOSES_DRAWN_AT = 0.7
"""The same where a value was drawn from the older sentence, which then surely states one."""
STATE_AT = 0.4
"""Probabilities from which an older sentence, from which no value was drawn, says what is so of a slot."""
AGREES_DRAWN_AT, AGREES_AT, SURELY_AGREES_AT = 0.03, 0.12, 0.3
"""Probability that two statements are of one slot: where the older gave a value, where it did not, where they share no word."""
REAL_AT = 0.5
"""Probability of saying what is so from which a sentence is looked at."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence with the facts that were drawn from it, and how it reads."""

    text: str
    facts: tuple[Fact, ...]
    reading: StatementReading
    wording: Wording


def _statement(text: str, facts: tuple[Fact, ...], reading: StatementReading) -> _Statement:
    voice = voice_of(facts[0].speaker)
    objects = [fact.object for fact in facts if fact.object]
    name = voice.name if voice is not None else ""
    return _Statement(text, facts, reading, wording_of(text, facts[0].language, name, objects))


def telling_change(facts: Sequence[Fact], classifier: StatementClassifier) -> list[Fact]:
    """The facts (of `may_tell_change`) whose sentence says that something changed, one per sentence."""
    sentences = _by_sentence(facts)
    readings = classifier.classify(list(sentences))
    statements = [
        _statement(text, own, reading)
        for (text, own), reading in zip(sentences.items(), readings, strict=True)
    ]
    return [_teller(statement) for statement in statements if _tells_change(statement)]


def learned_changes(
    fact: Fact,
    old: Sequence[Fact],
    vectors: Mapping[str, Vector],
    classifier: StatementClassifier,
) -> Iterator[Judged]:
    """The older facts of the same speaker that a new one (of `telling_change`) ends; `vectors` by fact id."""
    earlier = _by_sentence([other for other in old if _is_before(other, fact)])
    nearest = _nearest(fact, earlier, vectors)
    text = fact.source_text or fact.text
    reading, *readings = classifier.classify([text, *nearest])
    statement = _statement(text, (fact,), reading)
    candidates = [
        _statement(other, earlier[other], reading) for other, reading in zip(nearest, readings, strict=True)
    ]
    ended = _best(statement, candidates)
    if ended is not None:
        yield from (Judged(other, fact) for other in ended.facts)


def may_tell_change(fact: Fact) -> bool:
    """Whether a fact is a person's own short statement; cheap, before anything is read."""
    text = fact.source_text or fact.text
    return (
        INSTRUCTION not in fact.flags
        and fact.type is not FactType.EXPERIENCE
        and bool(fact.speaker)
        and len(text) <= LONGEST_STATEMENT
        and not text.rstrip().endswith("?")
        and _ADDS.search(text) is None
        and not _is_of_addressee(text)
        and not (fact.language in LANGUAGES and (_denies(text) or not _is_said_as_fact(text, fact.language)))
    )


def _is_said_as_fact(text: str, language: str) -> bool:
    return is_readable(text) and is_said_as_fact(text, wordings(language))


def _denies(text: str) -> bool:
    return _DENIES.search(_NO_LONGER.sub("", text)) is not None


def _is_of_addressee(text: str) -> bool:
    """Whether a sentence speaks of whom it is said to, and not of the speaker."""
    return _ADDRESSED.search(text) is not None and _FIRST_PERSON.search(text) is None


def _by_sentence(facts: Sequence[Fact]) -> dict[str, tuple[Fact, ...]]:
    sentences: dict[str, tuple[Fact, ...]] = {}
    for fact in facts:
        text = fact.source_text or fact.text
        sentences[text] = (*sentences.get(text, ()), fact)
    return sentences


def _tells_change(statement: _Statement) -> bool:
    """Whether a sentence may say that a value became another one, or is over."""
    aspects = statement.reading.aspects
    real = aspects[BEGINS] + aspects[ENDS] + aspects[CORRECTS] + aspects[HOLDS]
    slot = max(statement.reading.slots, key=statement.reading.slots.__getitem__)
    is_none = statement.reading.slots[NO_SLOT] >= NO_SLOT_BELOW
    planned = any(PLANNED in fact.flags for fact in statement.facts) and not takes_effect(statement.text)
    return real >= REAL_AT and not is_none and (not planned or slot == "appointment")


def _is_before(other: Fact, fact: Fact) -> bool:
    """Whether the other was said earlier; in one turn by its place."""
    if other.mentioned_at is None or fact.mentioned_at is None or INSTRUCTION in other.flags:
        return False
    same_turn = other.chunk_id == fact.chunk_id and other.mentioned_at == fact.mentioned_at
    return other.mentioned_at < fact.mentioned_at or (same_turn and other.ordinal < fact.ordinal)


def _nearest(fact: Fact, sentences: Mapping[str, Sequence[Fact]], vectors: Mapping[str, Vector]) -> list[str]:
    """The sentences of the speaker that may state something, those whose facts have the nearest vectors first."""
    own = vectors.get(fact.id)

    def nearness(text: str) -> float:
        near = [vectors[other.id] for other in sentences[text] if other.id in vectors]
        return max((float(own @ vector) for vector in near), default=-1.0) if own is not None else 0.0

    readable = [text for text in sentences if len(text) <= LONGEST_STATEMENT and not _is_of_addressee(text)]
    return sorted(readable, key=nearness, reverse=True)[:NEAREST]


def _best(statement: _Statement, candidates: Sequence[_Statement]) -> _Statement | None:
    """The one candidate that the statement ends, if it stands out."""
    passing = sorted(
        (
            (probability(statement, other), number)
            for number, other in enumerate(candidates)
            if may_end(statement, other)
        ),
        reverse=True,
    )
    if not passing:
        return None
    (score, number), *others = passing
    best = candidates[number]
    rivals = [rival for rival, other in others if not _says_same(best, candidates[other])]
    return best if not rivals or score >= STANDS_OUT_BY * rivals[0] else None


def may_end(statement: _Statement, other: _Statement) -> bool:
    """Whether readings and words say that the statement ends the other."""
    if _says_same(statement, other) or other_of_kind(statement.text, other.text):
        return False
    if _of_other_kin(statement, other) or not _is_state(other) or not _is_one_slot(statement, other):
        return False
    if not _has_values(statement, other):
        return False
    return probability(statement, other) >= (CLOSES_DRAWN_AT if _has_drawn_value(other) else CLOSES_AT)


def _is_state(other: _Statement) -> bool:
    """Whether the older sentence says what is so: a value was drawn from it, or it reads as one."""
    if _has_drawn_value(other):
        return True
    aspects, slots = other.reading.aspects, other.reading.slots
    sure = max(share for slot, share in slots.items() if slot != NO_SLOT)
    return aspects[HOLDS] + aspects[BEGINS] + aspects[CORRECTS] >= STATE_AT and sure >= STATE_AT


def _is_one_slot(statement: _Statement, other: _Statement) -> bool:
    """Whether the readings agree on a slot: surely where the two share no word and no value was drawn."""
    agreed = agreement(statement.reading, other.reading)
    if statement.wording.words & other.wording.value_words:
        return agreed >= (AGREES_DRAWN_AT if _has_drawn_value(other) else AGREES_AT)
    if statement.reading.slots[NO_SLOT] >= max(statement.reading.slots.values()):
        return False
    shares_noun = bool(statement.wording.nouns & other.wording.nouns)
    if _has_drawn_value(other):
        return agreed >= (AGREES_DRAWN_AT if shares_noun else AGREES_AT)
    return agreed >= (AGREES_AT if shares_noun else SURELY_AGREES_AT)


def _has_values(statement: _Statement, other: _Statement) -> bool:
    """Whether both may give a value: a name, a number, a drawn one, or a word where the slot's values are words."""
    if (
        shared_slot(statement.reading, other.reading) in WORDED_SLOTS
        or statement.wording.words & other.wording.value_words
    ):
        return True
    fresh = statement.wording.values - other.wording.values or any(fact.object for fact in statement.facts)
    return bool(fresh) and bool(other.wording.value_words)


def _of_other_kin(statement: _Statement, other: _Statement) -> bool:
    """Whether one speaks of somebody's kin or friend and the other does not name them; values may be such people."""
    kin, older = kin_subject(statement.text), kin_subject(other.text)
    if kin == older or shared_slot(statement.reading, other.reading) in SLOTS_OF_PEOPLE:
        return False
    return (bool(kin) and kin not in other.wording.words) or (
        bool(older) and not (other.wording.words - {older}) & statement.wording.value_words
    )


def probability(statement: _Statement, other: _Statement) -> float:
    """How likely the statement takes the other's place."""
    return replacement_probability(
        pair_features(statement.reading, statement.wording, other.reading, other.wording)
    )


def _has_drawn_value(statement: _Statement) -> bool:
    return any(map(_is_value, statement.facts))


def _is_value(fact: Fact) -> bool:
    return bool(fact.object and fact.relation and is_slot(fact.relation))


def _says_same(first: _Statement, second: _Statement) -> bool:
    """Whether two sentences give the same value: the same objects, or no name or number of the one is new to the other."""
    objects = [
        (one.object, other.object)
        for one in first.facts
        for other in second.facts
        if one.object and other.object and one.relation == other.relation
    ]
    if objects:
        return any(same_value(left, right) for left, right in objects)
    left, right = first.wording.values, second.wording.values
    return bool(left) and left <= right


def _teller(statement: _Statement) -> Fact:
    """The fact that stands for what the sentence says: the one with a value, else the first."""
    return next((fact for fact in statement.facts if fact.object), statement.facts[0])
