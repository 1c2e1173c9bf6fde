"""Conclusions: what somebody would do, as far as what they like or dislike bears on it.

"Would Ann enjoy a hike?" is answered "Likely yes" by "Ann loves hiking", and by an opinion of the bank that says so. Nothing
but stated likings leads to a conclusion: what a person would do for other reasons is not worked out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.domain.opinion import Polarity
from perdure.reflect.asked import Asked
from perdure.reflect.opinions.attitudes import Attitude, attitudes_of
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.reading import Reading
from perdure.text.names import normal_name
from perdure.text.terms import index_terms

MAX_REASONS = 3
_CONCLUDES = re.compile(
    r"^(?:and |so |but )?(?:would|could|might|may|will|is it (?:likely|probable|possible)|do you think|is \w+ likely)\b",
    re.IGNORECASE,
)
_FRAME = frozenset(
    index_terms(
        "would could might likely probably possible think enjoy like love want interested interest consider considered option "
        "pursue open prefer good great person more most also still ever soon go going try"
    )
)
"""Words of such questions that tell nothing of what they are about."""


def read_conclusion(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """ "Likely yes" or "Likely no" by the likings of the one person asked about; None where none bears on it, or they disagree."""
    if len(asked.persons) != 1 or not _CONCLUDES.match(asked.text):
        return None
    about = asked.telling - _FRAME
    reasons = [
        (attitude, passage)
        for passage in passages
        if passage.about is not About.OTHER
        for attitude in attitudes_of(passage.fact)
        if _is_of(attitude, asked.persons[0])
        and about & set(index_terms(attitude.topic))
        and not attitude.hedged
    ]
    polarities = {attitude.polarity for attitude, _ in reasons}
    if len(polarities) != 1:
        return None
    likes = polarities == {Polarity.POSITIVE}
    sources = tuple(dict.fromkeys(passage for _, passage in reasons))[:MAX_REASONS]
    return Reading(
        answer="Likely yes" if likes is not asked.is_negative else "Likely no",
        passages=sources,
        reader="conclusion",
        is_derived=True,
        note=f"since {reasons[0][0].statement}",
    )


def _is_of(attitude: Attitude, person: str) -> bool:
    return normal_name(attitude.subject).split()[:1] == normal_name(person).split()[:1]
