"""Opinions as they are asked for: all that are held, those on a subject, or one."""

from __future__ import annotations

from perdure.domain.filter import Filter
from perdure.domain.opinion import Opinion
from perdure.errors import InvalidInput, NotFound
from perdure.ports.store import Rows
from perdure.recall.beliefs import held_opinions, subject_entities
from perdure.text.names import normal_name


def list_opinions(
    rows: Rows, where: Filter, *, subject: str | None = None, min_confidence: float = 0.0
) -> list[Opinion]:
    """The opinions that are held at the filter's `as_of`, surest first; `subject` is a name, an alias or the id of an entity."""
    if isinstance(min_confidence, bool) or not isinstance(min_confidence, int | float) or not 0 <= min_confidence <= 1:  # fmt: skip
        raise InvalidInput("min_confidence", "a number from 0 to 1", min_confidence)
    opinions = [opinion for opinion in held_opinions(rows, where) if opinion.confidence >= min_confidence]
    if subject is None:
        return opinions
    key = normal_name(subject)
    named = subject_entities(rows, [subject]).get(key)
    return [
        opinion
        for opinion in opinions
        if opinion.entity_id == subject
        or normal_name(opinion.subject) == key
        or (named is not None and opinion.entity_id == named.id)
    ]


def one_opinion(rows: Rows, where: Filter, opinion_id: str) -> Opinion:
    """One opinion that is held at the filter's `as_of`; NotFound for any other."""
    for opinion in held_opinions(rows, where, [opinion_id]):
        return opinion
    raise NotFound("opinion", opinion_id)
