"""Putting names for persons, so that a sentence stands alone: for "I", "my" and "you", for a subject that was left out ("Lost my
job yesterday"), and for "he" or "she" where only one person can be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from perdure.extract.local.code_names import VERBS, named_type, without_verb
from perdure.extract.local.mentions import clean_name
from perdure.extract.local.units import QUOTED, Unit
from perdure.ports.tagger import Mention, Token
from perdure.text import verbs
from perdure.text.names import normal_name
from perdure.text.voice import Voice

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s]|_")
_PROTECTED = re.compile(rf"`[^`]*`|{QUOTED.pattern}|https?://\S+|www\.\S+")
_NUMERAL_BEFORE = re.compile(
    r"\b(?:War|Part|Chapter|Phase|Type|Class|Volume|Book|Act|Article|Title|Level|Stage|Category|Elizabeth|Henry|"
    r"Charles|James|Francis|Napoleon|Catherine|Peter|Paul)\s$"
)
_GENERIC_YOU = re.compile(
    r"\b(?:if|when|whenever|once|unless|before|after|while|until) you\b|\byou (?:never know|can't|have to|need to)\b"
    r"|\b(?:makes|make|gives|helps|lets|keeps) you\b",
    re.IGNORECASE,
)
_FIXED_YOU = re.compile(
    r"\b(?:thank|thanks|see|know what|bless|love) you\b|\byou (?:know|guys|all|two|see)\b", re.IGNORECASE
)

_SAYING = re.compile(
    r",? i(?:['’]m| am) afraid[.!]*$|\b(?:you (?:bet|read my mind|rock)|i bet)\b", re.IGNORECASE
)
"""Sayings that mean something else in the third person."""

_PERSON = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|im|ive|me|my|mine|myself|we|us|our|ours|ourselves|let['’]s|you|your|yours|yourself)\b",
    re.IGNORECASE,
)
_PAST_TIME = re.compile(
    r"\b(?:yesterday|ago|in (?:19|20)\d\d|last (?:night|week|weekend|month|year|spring|summer|fall|autumn|winter|\w+day))\b",
    re.IGNORECASE,
)
_GROUP_WORDS = frozenset({"we", "us", "our", "ours", "ourselves", "let's", "we're", "we've", "we'll", "we'd"})
_MAX_PROTECTED = 64
_CONJUNCTIONS = frozenset({"and", "but", "or", "then"})
_PLAIN_FORMS = {"me": "{name}", "my": "{owner}", "mine": "{owner}", "myself": "themself"}
_YOUR_FORMS = {"your": "{owner}", "yours": "{owner}", "yourself": "themself"}

_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
_FIRST_WORDS = re.compile(
    r"(?:(?:just|finally|recently|already|never|also|actually|even|only|literally)\s+)?([A-Za-z]+(?:['’][a-z]+)?)\s+([A-Za-z]+)?",
    re.IGNORECASE,
)
_DROPPED = {**dict.fromkeys(("can't", "couldn't", "hope", "wish", "gotta", "wanna"), "I"), "gonna": "I am"}
"""First word of a sentence -> the subject that it leaves out."""
_PLAIN_PAST = verbs.PAST - {"was", "were", "had", "did", "found", "left", "felt", "given"}
_FRAGMENT_START = re.compile(
    r"(?:\w+ing|love|loved|so|such|what a|totally|excited|happy|glad|just|been|sounds|looks|must|great|congrats|no|not|"
    r"yes|yeah|any|same)\b(?! (?:i|we|you|he|she|it|they|my|the)\b)",
    re.IGNORECASE,
)

_PLACE_BEFORE = re.compile(r"\b(?:at|in|near|into|inside|around|via)\s+(?:the\s+)?$", re.IGNORECASE)
_CORRECTED = re.compile(r"\b(?:i mean|i meant|that is|namely)\b", re.IGNORECASE)

Gender = Literal["he", "she"]

_PRONOUN_START = re.compile(r"(He|She|His|Her)\b(?:['’](s|d|ll)\b)?(?=\s)")
_KIN: dict[str, Gender] = {
    **dict.fromkeys(("mom", "mother", "mum", "sister", "daughter", "wife", "girlfriend", "grandma", "grandmother",
                     "aunt", "niece", "fiancée"), "she"),
    **dict.fromkeys(("dad", "father", "brother", "son", "husband", "boyfriend", "grandpa", "grandfather", "uncle",
                     "nephew", "fiancé"), "he"),
}  # fmt: skip
_OTHER_KIN = ("friend", "cousin", "boss", "manager", "roommate", "partner", "colleague", "coworker", "neighbor",
              "therapist", "doctor", "teacher", "dog", "cat", "puppy", "kitten")  # fmt: skip
_KIN_OF = re.compile(
    r"\b(?P<owner>[Mm]y|[Yy]our) (?P<kin>(?:(?:older|younger|little|big|twin|best|old|new) )?"
    rf"(?P<noun>{'|'.join([*_KIN, *_OTHER_KIN])}))(?:(?: |, (?=[A-Z]\w+,))(?P<name>[A-Z][^\W\d_]+))?\b"
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A sentence with names put for persons; when not `safe`, the original must be quoted instead."""

    text: str
    safe: bool = True
    named: bool = False
    """Whether the speaker's name is in the text."""


