"""Changes that no wording of the table tells: the slot as a question that the new statement answers otherwise.

A statement of change names the old value beside another one, or a cross-encoder says that it answers the question whose
answer the stored value was. Words decide the rest: it must be plainly said, of the same subject, with a value of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

import numpy as np

from perdure.domain.fact import INSTRUCTION, PLANNED, Fact
from perdure.ports.embedder import Vector
from perdure.ports.reranker import Reranker
from perdure.retain.slot_match import mentions_value, place_of, same_value
from perdure.retain.statement_words import kin_subject
from perdure.text.assertion import (
    is_for_a_while,
    is_plain_statement,
    parts_of,
    speaks_of_change,
    speaks_of_end,
    speaks_of_new_value,
)
from perdure.text.clauses import UNREAL_SENTENCE, clauses, expand
from perdure.text.ended_values import ended_values
from perdure.text.habits import habit_of
from perdure.text.kin import PERSONS
from perdure.text.names import normal_name
from perdure.text.relation_table import is_single_valued
from perdure.text.sentence import is_readable
from perdure.text.slot_table import ALSO, ended_slots, nouns_of, question_of, slots
from perdure.text.value_patterns import MAIL, MONEY, PHONE, WHEN
from perdure.text.voice import voice_of
from perdure.text.wordings import LANGUAGES
from perdure.text.wordlist import word_set

ANSWERS_AT = 2.0
"""Logit from which a statement answers a slot's question."""
SURELY_ANSWERS_AT = 5.0
"""The same where the kind of value has no form of its own by which the new one could be seen."""
NEAR_AT = 0.80
"""Cosine of two statements from which they may be about the same."""
QUESTIONS = 3
"""Slots that are asked about per statement, those with the nearest values first."""
_NUMBER = re.compile(r"\d[\d.,:]*")
_NUMERIC = frozenset({"number", "money", "date", "time", "phone", "mail"})
_NAMED = frozenset({"place", "organisation", "person", "name"})


@dataclass(frozen=True, slots=True)
class Judged:
    """A stored fact that a new one ends."""

    old: Fact
    new: Fact


def judged_changes(
    new: Sequence[Fact],
    old: Sequence[Fact],
    vectors: Mapping[str, Vector],
    reranker: Reranker | None,
) -> Iterator[Judged]:
    """The stored values that new statements (of `changing`) end; `vectors` by fact id."""
    for fact in new:
        candidates = [other for other in old if _may_be_changed(fact, other)]
        named = [
            other
            for other in candidates
            if _names_both(fact, other) or _names_end(fact, other) or _names_slot(fact, other)
        ]
        if len({normal_name(_value_of(other)) for other in named}) == 1:
            yield from (Judged(other, fact) for other in named)
        elif not named and reranker is not None and fact.id in vectors:
            answered = _answered(fact, candidates, vectors, reranker)
            if answered is not None:
                yield Judged(answered, fact)


def changing(facts: Sequence[Fact]) -> list[Fact]:
    """The facts that may tell of a change, each as if it had said all that its turn said.

    A change is often told in two clauses: "Dr Cole moved abroad, Dr Singh does my check-ups now".
    """
    return [fact for fact in _by_turn(facts) if _may_change(fact)]


def _by_turn(facts: Sequence[Fact]) -> Iterator[Fact]:
    turns: dict[tuple[str | None, str, datetime | None], list[Fact]] = {}
    for fact in facts:
        turns.setdefault((fact.chunk_id, fact.speaker, fact.mentioned_at), []).append(fact)
    for turn in turns.values():
        whole = " ".join(dict.fromkeys(fact.source_text or fact.text for fact in turn))
        yield from (replace(fact, source_text=whole) if is_readable(whole) else fact for fact in turn)


def _names_slot(fact: Fact, other: Fact) -> bool:
    """Whether the statement names the slot and another value of a kind that is known by its form: "rent went up, 760 euros"."""
    text = fact.source_text or fact.text
    patterns = _FORMS.get(_kind(other))
    if patterns is None or not is_plain_statement(text):
        return False
    spoken = set(normal_name(text).split())
    relation = (other.relation or "").removeprefix(ALSO)
    nouns = [set(noun.split()) for noun in nouns_of(relation)] or [
        set(normal_name(other.subject or "").split())
    ]
    if relation in ("date", "time", "value"):
        nouns = [set(normal_name(other.subject or "").split())]
    if not any(words and words <= spoken for words in nouns):
        return False
    values = [match[0] for match in re.finditer(patterns, text)]
    return bool(values) and not any(same_value(value, other.object or "") for value in values)


