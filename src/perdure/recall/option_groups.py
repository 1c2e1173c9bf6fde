"""Groups of a recall's options: what to add to the facts, what the question is about, floors of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perdure.domain.options import NOT_MCP, PROGRAMS, Options, option
from perdure.domain.time import Window, read_window


@dataclass(frozen=True, slots=True, kw_only=True)
class Include(Options):
    """What to return in addition to the facts."""

    chunks: bool = option(False, "Add the source text of the facts.", on=NOT_MCP)
    max_chunk_tokens: int = option(8192, "Tokens of source text to return.", at_least=0, on=PROGRAMS)
    questions: bool = option(
        False, "Return questions that were put to the agent too; a question about them does so by itself.",
        on=PROGRAMS,
    )  # fmt: skip
    entities: bool = option(False, "Add the entities that the facts mention.", on=NOT_MCP)
    observations: bool = option(True, "Add observations that are near the question.", on=PROGRAMS)
    max_observation_tokens: int = option(200, "Tokens of observations to return.", at_least=0, on=PROGRAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation(Options):
    """The circumstances of the conversation that asks; facts from a similar one gain in the recipe `abmind`."""

    hour: int | None = option(None, "Hour of the day.", at_least=0, at_most=23, on=PROGRAMS)
    day_of_week: int | None = option(
        None, "Day of the week; Monday is 0.", at_least=0, at_most=6, on=PROGRAMS
    )
    topic: str | None = option(None, "Topic of the conversation.", on=PROGRAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints(Options):
    """What the caller knows about the question; it affects the ranking and filters nothing."""

    window: Window | None = option(
        None, "The time that the question is about, instead of reading the question for it.", on=PROGRAMS,
        read=read_window, accepts=Window | Mapping[str, object] | None,
    )  # fmt: skip
    entities: tuple[str, ...] = option(
        (),
        "Names of entities to start from, in addition to those in the question.",
        on=NOT_MCP,
        flat="hint",
    )
    situation: Situation | None = option(None, "Circumstances of the conversation that asks.", on=PROGRAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinScores(Options):
    """Lowest scores, inclusive: the first two inside their channels, the others on the scored results."""

    semantic: float | None = option(None, "Lowest cosine of the semantic channel.", on=PROGRAMS)
    keyword: float | None = option(None, "Lowest score of the keyword channel.", on=PROGRAMS)
    reranker: float | None = option(None, "Lowest score of the reader or reranker.", on=PROGRAMS)
    final: float | None = option(None, "Lowest final score.", on=PROGRAMS)