@dataclass(slots=True)
class _Word:
    text: str
    low: str
    start: int
    end: int
    tag: str = ""
    dep: str = ""
    index: int = -1


class _Sentence:
    """One sentence on its way to the third person."""

    def __init__(
        self, text: str, tokens: Sequence[Token], origin: int, speaker: Voice, other: Voice | None
    ) -> None:
        self.text = text
        self.speaker = speaker
        self.other = other
        self.safe = True
        self.named = False
        self._edits: dict[int, tuple[int, str]] = {}
        self._tokens = tokens
        by_start = {token.start - origin: index for index, token in enumerate(tokens)}
        self._protected = [match.span() for match in _PROTECTED.finditer(text)][:_MAX_PROTECTED]
        self.words = [self._word(match, by_start) for match in _WORD.finditer(text)]

    def _word(self, match: re.Match[str], by_start: Mapping[int, int]) -> _Word:
        low = match[0].casefold().replace("’", "'")
        index = by_start.get(match.start(), -1)
        if index < 0:
            return _Word(match[0], low, match.start(), match.end())
        token = self._tokens[index]
        return _Word(match[0], low, match.start(), match.end(), token.tag, token.dep, index)

    def rewrite(self) -> Rewritten:
        self.safe = _SAYING.search(self.text) is None
        for position, word in enumerate(self.words):
            if word.low[:1] not in "iwumoyl" or self._is_protected(word):
                continue
            if word.low in _GROUP_WORDS:
                self.safe = False
            elif self._is_first_person(word):
                self._name(position, self.speaker)
            elif word.low in _PLAIN_FORMS and not self._is_hyphenated(word):
                self._replace(word, self._form(_PLAIN_FORMS[word.low], self.speaker, word))
                self.named = self.named or word.low != "myself"
            elif word.low == "you" or word.low.startswith("you'"):
                self._address(position)
            elif word.low in _YOUR_FORMS:
                self._address_form(word)
        return Rewritten(self._apply(), self.safe, self.named)

    def _is_protected(self, word: _Word) -> bool:
        return any(start <= word.start < end for start, end in self._protected)

    def _is_hyphenated(self, word: _Word) -> bool:
        return "-" in (self.text[word.start - 1 : word.start], self.text[word.end : word.end + 1])

    def _is_first_person(self, word: _Word) -> bool:
        head, _, tail = word.low.partition("'")
        if head != "i" or tail not in ("", "m", "ve", "d", "ll"):
            return word.low in ("im", "ive") and word.text in ("Im", "im", "Ive", "ive")
        if tail:
            return True
        around = self.text[max(0, word.start - 1) : word.start] + self.text[word.end : word.end + 1]
        if set(around) & set("/-.=_&[("):
            return False
        if word.text == "i" and not self.text[word.end : word.end + 2].strip().isalpha():
            return False
        return _NUMERAL_BEFORE.search(self.text[max(0, word.start - 12) : word.start]) is None

    def _address(self, position: int) -> None:
        word = self.words[position]
        if _FIXED_YOU.search(self.text, max(0, word.start - 10), min(len(self.text), word.end + 6)):
            return
        if self.other is None or _GENERIC_YOU.search(self.text):
            self.safe = False
            return
        if word.low != "you" or self._is_subject(position):
            self._name(position, self.other)
        else:
            self._replace(word, self._form("{name}", self.other, word))

    def _address_form(self, word: _Word) -> None:
        alone = word.low == "yourself" and not any(
            item.low.startswith("you'") or item.low == "you" for item in self.words
        )
        if self.other is None or alone or _GENERIC_YOU.search(self.text):
            self.safe = False
        else:
            self._replace(word, self._form(_YOUR_FORMS[word.low], self.other, word))

    def _is_subject(self, position: int) -> bool:
        word = self.words[position]
        if word.dep:
            return word.dep in ("nsubj", "nsubjpass")
        verb = self._verb_after(position)
        return verb is not None and (
            verb.low in verbs.AUXILIARY
            or verb.low in verbs.UNCHANGED
            or verb.low in verbs.PRESENT
            or verbs.is_past(verb.low)
        )

    def _name(self, position: int, voice: Voice) -> None:
        """Put the name for a subject and make its verb agree."""
        word = self.words[position]
        name = self._form("{name}", voice, word)
        self.named = self.named or voice is self.speaker
        low = word.low if "'" in word.low else {"im": "i'm", "ive": "i've"}.get(word.low, word.low)
        _, apostrophe, tail = low.partition("'")
        if apostrophe:
            self._replace(word, f"{name} {self._contraction(position, tail)}")
            self._agree_joined(position + 1, present=tail in ("m", "re", "ve"))
            return
        self._replace(word, name)
        if self._is_joined_name(position):
            return
        self._agree_before(position)
        self._agree(position)

    def _contraction(self, position: int, tail: str) -> str:
        if tail == "d":
            following = self._skip_adverbs(position + 1)
            had = following is not None and (
                following.low in verbs.PARTICIPLES
                or following.low == "better"
                or following.low.endswith("ed")
            )
            return "had" if had else "would"
        return {"m": "is", "re": "is", "ve": "has", "ll": "will"}.get(tail, "is")

    def _is_joined_name(self, position: int) -> bool:
        """Whether it is the second half of a subject of two: "my wife and I have"."""
        if position < 2 or self.words[position - 1].low not in ("and", "&"):
            return False
        if self.words[position].dep == "conj":
            return True
        before = [item.low for item in self.words[: position - 1]]
        return len(before) <= 5 and not any(
            low in verbs.AUXILIARY or low in verbs.UNCHANGED or low in verbs.PRESENT or verbs.is_past(low)
            for low in before
        )

    def _agree_before(self, position: int) -> None:
        """Inverted order: "nor am I", "so do I"."""
        if position and self.words[position - 1].low in ("am", "do", "have"):
            before = self.words[position - 1]
            ahead = self.words[position + 1].low if position + 1 < len(self.words) else "."
            if before.low == "am" or not ahead.isalpha():
                self._replace(before, verbs.AUXILIARY[before.low])

    def _agree(self, position: int) -> None:
        verb = self._verb_after(position)
        if verb is None:
            self.safe = self.safe and not any(word.low.isalpha() for word in self.words[position + 1 :])
            return
        form = self._agreeing(verb)
        if form is None:
            self.safe = False
        else:
            if form != verb.low:
                self._replace(verb, form)
            self._agree_joined(self.words.index(verb) + 1, present=form != verb.low)

    def _agreeing(self, verb: _Word) -> str | None:
        """The verb after a name; None when it is doubtful."""
        if verb.low in verbs.AUXILIARY:
            return verbs.AUXILIARY[verb.low]
        if verb.low in verbs.UNCHANGED or verb.tag in ("VBD", "VBN", "MD", "VBZ"):
            return verb.low
        if verb.low in verbs.PAST:
            return verb.low
        if verb.low in verbs.PAST_ALIKE and self._is_told_as_past(verb):
            return verb.low
        if verb.tag in ("VBP", "VB") or (verb.low in verbs.PRESENT):
            return verbs.third_person(verb.low)
        return verb.low if verbs.is_past(verb.low) else None

    def _is_told_as_past(self, verb: _Word) -> bool:
        """Whether "put" or "read" is the past: "just put", "read it last year"; "I bet" is said now, "I quit" is not."""
        if self._follows(verb, "just") or verb.low == "quit":
            return True
        return verb.low != "bet" and _PAST_TIME.search(self.text) is not None

    def _follows(self, word: _Word, low: str) -> bool:
        place = self.words.index(word)
        return place > 0 and self.words[place - 1].low == low

    def _verb_after(self, position: int) -> _Word | None:
        """The finite verb of a subject: the next word that is no adverb, or what the parse says."""
        word = self._skip_adverbs(position + 1)
        if word is not None and (
            word.low in verbs.AUXILIARY or word.low in verbs.UNCHANGED or word.low in verbs.PRESENT
            or word.tag.startswith("VB") or verbs.is_past(word.low)
        ):  # fmt: skip
            return word
        return self._parsed_verb(self.words[position])

    def _parsed_verb(self, subject: _Word) -> _Word | None:
        if subject.index < 0 or subject.dep not in ("nsubj", "nsubjpass"):
            return None
        head = self._tokens[subject.index].head
        finite = [
            word
            for word in self.words
            if word.start > subject.start
            and (
                word.index == head
                or (
                    word.index >= 0
                    and self._tokens[word.index].head == head
                    and word.dep in ("aux", "auxpass")
                )
            )
        ]
        return finite[0] if finite and finite[0].tag in ("VBP", "VBD", "MD", "VBZ", "VB") else None

    def _agree_joined(self, position: int, *, present: bool) -> None:
        """Further verbs of the same subject: "I like it and want more"."""
        after_to = False
        for index in range(position, len(self.words) - 1):
            after_to = after_to or self.words[index].low == "to"
            if self.words[index].low not in _CONJUNCTIONS:
                continue
            verb = self._skip_adverbs(index + 1)
            if verb is not None and self._is_joined_verb(verb, untagged=present and not after_to):
                self._replace(verb, verbs.third_person(verb.low))

    def _is_joined_verb(self, verb: _Word, *, untagged: bool) -> bool:
        if verb.low in ("am", "have", "don't", "haven't"):
            return verb.tag == "VBP" or (untagged and not verb.tag)
        return verb.low in verbs.PRESENT and verb.tag == "VBP" and verb.dep in ("conj", "ROOT")

    def _skip_adverbs(self, position: int) -> _Word | None:
        while position < len(self.words) and verbs.is_adverb(self.words[position].low):
            position += 1
        return self.words[position] if position < len(self.words) else None

    def _form(self, form: str, voice: Voice, word: _Word) -> str:
        name = voice.at_start if word.start == 0 else voice.name
        return form.format(name=name, owner=f"{name}'s")

    def _replace(self, word: _Word, text: str) -> None:
        self._edits[word.start] = (word.end, text)

    def _apply(self) -> str:
        parts, position = [], 0
        for start in sorted(self._edits):
            end, text = self._edits[start]
            parts += [self.text[position:start], text]
            position = end
        return "".join([*parts, self.text[position:]])


