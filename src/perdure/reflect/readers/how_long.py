"""How long: a stretch of time that a sentence states, or that two stored times bound."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import TRIED, Reading, places

_NUMBER = (
    r"(?:\d+(?:[.,]\d+)?|an?|half an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty|thirty|forty|fifty|a few|a couple(?: of)?|several|many|couple of|few)"
)
_DURATION = re.compile(
    rf"\b(?:(?:about|around|almost|nearly|over|under|roughly|more than|less than|at least|only|just) )?{_NUMBER}(?:[ -](?:and a half|full|whole|long|more))?"
    r"[ -](?:second|minute|hour|day|night|week|weekend|month|year|decade)s?\b(?! (?:ago|old|later|before|after|from now))(?:,? (?:and )?(?:a half|\w+ (?:days?|weeks?|months?|hours?|minutes?)))?",
    re.IGNORECASE,
)
_AGO = re.compile(rf"\b{_NUMBER} (?:day|week|month|year|decade)s? (?:ago|now|back)\b", re.IGNORECASE)
_SINCE = re.compile(
    r"\bsince (?:(?:early|late|mid-?|the) )?(?:\d{4}|(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?"
    r"|\w+ (?:grade|school)|childhood)\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(?:all (?:day|night|week|summer|winter|year)|the whole (?:day|night|week|weekend|summer|year)|whole life)\b",
    re.IGNORECASE,
)
_LEAST_COVERAGE = 0.25


def read_how_long(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The first duration of the best sentences that hold one, in the unit asked for where several stand there."""
    unit = asked.unit.rstrip("s")
    for patterns in ((_DURATION,), (_AGO, _SINCE, _PERIOD)):
        for place in places(asked, passages)[: 2 * TRIED]:
            if place.sentence.is_question or place.passage.about is About.OTHER:
                continue
            if place.coverage < _LEAST_COVERAGE:
                continue
            matches = [match[0] for pattern in patterns for match in pattern.finditer(place.sentence.text)]
            if matches:
                answer = next((one for one in matches if unit and unit in one.lower()), matches[0])
                return Reading(answer=answer.strip(), passages=(place.passage,), reader="how long")
    return None
