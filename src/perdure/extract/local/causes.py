"""Cause and effect between neighbouring statements of a turn, by the word that the later one begins with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from perdure.extract.local.words import word_lists
from perdure.ports.extractor import Cause, ExtractedFact

_CONFIDENCE = {"cause": 0.85, "effect": 0.65}
_FIRST_WORD = re.compile(r"['’]?[^\W\d_]+")


def with_causes(facts: Sequence[ExtractedFact], first: int) -> list[ExtractedFact]:
    """Return the statements of one turn with links to what caused them; `first` is the index of the first in its document."""
    linked = list(facts)
    for index in range(1, len(linked)):
        kind = _opening(linked[index].text)
        if kind is not None:
            effect, cause = (index - 1, index) if kind == "cause" else (index, index - 1)
            link = Cause(cause=first + cause, confidence=_CONFIDENCE[kind])
            linked[effect] = replace(linked[effect], causes=(*linked[effect].causes, link))
    return linked


def _opening(text: str) -> str | None:
    match = _FIRST_WORD.match(text)
    if match is None:
        return None
    word = match[0].casefold().replace("’", "'")
    return next((kind for kind, words in word_lists("causes").items() if word in words), None)