def in_third_person(
    text: str, speaker: Voice, other: Voice | None = None, tokens: Sequence[Token] = (), origin: int = 0
) -> Rewritten:
    """The sentence with the speaker's name for "I" and the other's for "you".

    `tokens` are the tagger's for the text that starts at `origin`; without them words decide.
    """
    dropped = dropped_subject(text, tokens, origin)
    if dropped:
        text, origin = f"{dropped} {text[:1].lower()}{text[1:]}", origin - len(dropped) - 1
    elif _PERSON.search(text) is None:
        return Rewritten(text)
    return _Sentence(text, tokens, origin, speaker, other).rewrite()


def dropped_subject(text: str, tokens: Sequence[Token] = (), origin: int = 0) -> str:
    """What to put before a sentence whose verb comes first ("I", "I am"); empty when nothing is missing."""
    match = _FIRST_WORDS.match(text)
    if match is None:
        return ""
    first = match[1].casefold().replace("’", "'")
    following = (match[2] or "").casefold()
    if first in _DROPPED:
        return "" if following in ("", "is", "was", "be") else _DROPPED[first]
    if first in _PLAIN_PAST and following in ("my", "a", "the", "to", "with", "an", "some"):
        return "I"
    if first.endswith("ed") and verbs.is_past(first) and following in ("my", "a", "the", "an"):
        return "I"
    token = next((token for token in tokens if token.start == origin + match.start(1)), None)
    is_past = token is not None and token.tag == "VBD" and token.dep in ("ROOT", "ccomp", "advcl")
    return "I" if is_past and first not in ("was", "were") else ""