def _kind(fact: Fact) -> str:
    """The kind of a fact's value: by its slot, else by its form."""
    slot = slots().get((fact.relation or "").removeprefix(ALSO))
    if slot is not None and slot.value not in ("text", "thing"):
        return slot.value
    value = fact.object or ""
    for kind in ("mail", "phone", "money", "date"):
        if re.fullmatch(_FORMS[kind], value):
            return kind
    return "name" if value[:1].isupper() else "number" if value[:1].isdigit() else "text"


_FORMS = {
    "mail": MAIL,
    "phone": PHONE,
    "money": rf"{MONEY}|\d[\d.,]{{2,}}\d",
    "number": r"\d[\d.,]*",
    "date": WHEN,
    "time": WHEN,
}
"""Kind -> the form of its values."""


def _may_change(fact: Fact) -> bool:
    """Whether a fact plainly says that something became different."""
    if INSTRUCTION in fact.flags or PLANNED in fact.flags or not fact.speaker or fact.language in LANGUAGES:
        return False
    text = fact.source_text or fact.text
    if not is_readable(text) or UNREAL_SENTENCE.search(expand(text)) or text.rstrip().endswith("?"):
        return False
    if is_for_a_while(text):
        return False
    return any(is_plain_statement(part) for part in parts_of(text)) and (
        speaks_of_change(text) or speaks_of_end(text)
    )


def _may_be_changed(fact: Fact, other: Fact) -> bool:
    """Whether the stored fact holds a value that a statement of this subject may change."""
    if other.id == fact.id or INSTRUCTION in other.flags:
        return False
    if not _value_of(other):
        return False
    if fact.relation and fact.object and place_of(fact) == place_of(other):
        return False
    return _is_about(fact, other)


def _value_of(fact: Fact) -> str:
    """The value of a fact's slot, or what its subject does it with; empty for what is no lasting state."""
    if fact.object and fact.relation and is_slot(fact.relation):
        return fact.object
    habit = None if fact.relation and ended_slots(fact.relation) else habit_of(fact.source_text or fact.text)
    return habit.object if habit is not None else ""


def is_slot(relation: str) -> bool:
    """Whether the values of a relation can change."""
    relation = relation.removeprefix(ALSO)
    return is_single_valued(relation) or (relation in slots() and relation not in ("likes", "dislikes"))


def _is_about(fact: Fact, other: Fact) -> bool:
    """Whether the new statement speaks of the stored fact's subject."""
    text = fact.source_text or fact.text
    voice = voice_of(fact.speaker)
    own = normal_name(voice.name) if voice is not None else ""
    subject = normal_name(other.subject or "")
    if kin_subject(text) and kin_subject(text) not in normal_name(other.source_text or other.text).split():
        return False
    if not subject:
        return _is_of_another(text) == _is_of_another(other.source_text or other.text)
    if subject == own:
        return not _is_of_another(text)
    words = set(subject.split())
    return bool(words) and words <= set(normal_name(f"{fact.text} {text}").split())


@lru_cache(maxsize=4096)
def _is_of_another(text: str) -> bool:
    """Whether the sentence is about somebody else than the speaker: kin, or somebody by name."""
    nouns = [clause.noun for clause in clauses(expand(text)) if clause.noun is not None]
    return any(
        noun.name or (noun.owner in ("my", "our", "his", "her") and noun.head in PERSONS) for noun in nouns
    )


def _names_end(fact: Fact, other: Fact) -> bool:
    """Whether a part of the statement names the old value as over: "Intel showed me the door"."""
    text = fact.source_text or fact.text
    relation = (other.relation or "").removeprefix(ALSO)
    if relation not in _ENDS_BY_ANY_WORD and not (relation and is_single_valued(relation)):
        return any(mentions_value(ended.value, _value_of(other)) for ended in ended_values(text))
    return any(
        _mentions_stem(part, _value_of(other)) and speaks_of_end(part) and is_plain_statement(part)
        for part in parts_of(text)
    )


_ENDS_BY_ANY_WORD = frozenset({"has_pet", "takes", "learns", "allergic_to"})
"""Slots with several values that are so rarely spoken of otherwise that any word of an end will do."""


