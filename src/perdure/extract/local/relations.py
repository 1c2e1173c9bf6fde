"""Relations that a sentence states (subject, relation, object): by the parse where there is one, else by wording alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perdure.extract.local.relations_parsed import parsed_triples
from perdure.extract.local.slots import slot_triples
from perdure.extract.local.units import Unit
from perdure.ports.extractor import Triple
from perdure.text import verbs
from perdure.text.relation_table import Pattern, patterns_by_verb, verb_forms
from perdure.text.slot_table import ALSO, is_time, slots
from perdure.text.voice import Voice
from perdure.text.wordlist import word_set

_NAME = r"\b[A-Z][\w'’&.-]{0,40}(?:\s+[A-Z][\w'’&.-]{0,40}){0,3}"
_MONTH = r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b)"
_OWNER = rf"(?P<owner>(?:[Tt]he user|[Tt]he customer|{_NAME}))['’]s\s+"

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
class _Attribute:
    relation: str
    signs: tuple[str, ...]
    """Of these one is in every match."""
    pattern: re.Pattern[str]


_ATTRIBUTES = (
    _Attribute("name", ("name is",), re.compile(rf"{_OWNER}(?:full )?name is (?P<value>{_NAME})")),
    _Attribute("age", ("years old", "today"), re.compile(r"(?P<owner>[A-Z]\w+|[Tt]he user) (?:is|has turned|just turned|turned) (?P<value>\d{1,3}) (?:years old|today)")),
    _Attribute("birthday", ("birthday is",), re.compile(rf"{_OWNER}birthday is (?:on |in )?(?P<value>[^.,;!?]{{0,20}}{_MONTH}[^.,;!?]{{0,20}})")),
    _Attribute("email", ("mail",), re.compile(rf"{_OWNER}(?:new |work |personal )?e-?mail(?: address)? is (?P<value>[\w.+-]+@[\w.-]+\w)")),
    _Attribute("phone", ("phone", "mobile", "cell"), re.compile(rf"{_OWNER}(?:new )?(?:phone|mobile|cell)(?: number)? is (?P<value>\+?[\d(][\d ().-]{{5,20}}\d)")),
    _Attribute("job", ("job", "title", "role", "position", "occupation"), re.compile(rf"{_OWNER}(?:new |current )?(?:job|title|role|position|occupation) is (?:an? |the )?(?P<value>[^.,;!?]{{3,60}})")),
)  # fmt: skip
_FAVOURITE = re.compile(
    rf"{_OWNER}(?:all-time |absolute |new |current )?favou?rite (?P<thing>[a-z]+(?: [a-z]+)?) is (?:still |now |definitely )?"
    r"(?:the |an? )?(?P<value>[^.,;!?]{2,60}?)(?: now| these days| nowadays)?(?=[.,;!?]|$)"
)
_IS_KIN = re.compile(
    rf"(?P<subject>{_NAME}) is (?P<owner>(?:[Tt]he user|{_NAME}))['’]s (?:new |older |younger |little |big |best )?(?P<kin>[a-z]+)\b"
)
_KIN_NAMED = re.compile(
    rf"{_OWNER}(?:new |older |younger |little |big |best )?(?P<kin>[a-z]+),? (?:is (?:named|called) |named |called )?(?P<subject>[A-Z][a-z]+)\b"
)
_KIN = word_set(
    "mother mom mum father dad sister brother son daughter wife husband partner fiancé fiancée girlfriend boyfriend "
    "grandmother grandma grandfather grandpa aunt uncle cousin niece nephew boss manager roommate friend colleague "
    "coworker neighbor therapist doctor teacher mentor dog cat puppy kitten"
)
_SINGLE_KIN = frozenset({"wife", "husband"})


def find_triples(
    unit: Unit,
    told: str,
    speaker: Voice | None,
    other: Voice | None,
    before: Sequence[Triple] = (),
) -> list[Triple]:
    """The relations a sentence states, the surest first; `told` is the sentence in the third person.

    `before` are the triples of what the same speaker said just before, the last one last: a sentence may lean on them
    ("He's 63", "Sorry, I meant Thursday").
    """
    if unit.kind == "code" or unit.is_aside:
        return []
    if unit.is_question:
        return slot_triples(unit, speaker, other, before)
    triples = [*slot_triples(unit, speaker, other, before), *_attributes(told), *_kin(told)]
    parsed = parsed_triples(unit, speaker, other) if unit.tokens else []
    if parsed is not None:
        beside = {
            triple.relation.removeprefix(ALSO) for triple in triples if triple.relation.startswith(ALSO)
        }
        triples += [triple for triple in parsed or worded_triples(told) if triple.relation not in beside]
    if _AHEAD.search(unit.text):
        triples = [one for one in triples if not one.single_valued or not _is_slot_of_a_person(one.relation)]
    # Single-valued ones first: they say what is true now.
    return sorted(dict.fromkeys(triples), key=lambda triple: not triple.single_valued)


_AHEAD = re.compile(
    r"(?:\b(?:am|is|are|be)|['’](?:m|re|s))\s+(?:\w+ly\s+)?\w+ing\b.*\b(?:next (?:week|month|year|term|spring|summer|autumn|fall|winter|\w+day)|tomorrow|on the first of|in (?:two|three|a few|\d+) (?:days|weeks|months)|this coming)\b"
    r"|^\W*(?:next (?:week|month|year|term|spring|summer|autumn|fall|winter|\w+day)|tomorrow|from next \w+|starting (?:next \w+|in \w+))\b.*\b(?:(?:am|are|is)\s+\w+ing|will)\b",
    re.IGNORECASE,
)


def _is_slot_of_a_person(relation: str) -> bool:
    """Whether it is a slot of the table other than when something is."""
    return relation in slots() and not is_time(relation)


def _attributes(told: str) -> Iterator[Triple]:
    if " is " not in told and "turned" not in told:
        return
    for attribute in _ATTRIBUTES:
        signed = any(sign in told for sign in attribute.signs)
        match = attribute.pattern.search(told) if signed else None
        if match is not None:
            yield _triple(match["owner"], attribute.relation, match["value"], single=True)
    match = _FAVOURITE.search(told) if "favo" in told else None
    if match is not None:
        relation = f"favourite_{match['thing'].replace(' ', '_')}"
        yield _triple(match["owner"], relation, match["value"], single=True)


def _kin(told: str) -> Iterator[Triple]:
    if "'s " not in told and "’s " not in told:
        return
    for pattern in (_IS_KIN, _KIN_NAMED):
        match = pattern.search(told)
        if match is not None and match["kin"] in _KIN and match["subject"] != match["owner"]:
            single = match["kin"] in _SINGLE_KIN
            yield _triple(match["subject"], f"{match['kin']}_of", match["owner"], single=single)


def _triple(subject: str, relation: str, value: str, *, single: bool) -> Triple:
    return Triple(
        subject=subject.strip(), relation=relation, object=value.strip(" .,;"), single_valued=single
    )


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
    triples = []
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
                triples.append(Triple(subject=subject, relation=relation, object=value, single_valued=single))
                break
    return triples


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


def _skip(words: list[_Word], place: int, reach: int, targets: frozenset[str]) -> int:
    """The place behind the first of `targets` within reach, -1 when there is none."""
    for index in range(place, min(len(words), place + reach)):
        if words[index].low in targets:
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
