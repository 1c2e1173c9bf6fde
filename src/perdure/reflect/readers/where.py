"""Where: the place that a sentence names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import Passage
from perdure.reflect.readers.reading import (
    TRIED,
    Place,
    Reading,
    clean,
    is_new,
    is_vague,
    noun_phrase,
    places,
    same_verb,
)
from perdure.text.wordlist import word_set

_PREPOSITIONS = word_set("in at to from near on into around outside inside by through across over")
_TIMES = word_set(
    "morning evening afternoon night week weekend month year day days weeks months years summer winter spring autumn fall time times moment "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december "
    "today yesterday tomorrow future past life mind love fact way case touch"
)
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)


def read_where(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The best place of the best sentences."""
    chosen: tuple[float, str, Passage] | None = None
    for place in places(asked, passages)[:TRIED]:
        if place.sentence.is_question:
            continue
        for worth, name in _places(asked, place):
            if chosen is None or place.score + worth > chosen[0]:
                chosen = place.score + worth, name, place.passage
    if chosen is None:
        return None
    return Reading(answer=chosen[1], passages=(chosen[2],), reader="where")


def _places(asked: Asked, place: Place) -> Iterator[tuple[float, str]]:
    sentence = place.sentence
    origin = _FROM.search(asked.text) is not None
    for mention in sentence.mentions:
        if mention.type == "place" and is_new(mention.text, asked):
            before = sentence.text[: mention.start - sentence.start].rstrip().lower()
            worth = 3.0 if re.search(r"\b(?:in|at|to|near|from|into|visit\w*)(?: the)?$", before) else 2.2
            worth += 1.0 if origin and re.search(r"\bfrom(?: the)?$", before) else 0.0
            yield worth, clean(mention.text)
    for index, token in enumerate(sentence.tokens):
        if token.dep != "pobj" or token.text.lower() in _TIMES or token.pos not in ("NOUN", "PROPN"):
            continue
        governor = sentence.tokens[token.head]
        if governor.text.lower() not in _PREPOSITIONS:
            continue
        phrase = noun_phrase(sentence, index)
        if is_vague(phrase) or not is_new(phrase, asked):
            continue
        worth = 0.8 if governor.text.lower() in ("in", "at", "to") else 0.3
        worth += 0.7 if same_verb(sentence.tokens[governor.head], asked.verb) else 0.0
        worth += 1.0 if origin and governor.text.lower() == "from" else 0.0
        yield worth, phrase