def _mentions_stem(text: str, value: str) -> bool:
    """`_mentions`, in the singular or plural, and without the words that only say what kind of thing it is."""
    words = [word for word in normal_name(value).split() if word not in _KINDS and not word[:1].isdigit()]
    stems = {word.rstrip("s") for word in normal_name(text).split()}
    return bool(words) and all(word.rstrip("s") in stems for word in words)


_KINDS = word_set("called named of the a an my our and old mg ml dog cat puppy kitten diet car dr mr mrs ms")


def _names_both(fact: Fact, other: Fact) -> bool:
    """Whether the statement names the old value and another one of its kind: "swapped Italian for Korean"."""
    text = fact.source_text or fact.text
    if not _mentions_stem(text, _value_of(other)) or not is_plain_statement(text):
        return False
    return any(_is_other_value(name, fact, other) for name in _values(text, other))


def _mentions(text: str, value: str) -> bool:
    words = normal_name(value).split()
    return bool(words) and f" {' '.join(words)} " in f" {normal_name(text)} "


def _values(text: str, other: Fact) -> list[str]:
    """What in a text may be a value of the same kind as the stored one."""
    value = _value_of(other)
    if value[:1].isupper():
        return re.findall(r"(?<![.!?]\s)(?<!^)\b[A-ZÀ-Ö][\w'&-]+(?:\s+[A-Z][\w'&-]+)*", text)
    return _NUMBER.findall(text) if value[:1].isdigit() else []


def _is_other_value(name: str, fact: Fact, other: Fact) -> bool:
    if same_value(name, _value_of(other)) or mentions_value(name, _value_of(other)):
        return False
    spoken = {normal_name(fact.speaker), normal_name(other.subject or "")}
    return (
        normal_name(name) not in spoken and normal_name(name) not in _DAYS and name.casefold() not in _OPENERS
    )


_OPENERS = word_set(
    "the a an my our your his her their its this that these those there here it we you he she they i and but so now new no not yes yeah ok okay oh well "
    "just finally since as after before in on at for with from all also only still then today yesterday last home work everything everyone nothing "
    "sold closed swapped switched moved left got took packed day week month down up off out rent post please use write call text"
)
"""Words that begin a sentence with a capital and are no names."""
_DAYS = frozenset(
    "i i'm i've monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas easter im ive".split()
)


def _answered(
    fact: Fact, candidates: Sequence[Fact], vectors: Mapping[str, Vector], reranker: Reranker
) -> Fact | None:
    """The stored value whose question the statement answers best, with another value of its kind."""
    fitting = [other for other in candidates if other.id in vectors and _has_value_for(fact, other)]
    if not fitting:
        return None
    nearness = np.array([float(vectors[other.id] @ vectors[fact.id]) for other in fitting])
    nearest = [fitting[index] for index in np.argsort(-nearness)[:QUESTIONS] if nearness[index] >= NEAR_AT]
    scores = [_sameness(fact, other, reranker) for other in nearest]
    best = int(np.argmax(scores)) if scores else -1
    if best < 0:
        return None
    enough = ANSWERS_AT if _kind(nearest[best]) in _NUMERIC | _NAMED else SURELY_ANSWERS_AT
    return nearest[best] if scores[best] >= enough else None


def _sameness(fact: Fact, other: Fact, reranker: Reranker) -> float:
    """How well the new statement answers what the stored one says, or the question that it answers."""
    question = question_of((other.relation or "").removeprefix(ALSO), other.subject or "")
    return max(float(reranker.score(query, [fact.text])[0]) for query in (other.text, question))


def _has_value_for(fact: Fact, other: Fact) -> bool:
    """Whether the statement holds something that could be the slot's new value."""
    text = fact.source_text or fact.text
    if not is_plain_statement(text) or not speaks_of_new_value(text):
        return False
    if not other.relation or not is_single_valued(other.relation.removeprefix(ALSO)):
        return False
    kind = _kind(other)
    if other.object and _mentions(text, other.object):
        return False
    if kind in _NUMERIC:
        return any(
            not same_value(number, other.object or "") for number in _NUMBER.findall(text)
        ) or kind in ("date", "time")
    if kind in _NAMED:
        return any(
            _is_other_value(name, fact, other)
            for name in re.findall(r"\b[A-ZÀ-Ö][\w'&-]+(?:\s+[A-Z][\w'&-]+)*", text)
        )
    return True
