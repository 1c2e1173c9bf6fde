"""Changes that no pattern tells: two statements that a trained model reads as values of one slot.

The model says which slot each sentence states, how the later one is meant and of whom both speak. It is a second opinion,
for statements that closed nothing by their wording; words decide whether it may be followed: the same value, one beside
others, or another thing of the same kind ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.fact import CORRECTION, INSTRUCTION, PLANNED, Fact, FactType
from perdure.ports.embedder import Vector
from perdure.ports.statements import (
    BEGINS,
    CORRECTS,
    ENDS,
    HOLDS,
    NO_SLOT,
    OTHER,
    SELF,
    WE,
    StatementClassifier,
    StatementReading,
)
from perdure.retain.judged_changes import Judged, is_slot
from perdure.retain.slot_match import same_value
from perdure.retain.statement_words import (
    content_words,
    kin_subject,
    names_and_numbers,
    other_of_kind,
    telling_words,
)
from perdure.text.assertion import is_for_a_while, is_plain_statement, speaks_of_change, takes_effect
from perdure.text.names import normal_name
from perdure.text.sentence import is_readable
from perdure.text.voice import voice_of
from perdure.text.wording_sentence import is_said_as_fact
from perdure.text.wordings import LANGUAGES, wordings

LONGEST_STATEMENT = 200
"""Characters of a sentence that is read."""
STATE_AT = 0.4
"""Probabilities from which an older sentence, from which no value was drawn, says what is so of a slot."""
NO_SLOT_BELOW = 0.7
"""Probability of stating nothing from which a sentence is left alone."""
HOLDS_BELOW = 0.5
"""Below it, a statement that may as well have begun as it holds counts as begun."""
STANDS_OUT_BY = 1.5
"""How many times likelier the best candidate is than the next one with another value."""
NEAREST = 8
"""Candidates that are read, those with the nearest vectors first."""
_OF_THINGS = frozenset(
    "tool appointment owner money favourite secret doctor count status place_of_thing plan_name preference hobby language pet "
    "allergy medication bank device health".split()
)
"""Slots of which somebody has several, told apart by the thing's noun."""
_OF_PEOPLE = frozenset("partner boss doctor housemate pet owner children name marital".split())
"""Slots whose values are often the subject: "Ann runs the team now"."""
_WORDED = frozenset("marital age role diet commute study religion children work_hours allergy health".split())
"""Slots whose values are words as often as names or numbers."""
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


@dataclass(frozen=True, slots=True)
class Bar:
    """How sure the readings must be."""

    agrees: float
    """Probability that two statements are of one slot."""
    changes: float
    """Probability that the later one begins, ends or corrects a value."""
    real: float
    """Probability that what it says is so."""
    subject: float
    """Probability that both speak of the same kind of subject."""


