"""Why and how: the clause that gives the reason, the means or the manner."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import TRIED, Reading, clean, is_new, places, shorten
from perdure.reflect.readers.what import phrase_of, predicate

_REASON = re.compile(
    r"(?<!\w)(?:because(?: of)?|'cause|since (?!\d)|due to|thanks to|so that|in order to|as it|after (?=\w+ing\b)|inspired by|motivated by)\s+(?P<clause>[^.;!?]{3,140})",
    re.IGNORECASE,
)
_PURPOSE = re.compile(r"\bto (?P<clause>[a-z]+ [^.;!?,]{3,120})")
_MEANS = re.compile(r"\b(?P<clause>(?:by|through|via|with the help of) [^.;!?,]{3,100})", re.IGNORECASE)
_FELT = re.compile(
    r"\b(?:feel(?:s|ing)?|felt|is|was|are|were|been|be|seem(?:s|ed)?|look(?:s|ed)?|sound(?:s|ed)?|made \w+ feel)\s+"
    r"(?P<clause>(?:(?:so|really|very|pretty|super|a bit|incredibly|quite|such an?|truly|just|absolutely) )*[a-z-]+(?:,? and [a-z-]+)?)",
    re.IGNORECASE,
)
_FEELING = re.compile(
    r"^how (?:do|does|did|is|was|are|were|has|have)\b.*\b(?:feel|felt|feeling|describe|react|reaction|doing|like|going)\b|\bfeel\b",
    re.IGNORECASE,
)
_SO = re.compile(r"^(?:so |really |very |pretty |just |truly |absolutely |super )+", re.IGNORECASE)
_LEAST_COVERAGE = 0.3


def read_why(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The clause behind "because", "so that" or "to" in the best sentences, else what the best one says."""
    best = _ranked(asked, passages)
    for pattern in (_REASON, _PURPOSE):
        for passage, text, covered in best:
            match = pattern.search(text)
            if match is not None and covered >= _LEAST_COVERAGE and is_new(match["clause"], asked):
                prefix = "to " if pattern is _PURPOSE else ""
                return Reading(
                    answer=prefix + shorten(clean(match["clause"])), passages=(passage,), reader="why"
                )
    return None


def read_how(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """A feeling or description, a means ("by ..."), else what the best sentence says of its subject."""
    if _FEELING.search(asked.text):
        for passage, text, covered in _ranked(asked, passages):
            match = _FELT.search(text)
            if match is not None and covered >= _LEAST_COVERAGE and is_new(match["clause"], asked):
                return Reading(answer=_SO.sub("", clean(match["clause"])), passages=(passage,), reader="how")
    for passage, text, covered in _ranked(asked, passages):
        match = _MEANS.search(text)
        if match is not None and covered >= _LEAST_COVERAGE and is_new(match["clause"], asked):
            return Reading(answer=shorten(clean(match["clause"])), passages=(passage,), reader="how")
    for place in places(asked, passages)[:TRIED]:
        if place.sentence.is_question or place.passage.about is About.OTHER:
            continue
        answer = predicate(asked, place.sentence) or phrase_of(asked, place)
        if answer:
            return Reading(answer=answer, passages=(place.passage,), reader="how")
    return None


def _ranked(asked: Asked, passages: Sequence[Passage]) -> list[tuple[Passage, str, float]]:
    return [
        (place.passage, place.sentence.text, place.coverage)
        for place in places(asked, passages)[:TRIED]
        if not place.sentence.is_question and place.passage.about is not About.OTHER
    ]
