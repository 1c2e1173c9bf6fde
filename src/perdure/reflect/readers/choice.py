"""Which of these: the option that the facts speak for, or that came first or last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import Place, Reading, places
from perdure.reflect.readers.yes_no import is_denied
from perdure.text.terms import index_terms

_ORDER = re.compile(
    r"\b(?:first|earlier|before|older|last|later|latest|after|most recent(?:ly)?|younger)\b", re.IGNORECASE
)
_LATER = re.compile(r"\b(?:last|later|latest|after|most recent(?:ly)?|younger)\b", re.IGNORECASE)


def read_choice(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The option that stands in the best sentence which holds only one of them; for "first" and "last" by the facts' times."""
    ranked = [
        place
        for place in places(asked, passages)
        if not place.sentence.is_question and place.passage.about is not About.OTHER
    ]
    terms = {option: frozenset(index_terms(option)) for option in asked.options}
    best = {option: _best(ranked, own) for option, own in terms.items() if own}
    if _ORDER.search(asked.text) and len(best) > 1:
        return _by_time(asked, best)
    spoken = [(place, option) for option, place in best.items() if place is not None]
    if not spoken:
        return None
    place, option = max(spoken, key=lambda pair: (_shared(terms[pair[1]], pair[0]), pair[0].score))
    return Reading(answer=option, passages=(place.passage,), reader="which of these")


def _best(ranked: Sequence[Place], own: frozenset[str]) -> Place | None:
    """The best sentence that speaks of an option and does not deny it."""
    return next(
        (place for place in ranked if own & place.sentence.terms and not is_denied(place.sentence.text)), None
    )


def _shared(own: frozenset[str], place: Place) -> float:
    return len(own & place.sentence.terms) / len(own)


def _by_time(asked: Asked, best: dict[str, Place | None]) -> Reading | None:
    """By when each happened, as far as every option has a fact with a time."""
    dated: list[tuple[datetime, str, Passage]] = []
    for option, place in best.items():
        fact = place.passage.fact if place is not None else None
        moment = fact.dated if fact is not None else None
        if place is None or moment is None:
            return None
        dated.append((moment, option, place.passage))
    ordered = sorted(dated, key=lambda one: one[0])
    if ordered[0][0] == ordered[-1][0]:
        return None
    is_later = _LATER.search(asked.text.split(",")[0]) is not None
    _, option, _ = ordered[-1 if is_later else 0]
    sources = tuple(dict.fromkeys(passage for _, _, passage in ordered))
    return Reading(
        answer=option,
        passages=sources,
        reader="which of these",
        is_derived=True,
        note="by the times of the facts",
    )
