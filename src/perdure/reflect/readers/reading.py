"""What readers share: the result of a reading, the order in which sentences are tried, and phrases of a parse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from perdure.ports.tagger import Token
from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage, PassageSentence
from perdure.text.supposition import is_supposed
from perdure.text.terms import index_terms
from perdure.text.wordlist import word_set

MAX_WORDS = 14
"""An answer of more words is a sentence, not a short answer."""
TRIED = 8
"""Sentences that a reader of one value tries, best first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A short answer and the passages it was read from, the first one foremost."""

    answer: str
    passages: tuple[Passage, ...]
    reader: str
    values: tuple[str, ...] = ()
    """The parts of a list."""
    is_derived: bool = False
    """Whether it was worked out (counted, subtracted) rather than read as it stands."""
    note: str = ""


Reader = Callable[[Asked, Sequence[Passage]], Reading | None]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A sentence of a passage and how well it suits the question."""

    passage: Passage
    sentence: PassageSentence
    score: float
    coverage: float
    """Share of the question's telling terms that it holds."""


_ABOUT = {About.OWN: 0.0, About.MENTIONED: -0.7, About.UNCLEAR: -0.8, About.OTHER: -6.0}
_COVERAGE_WORTH = 3.5
_NEW_WORTH = 0.3
_MOST_NEW = 5
_SUPPOSED_COST = 0.8
_QUESTION_COST = 5.0
_GREETING = re.compile(
    r"^(?:thanks?|wow|hey|hi|hello|yeah|yes|sure|absolutely|congrats\w*|awesome|great|cool|nice|oh)\b[^.!?]{0,40}[.!?]*$",
    re.IGNORECASE,
)
_GREETING_COST = 3.0
_ATTACHMENT_COST = 4.0
_ATTACHMENT_ASKED = re.compile(
    r"\b(?:photo|picture|image|pic|photograph|video|share|shared|show|showed)\b", re.IGNORECASE
)


def coverage(asked: Asked, sentence: PassageSentence) -> float:
    """|telling terms of the question in the sentence| / |telling terms|; 1 when the question has none."""
    return len(asked.telling & sentence.terms) / len(asked.telling) if asked.telling else 1.0


def places(asked: Asked, passages: Sequence[Passage]) -> list[Place]:
    """All sentences, best first: by the passage's score, the question's words in them, and of whom they speak."""
    ranked: list[Place] = []
    wants_attachment = _ATTACHMENT_ASKED.search(asked.text) is not None
    for passage in passages:
        if not passage.is_supported:
            continue
        for sentence in passage.sentences:
            covered = coverage(asked, sentence)
            score = min(passage.strength, 8.0) + _COVERAGE_WORTH * covered + _ABOUT[passage.about]
            score += _NEW_WORTH * min(len(sentence.own_terms - asked.terms), _MOST_NEW)
            score -= _QUESTION_COST if sentence.is_question else 0.0
            score -= _GREETING_COST if _GREETING.match(sentence.text) else 0.0
            if sentence.is_attachment and not wants_attachment:
                score -= _ATTACHMENT_COST
            score -= _SUPPOSED_COST if is_supposed(sentence.text) else 0.0
            ranked.append(Place(passage, sentence, score, covered))
    return sorted(ranked, key=lambda place: -place.score)


def children(tokens: Sequence[Token], head: int) -> Iterator[int]:
    """Indexes of the tokens that hang on one."""
    for index, token in enumerate(tokens):
        if token.head == head and index != head:
            yield index


def subtree(tokens: Sequence[Token], head: int, leave: frozenset[str] = frozenset()) -> list[int]:
    """A token and all below it, without the branches of some relations; in order."""
    members, waiting = {head}, [head]
    while waiting:
        for child in children(tokens, waiting.pop()):
            if child not in members and tokens[child].dep not in leave:
                members.add(child)
                waiting.append(child)
    return sorted(members)


_TAIL = frozenset({"relcl", "advcl", "cc", "conj", "punct", "parataxis", "ccomp", "dep", "appos"})
_JOINED = frozenset({"cc", "conj", "punct", "appos"})


def noun_phrase(
    sentence: PassageSentence, head: int, *, with_tail: bool = True, with_others: bool = False
) -> str:
    """The phrase of a noun: what stands before it, the prepositions behind it, and with others what "and" joins to it."""
    tokens = sentence.tokens
    members = subtree(tokens, head, _TAIL - _JOINED if with_others else _TAIL)
    members = _unbroken(members, head)
    if not with_tail:
        members = [index for index in members if index <= head or tokens[index].dep == "case"]
    return clean(sentence.piece(members[0], members[-1]))


def _unbroken(members: Sequence[int], head: int) -> list[int]:
    """The run of neighbouring indexes around the head."""
    present = set(members)
    first = last = head
    while first - 1 in present:
        first -= 1
    while last + 1 in present:
        last += 1
    return list(range(first, last + 1))


def conjuncts(tokens: Sequence[Token], head: int) -> list[int]:
    """A token and those joined to it by "and" and commas."""
    joined = [head]
    for index in joined:
        joined += [
            child
            for child in children(tokens, index)
            if tokens[child].dep in ("conj", "appos") and tokens[child].pos == tokens[head].pos
        ]
    return joined


_EDGE = " \t\n\"'“”‘’.,;:!?()[]{}*_–—-"
_DETERMINER = re.compile(
    r"^(?:the|a|an|some|this|that|these|those|such an?|my|our|your|his|her|its|their|any|all|both|just|also|really|[A-Z][\w-]*'s(?= \w))\s+",
    re.IGNORECASE,
)


def clean(text: str) -> str:
    """A phrase without marks at its edges."""
    return " ".join(text.split()).strip(_EDGE)


def without_determiner(text: str) -> str:
    """A phrase without its article or possessive."""
    return _DETERMINER.sub("", text, count=1)


def shorten(text: str, words: int = MAX_WORDS) -> str:
    """The first words of a phrase."""
    parts = text.split()
    return clean(" ".join(parts[:words])) if len(parts) > words else text


def is_new(phrase: str, asked: Asked) -> bool:
    """Whether a phrase says something that the question does not."""
    terms = set(index_terms(phrase))
    return bool(terms - asked.terms) and bool(terms)


_VAGUE = word_set(
    "it he she they them him her this that these those something anything everything nothing one ones thing things lot lots bit way "
    "time times day days part parts kind sort stuff much many who which what there here everyone someone anyone people guys "
    "i we you me us myself yourself themself themselves"
)


def is_vague(phrase: str) -> bool:
    """Whether a phrase names nothing by itself ("it", "a lot", "some things")."""
    words = without_determiner(phrase).lower().split()
    return not words or all(
        word in _VAGUE or word in ("of", "a", "the", "great", "good", "new") for word in words
    )


def same_verb(token: Token, verb: str) -> bool:
    """Whether a token is a form of the question's verb, or shares its stem."""
    if not verb or token.pos not in ("VERB", "AUX", "NOUN", "ADJ"):
        return False
    return token.lemma.lower() == verb or index_terms(token.text).keys() == index_terms(verb).keys()
