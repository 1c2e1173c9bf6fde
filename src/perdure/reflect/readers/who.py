"""Who: the person who did it, or with, to or for whom it was done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perdure.ports.tagger import Token
from perdure.reflect.asked import Asked
from perdure.reflect.passages import Passage
from perdure.reflect.readers.reading import (
    TRIED,
    Place,
    Reading,
    clean,
    conjuncts,
    is_vague,
    noun_phrase,
    places,
    same_verb,
)
from perdure.text.kin import PERSONS
from perdure.text.names import normal_name
from perdure.text.terms import index_terms
from perdure.text.wordlist import word_set

_PREPOSITION = re.compile(
    r"\b(with|to|from|for|by|about|of|behind)\s*\?*$|^(with|to|from|for|by|about) who", re.IGNORECASE
)
_WORTH = {"person": 1.8, "concept": 1.0}
"""By the type of a mention: the tagger does not know every name for one of a person."""
_FITTING = 1.5
"""From here on the place in the sentence makes a person of any name."""
_ROLES = ("nsubj", "nsubjpass", "pobj", "dobj", "appos", "conj", "attr", "agent", "dative")
_GROUPS = word_set(
    "family friend friends team teammates group colleagues coworkers people neighbors neighbours students kids children crew band "
    "community folks man woman guy girl boy lady person clients customers crowd parents siblings fans players actor singer author"
)


def read_who(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The best person of the best sentences."""
    chosen: tuple[float, str, Passage] | None = None
    for place in places(asked, passages)[:TRIED]:
        if place.sentence.is_question:
            continue
        for worth, name in _persons(asked, place):
            if chosen is None or place.score + worth > chosen[0]:
                chosen = place.score + worth, name, place.passage
    if chosen is None:
        return None
    return Reading(answer=chosen[1], passages=(chosen[2],), reader="who")


def _persons(asked: Asked, place: Place) -> Iterator[tuple[float, str]]:
    sentence = place.sentence
    preposition = _PREPOSITION.search(asked.text)
    wanted_case = (preposition[1] or preposition[2] or "").lower() if preposition else ""
    names = [mention for mention in sentence.mentions if mention.type in _WORTH]
    for mention in sentence.mentions:
        if set(index_terms(mention.text)) <= asked.terms or not normal_name(mention.text):
            continue
        worth = sum(
            _role_worth(asked, sentence.tokens, token, wanted_case)
            for token in sentence.tokens
            if mention.start <= token.start < mention.end
        )
        if mention in names or worth >= _FITTING:
            yield worth + _WORTH.get(mention.type, 0.6), clean(mention.text)
    typed = sentence.mentions
    for index, token in enumerate(sentence.tokens):
        if token.pos != "PROPN" or token.dep not in _ROLES or set(index_terms(token.text)) <= asked.terms:
            continue
        if not any(mention.start <= token.start < mention.end for mention in typed):
            worth = _WORTH["concept"] + _role_worth(asked, sentence.tokens, token, wanted_case)
            yield worth, noun_phrase(sentence, index, with_tail=False)
    for index, token in enumerate(sentence.tokens):
        if token.pos != "NOUN" or token.text.lower() not in PERSONS | _GROUPS:
            continue
        if any(mention.start <= token.start < mention.end for mention in names):
            continue
        phrase = _joined(place, index)
        if set(index_terms(phrase)) <= asked.terms or is_vague(phrase):
            continue
        yield 0.3 + _role_worth(asked, sentence.tokens, token, wanted_case), phrase
    if place.sentence.is_quote and not asked.persons and re.search(r"\b(?:I|we)\b", sentence.text):
        yield 0.5, place.passage.fact.speaker or ""


def _joined(place: Place, index: int) -> str:
    phrases = [
        noun_phrase(place.sentence, one, with_tail=False) for one in conjuncts(place.sentence.tokens, index)
    ]
    return " and ".join(dict.fromkeys(phrases))


def _role_worth(asked: Asked, tokens: Sequence[Token], token: Token, preposition: str) -> float:
    """How well a person's place in the sentence fits what is asked of the person; a name behind "cousin" has the cousin's."""
    own = tokens[token.head] if token.dep in ("appos", "compound") else token
    governor = tokens[own.head]
    if preposition:
        return _FITTING if own.dep == "pobj" and governor.text.lower() == preposition else 0.0
    if own.dep in ("nsubj", "agent", "pobj") and same_verb(governor, asked.verb):
        return _FITTING
    return 0.5 if own.dep in ("nsubj", "dobj", "attr") else 0.0
