"""What a language model answers about turns; every value in it is a proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from perdure.llm.expected import Expected, expect


class NamedThing(BaseModel):
    """An entity by its name."""

    name: str
    type: str = "concept"


class CausedBy(BaseModel):
    """An earlier fact of the answer, by its position."""

    fact: int
    confidence: float = 0.7


class Replaced(BaseModel):
    """A fact of the memory, by its label in the prompt."""

    id: str
    how: Literal["changed", "corrected"] = "changed"


class WordedFact(BaseModel):
    """One fact as the model words it."""

    turn: int
    text: str
    type: Literal["world", "experience"] = "world"
    entities: list[NamedThing] = Field(default_factory=list)
    quote: str = ""
    when: str = ""
    date: str = ""
    causes: list[CausedBy] = Field(default_factory=list)
    replaces: list[Replaced] = Field(default_factory=list)


class WordedFacts(BaseModel):
    """All that is asked for at once."""

    facts: list[WordedFact]


def expected_facts() -> Expected[WordedFacts]:
    """The answer's form, with a schema as short as it can be: it is sent with every call."""
    expected = expect(WordedFacts, items="facts")
    return replace(expected, schema=_without_words(expected.schema))


def _without_words(schema: Mapping[str, object]) -> dict[str, object]:
    """A schema without titles, descriptions and defaults."""
    short: dict[str, object] = {}
    for key, value in schema.items():
        if key in ("title", "description", "default") and not isinstance(value, Mapping):
            continue
        if key == "default":
            continue
        if isinstance(value, Mapping):
            short[key] = _without_words(value)
        elif isinstance(value, list):
            short[key] = [_without_words(one) if isinstance(one, Mapping) else one for one in value]
        else:
            short[key] = value
    return short
