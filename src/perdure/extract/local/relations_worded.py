"""Relations by wording alone, for texts without a parse: a name, a verb of the table, a thing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.ports.extractor import Triple
from perdure.text import verbs
from perdure.text.relation_table import Pattern, patterns_by_verb, verb_forms
from perdure.text.wordlist import word_set

_WORD = re.compile(r"@?[^\W_][\w&+-]*(?:[./]\w+)*(?:['’]\w+)*|[^\w\s]")
_NOT_BELIEVED = re.compile(r"(?:n['’]t|\bnot|\bnever) (?:think|believe)\b", re.IGNORECASE)
_NEGATIONS = word_set("not never no n't doesn't didn't isn't wasn't hasn't don't")
_HEDGES = word_set("would could might may should can must will if would've i'd")
_BETWEEN = word_set(
    "has have had been is was are recently now also currently just still 's really always originally"
)
_DETERMINERS = word_set("a an the this that some new own big small little old first")
_ENDS = word_set(
    "in on at to for with from of by as and or but because so when while after before since until if that which who where "
    "is are was were has have had it he she they we you i every each last next this than then too about into yesterday today tomorrow recently soon now"
)
_NO_SUBJECT = word_set(
    "i we you he she it they this that these those there who what which if when and but so my our"
)
_BEFORE_OTHERS = word_set("if when unless in at of from for with to by on near about and or nor")
_JOINS = word_set("of de la the and & for")
_ROLES = word_set("user customer assistant client patient student")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    low: str

    @property
    def is_name(self) -> bool:
        return self.text[:1].isupper() or self.text[:1] == "@"


def worded_triples(told: str) -> list[Triple]:
    """The relations of a sentence in the third person, in the order of its verbs."""
    texts = _WORD.findall(told)
    lows = [text.casefold() for text in texts]
    forms = verb_forms()
    if forms.keys().isdisjoint(lows) or _NOT_BELIEVED.search(told):
        return []
    words = list(map(_Word, texts, lows))
    found = []
    for index, word in enumerate(words):
        form = forms.get(word.low)
        if form is None or index == 0:
            continue
        subject = _subject(words, index)
        if not subject:
            continue
        for pattern in patterns_by_verb()[form.lemma]:
            if pattern.event and form.tense == "gerund" and not _is_perfect(words, index):
                continue
            value = _object(words, index + 1, pattern)
            if value and value.casefold() != subject.casefold():
                over = form.tense == "past" and not _is_perfect(words, index)
                relation = pattern.past if over and pattern.past else pattern.relation
                single = pattern.single and relation == pattern.relation
                found.append(Triple(subject=subject, relation=relation, object=value, single_valued=single))
                break
    return found


def _is_perfect(words: list[_Word], verb: int) -> bool:
    return any(word.low in ("has", "have", "'s") for word in words[max(0, verb - 3) : verb])


def _subject(words: list[_Word], verb: int) -> str:
    """The name right before the verb; empty when there is none or the verb is denied or hedged."""
    place = verb - 1
    while (
        place >= 0
        and words[place].low not in _NEGATIONS
        and (words[place].low in _BETWEEN or verbs.is_adverb(words[place].low))
    ):
        place -= 1
    if place < 0 or words[place].low in _NEGATIONS or words[place].low in _HEDGES:
        return ""
    if words[place].low in _ROLES and place and words[place - 1].low == "the":
        return f"the {words[place].low}"
    last = place
    while place >= 0 and words[place].is_name and words[place].low not in _NO_SUBJECT:
        place -= 1
    if place >= 0 and words[place].low in _BEFORE_OTHERS:
        return ""
    if place == last:
        owner = words[place - 1] if place else None
        owned = owner is not None and owner.is_name and owner.low.endswith(("'s", "’s"))
        return f"{owner.text} {words[place].text}" if owner is not None and owned else ""
    return " ".join(word.text for word in words[place + 1 : last + 1])


def _object(words: list[_Word], place: int, pattern: Pattern) -> str:
    if pattern.passive:
        return ""
    if pattern.middle:
        place = _skip(words, place, 3, pattern.middle)
    if pattern.after and place >= 0:
        place = _skip(words, place, 2, pattern.after)
    if place < 0:
        return ""
    while place < len(words) and words[place].low in _DETERMINERS:
        place += 1
    named = _name_at(words, place)
    if pattern.object == "any":
        return named or _phrase_at(words, place)
    return "" if pattern.object == "possession" else named


def _skip(words: list[_Word], place: int, reach: int, wanted: frozenset[str]) -> int:
    """The place behind the first of `wanted` within reach, -1 when there is none."""
    for index in range(place, min(len(words), place + reach)):
        if words[index].low in wanted:
            return index + 1
        low = words[index].low
        if low in _ENDS or low in _NEGATIONS or not low[:1].isalnum():
            return -1
    return -1


def _name_at(words: list[_Word], place: int) -> str:
    end = place
    while end < len(words) and (
        words[end].is_name
        or (end > place and words[end].low in _JOINS and end + 1 < len(words) and words[end + 1].is_name)
    ):
        end += 1
    return re.sub(r"['’]s$", "", " ".join(word.text for word in words[place:end]))


def _phrase_at(words: list[_Word], place: int) -> str:
    end = place
    while end < len(words) and end - place < 4:
        word = words[end]
        if word.low in _ENDS or not word.low[:1].isalnum() or word.low in verbs.UNCHANGED:
            break
        end += 1
    return " ".join(word.text for word in words[place:end])
