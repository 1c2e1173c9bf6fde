"""Yes or no: whether the facts say the same as the question, or deny it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import TRIED, Reading, places

_DENIAL = re.compile(
    r"\b(?:not|never|no longer|neither|nor|without|hardly|barely|stopped|quit|gave up|refus\w+|hates?|dislikes?|can't stand|none|nobody|nothing)\b|n't\b",
    re.IGNORECASE,
)
_NOT_DENIAL = re.compile(
    r"\b(?:not only|can't wait|couldn't be (?:more|happier)|not to mention|why not|no doubt|can't believe|never (?:gets|get|fails?))\b",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"^(?P<no>no|nope|nah|not really|not yet|not at all)\b|^(?P<yes>yes|yeah|yep|yup|sure|definitely|absolutely|totally|of course|exactly|indeed)\b",
    re.IGNORECASE,
)
_WOULD = re.compile(r"^(?:would|could|might|is it likely)\b", re.IGNORECASE)
LEAST_COVERAGE = 0.6


def read_yes_no(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """By the best sentence that holds most of the question's words; None where none does."""
    for place in places(asked, passages)[:TRIED]:
        if place.sentence.is_question or place.passage.about is About.OTHER:
            continue
        if place.coverage < LEAST_COVERAGE:
            continue
        agrees = is_denied(place.sentence.text) == asked.is_negative
        reply = _REPLY.match(place.sentence.text.strip()) if place.sentence.question else None
        if reply is not None and reply["no"]:
            agrees = False
        word = "Yes" if agrees else "No"
        if _WOULD.match(asked.text):
            word = f"Likely {word.lower()}"
        return Reading(answer=word, passages=(place.passage,), reader="yes or no")
    return None


def is_denied(text: str) -> bool:
    """Whether a sentence denies what its words say ("does not", "never", "stopped")."""
    return len(_DENIAL.findall(_NOT_DENIAL.sub(" ", text))) % 2 == 1
