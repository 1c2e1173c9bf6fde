"""What a caller may set for a recall beside its filter: what to add, what the question is about, floors of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from perdure.domain.filter import read_strings
from perdure.domain.time import Window
from perdure.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Include:
    """What to return beside the facts."""

    chunks: bool = False
    """The source text of the facts, within `max_chunk_tokens` of its own."""
    max_chunk_tokens: int = 8192
    entities: bool = False
    """The entities that the facts mention."""
    observations: bool = True
    """Observations near to the question, within `max_observation_tokens` of their own; see `RecallResult.observations`."""
    max_observation_tokens: int = 200

    def __post_init__(self) -> None:
        check_integer(self.max_chunk_tokens, "max_chunk_tokens", 0)
        check_integer(self.max_observation_tokens, "max_observation_tokens", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The circumstances of the conversation that asks; facts from a like situation gain in the recipe `abmind`."""

    hour: int | None = None
    day_of_week: int | None = None
    """Monday is 0."""
    topic: str | None = None

    def __post_init__(self) -> None:
        for name, highest in (("hour", 23), ("day_of_week", 6)):
            value = getattr(self, name)
            if value is not None:
                check_integer(value, name, 0, highest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the caller knows of the question; ranks, never filters."""

    window: Window | None = None
    """The time that the question is about, instead of reading the question for it."""
    entities: Sequence[str] = ()
    """Names beside those in the question."""
    situation: Situation | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "entities", read_strings(self.entities, "hints.entities"))
        if self.window is not None and not isinstance(self.window, Window):
            raise InvalidInput("hints.window", "a Window(start, end)", self.window)
        if self.situation is not None and not isinstance(self.situation, Situation):
            raise InvalidInput("hints.situation", "a Situation", self.situation)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinScores:
    """Floors, all inclusive: the first two inside their channels, the others on the scored results."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, int | float):
                raise InvalidInput(f"min_scores.{name}", "a number", value)


def check_integer(value: object, name: str, least: int, most: int | None = None) -> None:
    """Raise InvalidInput unless the value is an integer within the bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or value < least
        or (most is not None and value > most)
    ):
        raise InvalidInput(name, f"an integer {bounds}", value)
