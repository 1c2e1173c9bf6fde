"""A list of all: the values that several facts about one subject tell, each with its fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import (
    Place,
    Reading,
    clean,
    conjuncts,
    is_new,
    is_vague,
    noun_phrase,
    places,
    without_determiner,
)
from perdure.reflect.readers.what import best_phrases, is_answer, titles_in
from perdure.text.terms import index_terms

MAX_ITEMS = 12
MAX_FACTS = 10
_LEAST_COVERAGE = 0.34
_DEPTH = 6.0
"""How far below the best sentence one still adds to the list."""
_SUCH_AS = re.compile(
    r"\b(?:such as|like|including|e\.g\.|for example)\s+(?P<items>[^.;!?]{3,120})", re.IGNORECASE
)
_CIRCUMSTANCE = re.compile(r"\s+(?:on|at|in|during|since|every|last|this)\s.*$", re.IGNORECASE)
_JOINT = re.compile(r",\s*(?:and|or)\s+|,\s*|\s+(?:and|or|&)\s+")


def read_list(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The different values over all facts that bear on the question; None where none is read."""
    items = read_items(asked, passages)
    if not items:
        return None
    sources = tuple(dict.fromkeys(passage for _, passage in items))
    answer = ", ".join(item for item, _ in items)
    note = f"gathered from {len(sources)} facts" if len(sources) > 1 else ""
    values = tuple(item for item, _ in items)
    return Reading(answer=answer, values=values, passages=sources, reader="list of all", note=note)


def read_items(asked: Asked, passages: Sequence[Passage]) -> list[tuple[str, Passage]]:
    """(value, fact it was read from), best first, without repetitions."""
    ranked = [
        place
        for place in places(asked, passages)
        if not place.sentence.is_question
        and not place.sentence.is_attachment
        and place.passage.about is not About.OTHER
        and place.coverage > 0.0
    ]
    if not ranked:
        return []
    items: list[tuple[str, Passage]] = []
    seen: list[frozenset[str]] = []
    sources: set[str] = set()
    for place in ranked:
        if place.score < ranked[0].score - _DEPTH or len(items) >= MAX_ITEMS:
            break
        if len(sources) >= MAX_FACTS and place.passage.fact.id not in sources:
            continue
        for phrase in _items(asked, place):
            terms = frozenset(index_terms(phrase))
            if not terms or any(terms <= other or other <= terms for other in seen):
                continue
            seen.append(terms)
            items.append((phrase, place.passage))
            sources.add(place.passage.fact.id)
    return items[:MAX_ITEMS]


def _items(asked: Asked, place: Place) -> Iterator[str]:
    sentence = place.sentence
    such = _SUCH_AS.search(sentence.text)
    if such is not None:
        parts = [clean(without_determiner(part)) for part in _JOINT.split(such["items"])]
        if len(parts) > 1:
            yield from (part for part in parts if 0 < len(part.split()) <= 6 and is_new(part, asked))
            return
    titles = titles_in(asked, sentence)
    if titles:
        yield from titles
        return
    for head in best_phrases(asked, place):
        if place.coverage < _LEAST_COVERAGE and not is_answer(asked, sentence.tokens, head):
            continue
        for index in conjuncts(sentence.tokens, head):
            phrase = _CIRCUMSTANCE.sub("", without_determiner(noun_phrase(sentence, index)))
            if not is_vague(phrase) and is_new(phrase, asked):
                yield phrase
        return