VALUE_NAMED = Bar(agrees=0.018, changes=0.4, real=0.65, subject=0.3)
"""The later statement names the older value."""
NOUN_SHARED = Bar(agrees=0.06, changes=0.5, real=0.7, subject=0.4)
"""Both have a noun in common."""
NOTHING_SHARED = Bar(agrees=0.12, changes=0.5, real=0.7, subject=0.75)
OF_DRAWN_VALUE = {
    VALUE_NAMED: Bar(agrees=0.006, changes=0.4, real=0.55, subject=0.25),
    NOUN_SHARED: Bar(agrees=0.03, changes=0.4, real=0.65, subject=0.35),
    NOTHING_SHARED: Bar(agrees=0.07, changes=0.4, real=0.65, subject=0.7),
}
"""The bars where a value of a slot was drawn from the older sentence, which then surely states one."""
SLOT_SURE = Bar(agrees=0.35, changes=0.4, real=0.55, subject=0.6)
"""The readings leave no doubt that both are of one slot; a value that simply holds now counts as a change."""
WORDED_OTHERWISE = Bar(agrees=0.03, changes=0.7, real=0.8, subject=0.3)
"""Some word makes it doubtful that the statement is a plain one."""
LOWEST = Bar(agrees=0.05, changes=0.0, real=0.6, subject=0.3)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence with the facts that were drawn from it, and how it reads."""

    text: str
    facts: tuple[Fact, ...]
    reading: StatementReading


def telling_change(facts: Sequence[Fact], classifier: StatementClassifier) -> list[Fact]:
    """The facts (of `may_tell_change`) whose sentence says that something changed, one per sentence."""
    sentences = _by_sentence(facts)
    readings = classifier.classify(list(sentences))
    statements = [
        _Statement(text, own, reading)
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
    statement = _Statement(text, (fact,), reading)
    candidates = [
        _Statement(other, earlier[other], reading) for other, reading in zip(nearest, readings, strict=True)
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
        and not is_for_a_while(text)
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
    """Whether a sentence says for sure that a value became another one, or is over."""
    aspects = statement.reading.aspects
    real = aspects[BEGINS] + aspects[ENDS] + aspects[CORRECTS] + aspects[HOLDS]
    slot = max(statement.reading.slots, key=statement.reading.slots.__getitem__)
    is_none = statement.reading.slots[NO_SLOT] >= NO_SLOT_BELOW
    planned = any(PLANNED in fact.flags for fact in statement.facts) and not takes_effect(statement.text)
    if not _is_plain(statement) and real < WORDED_OTHERWISE.real:
        return False
    return real >= LOWEST.real and not is_none and (not planned or slot == "appointment")


def _is_plain(statement: _Statement) -> bool:
    return statement.facts[0].language in LANGUAGES or is_plain_statement(statement.text)


def _is_before(other: Fact, fact: Fact) -> bool:
    """Whether the other was said earlier; in one turn by its place."""
    if other.mentioned_at is None or fact.mentioned_at is None or INSTRUCTION in other.flags:
        return False
    same_turn = other.chunk_id == fact.chunk_id and other.mentioned_at == fact.mentioned_at
    return other.mentioned_at < fact.mentioned_at or (same_turn and other.ordinal < fact.ordinal)


def _nearest(fact: Fact, sentences: Mapping[str, Sequence[Fact]], vectors: Mapping[str, Vector]) -> list[str]:
    """The sentences that gave a value or share a noun, those whose facts have the nearest vectors first."""
    own = vectors.get(fact.id)
    words = content_words(fact.source_text or fact.text)

    def nearness(text: str) -> float:
        near = [vectors[other.id] for other in sentences[text] if other.id in vectors]
        return max((float(own @ vector) for vector in near), default=-1.0) if own is not None else 0.0

    readable = [
        text
        for text, facts in sentences.items()
        if len(text) <= LONGEST_STATEMENT
        and not _is_of_addressee(text)
        and (any(map(_is_value, facts)) or words & content_words(text) or _names_something(text))
    ]
    return sorted(readable, key=nearness, reverse=True)[:NEAREST]


def _names_something(text: str) -> bool:
    """Whether a sentence has a name or number that may be a value."""
    return bool(names_and_numbers(text))


def agreement(first: StatementReading, second: StatementReading) -> float:
    """The probability that two sentences state the same slot."""
    return sum(first.slots[slot] * second.slots[slot] for slot in first.slots if slot != NO_SLOT)


def _best(statement: _Statement, candidates: Sequence[_Statement]) -> _Statement | None:
    """The one candidate that the statement ends, if it stands out."""
    passing = sorted(
        (
            (agreement(statement.reading, other.reading), number)
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
    if not _is_state(other) or other_of_kind(statement.text, other.text) or _of_other_kin(statement, other):
        return False
    bar = _bar(statement, other)
    if not _is_plain(statement) and (
        bar is NOTHING_SHARED or not _reaches(statement, other, WORDED_OTHERWISE)
    ):
        return False
    if bar is NOTHING_SHARED and not _has_drawn_value(other) and not _reaches(statement, other, SLOT_SURE):
        return False
    own = OF_DRAWN_VALUE[bar] if _has_drawn_value(other) else bar
    if own is bar and statement.reading.slots[NO_SLOT] >= max(statement.reading.slots.values()):
        return False
    if not any(_reaches(statement, other, one) for one in (own, SLOT_SURE)):
        return False
    aspects = statement.reading.aspects
    if aspects[ENDS] > aspects[BEGINS] + aspects[CORRECTS]:
        if _has_drawn_value(other) and not _names_drawn_value(statement, other):
            return False
        return bar is VALUE_NAMED or (bar is NOUN_SHARED and not values_in(other))
    if _says_same(statement, other):
        return False
    if bar is NOTHING_SHARED and _shared_slot(statement, other) in _OF_THINGS:
        return False
    return _has_other_value(statement, other)


def _of_other_kin(statement: _Statement, other: _Statement) -> bool:
    """Whether one speaks of somebody's kin or friend and the other does not name them; values may be such people."""
    kin, older = kin_subject(statement.text), kin_subject(other.text)
    if kin == older or _shared_slot(statement, other) in _OF_PEOPLE:
        return False
    said = set(normal_name(other.text).split())
    return (bool(kin) and kin not in said) or (bool(older) and not (said - {older}) & value_words(statement))


