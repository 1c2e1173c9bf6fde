"""Relations that a sentence states: subject, relation, object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.extract.local.relations_parsed import parsed_triples
from perdure.extract.local.relations_worded import worded_triples
from perdure.extract.local.units import Unit
from perdure.ports.extractor import Triple
from perdure.text.voice import Voice
from perdure.text.wordlist import word_set

_NAME = r"\b[A-Z][\w'’&.-]{0,40}(?:\s+[A-Z][\w'’&.-]{0,40}){0,3}"
_MONTH = r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b)"
_OWNER = rf"(?P<owner>(?:[Tt]he user|[Tt]he customer|{_NAME}))['’]s\s+"


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


def find_triples(unit: Unit, told: str, speaker: Voice | None, other: Voice | None) -> list[Triple]:
    """The relations a sentence states, the surest first; `told` is the sentence in the third person."""
    if unit.is_question or unit.kind == "code" or unit.is_aside:
        return []
    found = [*_attributes(told), *_kin(told)]
    parsed = parsed_triples(unit, speaker, other) if unit.tokens else []
    if parsed is not None:
        found += parsed or worded_triples(told)
    return _surest(found)


def _attributes(told: str) -> list[Triple]:
    found = []
    if " is " in told or "turned" in told:
        for attribute in _ATTRIBUTES:
            signed = any(sign in told for sign in attribute.signs)
            match = attribute.pattern.search(told) if signed else None
            if match is not None:
                found.append(_triple(match["owner"], attribute.relation, match["value"], single=True))
        match = _FAVOURITE.search(told) if "favo" in told else None
        if match is not None:
            relation = f"favourite_{match['thing'].replace(' ', '_')}"
            found.append(_triple(match["owner"], relation, match["value"], single=True))
    return found


def _kin(told: str) -> list[Triple]:
    if "'s " not in told and "’s " not in told:
        return []
    found = []
    for pattern in (_IS_KIN, _KIN_NAMED):
        match = pattern.search(told)
        if match is not None and match["kin"] in _KIN and match["subject"] != match["owner"]:
            relation = f"{match['kin']}_of"
            found.append(
                _triple(match["subject"], relation, match["owner"], single=match["kin"] in _SINGLE_KIN)
            )
    return found


def _triple(subject: str, relation: str, value: str, *, single: bool) -> Triple:
    return Triple(
        subject=subject.strip(), relation=relation, object=value.strip(" .,;"), single_valued=single
    )


def _surest(found: Sequence[Triple]) -> list[Triple]:
    """Single-valued ones first: they say what is true now."""
    unique = list(dict.fromkeys(found))
    return sorted(unique, key=lambda triple: not triple.single_valued)