def has_no_subject(unit: Unit) -> bool:
    """A fragment such as "Gonna be great": who it is about is left open."""
    if dropped_subject(unit.text, unit.tokens, unit.origin):
        return False
    if unit.tokens and not unit.tail:
        return not any(token.dep in _SUBJECTS for token in unit.tokens)
    return _FRAGMENT_START.match(unit.text) is not None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody a pronoun may stand for."""

    name: str
    gender: Gender | None = None


def people_in(units: Iterable[Unit], speaker: Voice | None, other: Voice | None = None) -> list[Person]:
    """The persons that a speaker's sentences tell of, without the two who talk."""
    people: dict[str, Person] = {}
    talking = {normal_name(voice.name) for voice in (speaker, other) if voice is not None}
    for unit in units:
        for match in _KIN_OF.finditer(unit.text):
            owner = speaker if match["owner"].casefold() == "my" else other
            if owner is not None:
                name = match["name"] or f"{owner.possessive} {match['kin']}"
                people[normal_name(name)] = Person(name, _KIN.get(match["noun"]))
        for mention in unit.mentions:
            name = without_verb(clean_name(mention.text)) if _is_somebody(unit, mention) else ""
            if named_type(name, "person") != "person" or name.casefold() in VERBS:
                continue
            key = normal_name(name)
            if key and key not in people and key not in talking:
                people[key] = Person(name)
    return list(people.values())


def _is_somebody(unit: Unit, mention: Mention) -> bool:
    """Whether a mention is a person, and not a place or firm that the tagger took for one: "at Barco"."""
    before = unit.text[: max(mention.start - unit.origin, 0)]
    return mention.type == "person" and _PLACE_BEFORE.search(before) is None


def put_name(text: str, people: Iterable[Person]) -> str:
    """The sentence with a name for the pronoun it starts with, when just one of `people` can be meant."""
    match = _PRONOUN_START.match(text)
    if match is None or _CORRECTED.search(text):
        return text
    gender: Gender = "he" if match[1] in ("He", "His") else "she"
    fitting = [person for person in people if person.gender in (None, gender)]
    if len(fitting) != 1:
        return text
    name = fitting[0].name[:1].upper() + fitting[0].name[1:]
    if match[1] == "His" or (match[1] == "Her" and match[2] is None):
        return f"{name}'s{text[match.end() :]}"
    tail = f"'{match[2]}" if match[2] else ""
    return f"{name}{tail}{text[match.end() :]}"
