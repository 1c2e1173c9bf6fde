"""The latest value: what a stored relation of the subject says."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import Passage
from perdure.reflect.readers.reading import Reading, is_new
from perdure.text.asked_slot import read_asked_slot


def read_slot(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The object of the first fact that states the slot the question asks for; recall puts the value in force first."""
    slot = read_asked_slot(asked.text)
    if slot is None:
        return None
    for passage in passages:
        fact = passage.fact
        if fact.object and passage.is_supported and slot.states(fact.subject, fact.relation):
            return (
                Reading(answer=fact.object, passages=(passage,), reader="latest value")
                if is_new(fact.object, asked)
                else None
            )
    return None