def _reaches(statement: _Statement, other: _Statement, bar: Bar) -> bool:
    aspects = statement.reading.aspects
    changes = aspects[BEGINS] + aspects[ENDS] + aspects[CORRECTS]
    real = changes + aspects[HOLDS]
    is_corrected = any(CORRECTION in fact.flags for fact in statement.facts)
    if is_corrected or (
        bar is SLOT_SURE and (aspects[HOLDS] < HOLDS_BELOW or speaks_of_change(statement.text))
    ):
        changes = real
    return (
        changes >= bar.changes
        and real >= bar.real
        and agreement(statement.reading, other.reading) >= bar.agrees
        and _same_subject(statement, other, bar.subject)
    )


def _bar(statement: _Statement, other: _Statement) -> Bar:
    spoken = set(normal_name(statement.text).split())
    if spoken & (value_words(other)):
        return VALUE_NAMED
    return NOUN_SHARED if content_words(statement.text) & content_words(other.text) else NOTHING_SHARED


def value_words(statement: _Statement) -> set[str]:
    """Words of the values that a sentence gives."""
    objects = " ".join(fact.object for fact in statement.facts if fact.object)
    return telling_words(f"{objects} {' '.join(values_in(statement))}")


def _has_other_value(statement: _Statement, other: _Statement) -> bool:
    """Whether the later sentence gives a value of its own, of the older one's form."""
    if _shared_slot(statement, other) in _WORDED:
        return True
    if any(fact.object for fact in statement.facts) and any(fact.object for fact in other.facts):
        return True
    return bool(values_in(statement) - values_in(other)) and bool(values_in(other))


def _is_state(other: _Statement) -> bool:
    """Whether the older sentence says what is so: a value was drawn from it, or it reads as one."""
    if _has_drawn_value(other):
        return True
    aspects = other.reading.aspects
    return aspects[HOLDS] + aspects[CORRECTS] >= STATE_AT and max(other.reading.slots.values()) >= STATE_AT


def _names_drawn_value(statement: _Statement, other: _Statement) -> bool:
    """Whether the later sentence names a value that was drawn from the older one, and not merely something else in it."""
    drawn = telling_words(" ".join(fact.object for fact in other.facts if fact.object and _is_value(fact)))
    return bool(drawn & set(normal_name(statement.text).split()))


def _has_drawn_value(statement: _Statement) -> bool:
    return any(map(_is_value, statement.facts))


def _is_value(fact: Fact) -> bool:
    return bool(fact.object and fact.relation and is_slot(fact.relation))


def _shared_slot(first: _Statement, second: _Statement) -> str:
    """The slot that both sentences most likely state."""
    slots = {
        slot: p * second.reading.slots[slot] for slot, p in first.reading.slots.items() if slot != NO_SLOT
    }
    return max(slots, key=slots.__getitem__)


def _same_subject(first: _Statement, second: _Statement, at: float) -> bool:
    left, right = first.reading.subjects, second.reading.subjects
    own = (left[SELF] + left[WE]) * (right[SELF] + right[WE])
    shared = bool(content_words(first.text) & content_words(second.text))
    not_other = (1 - left[OTHER]) * (1 - right[OTHER])
    kind = left[OTHER] * right[OTHER] + not_other - own
    return own + (kind if shared else 0.0) >= at


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
    left, right = values_in(first), values_in(second)
    return bool(left) and left <= right


def values_in(statement: _Statement) -> set[str]:
    """Names and numbers of a sentence, but for the speaker's."""
    voice = voice_of(statement.facts[0].speaker)
    return names_and_numbers(statement.text, voice.name if voice is not None else "")


def _teller(statement: _Statement) -> Fact:
    """The fact that stands for what the sentence says: the one with a value, else the first."""
    return next((fact for fact in statement.facts if fact.object), statement.facts[0])
