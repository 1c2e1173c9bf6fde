"""Who and what clauses are about: the speaker, kin by name or by whose they are, things."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.ports.extractor import Triple
from perdure.text.clauses import Noun
from perdure.text.kin import PERSONS as KIN
from perdure.text.voice import Voice
from perdure.text.wordlist import word_set

_TELLING = word_set(
    "older younger elder eldest oldest youngest big little baby twin best half step former late middle other second first ex new old dear former college university school childhood work next-door"
)
_DROPPED = word_set("new dear lovely poor own current")
_NAME = re.compile(
    r"[A-ZÀ-ÖØ-Þ][\w'&.-]*(?:\s+(?:(?:de|da|van|von|der|la|al|bin|di)\s+)*[A-ZÀ-ÖØ-Þ][\w'&.-]*)*"
)
_NOT_NAMES = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december "
    "plus the this that and but so also thanks thank wow well hey hi hello sounds glad great good summer winter spring autumn fall sure cool nice love everything anything something nothing all some many most one both each every other another such my your our his her their its  these those there here it what when where why how who yes no not maybe also then now today tomorrow yesterday everyone everybody "
    "nobody someone somebody people lunch dinner breakfast rent standup meeting"
)


_OWN_KIN = word_set(
    "mum mom mummy mama dad daddy papa grandma grandpa gran granny grandad granddad nana nan gramps"
)
"""Kin that is called so, without "my", by whose it is."""


class Cast:
    """The persons that a sentence can mean."""

    def __init__(self, speaker: Voice | None, other: Voice | None, before: Sequence[Triple]) -> None:
        self.speaker = speaker.name if speaker is not None else ""
        self._other = other.name if other is not None else ""
        self.before = before
        self._last = ""

    def owner(self, word: str) -> str:
        """Whose something is, by "my", "your" or a name; empty where nobody can tell."""
        if word in ("my", "our"):
            return self.speaker
        if word == "your":
            return self._other
        if word in ("his", "her", "their"):
            return self._third_person()
        if word.casefold() in _OWN_KIN and self.speaker:
            return f"{self.speaker}'s {word.casefold()}"
        return word if word[:1].isupper() or word.casefold().startswith("the ") else ""

    def person(self, pronoun: str, noun: Noun | None) -> str:
        """The person that a clause's subject means; empty for things and for whom nobody can tell."""
        if noun is None:
            if pronoun in ("i", "we"):
                return self.speaker
            if pronoun == "you":
                return self._other
            return self._third_person() if pronoun in ("he", "she", "they") else ""
        return self.kin(noun) or self._name(noun)

    def kin(self, noun: Noun) -> str:
        """ "Ann's older brother" for "my older brother", "Tom" for "my brother Tom"; empty for what is no kin."""
        if not noun.words or noun.head not in KIN or noun.owner in ("", "the", "this", "a", "an"):
            return ""
        owner = self.owner(noun.owner)
        if not owner or (noun.rest and not noun.rest.startswith("in law")):
            return ""
        if noun.name:
            return noun.name
        kept = [word for word in noun.words if word.casefold() not in _DROPPED]
        return f"{owner}'s {' '.join(kept)}"

    def heard(self, pronoun: str, noun: Noun | None) -> None:
        """Note the person that a clause was about, whom "she" in the next one means."""
        person = self.person(pronoun, noun) if noun is not None else ""
        self._last = person or self._last

    def _name(self, noun: Noun) -> str:
        if noun.owner in ("", "the", "this") and not noun.rest:
            text = " ".join(noun.words)
            if noun.owner == "the" and text.casefold() in (
                "user",
                "customer",
                "client",
                "patient",
                "student",
            ):
                return f"the {text.casefold()}"
            if not noun.owner and text.casefold() in _OWN_KIN and self.speaker:
                return f"{self.speaker}'s {text.casefold()}"
            if (
                not noun.owner
                and _NAME.fullmatch(text)
                and text.casefold() not in _NOT_NAMES
                and len(noun.words) <= 4
            ):
                return text
        return ""

    def _third_person(self) -> str:
        """Whom the last statement about somebody else was about."""
        if self._last:
            return self._last
        for triple in reversed(self.before):
            if triple.subject not in (self.speaker, self._other) and (
                triple.subject[:1].isupper() or "'s " in triple.subject
            ):
                return triple.subject
        return ""
