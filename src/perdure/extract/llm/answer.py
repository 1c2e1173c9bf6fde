"""What a language model answers about turns; every value in it is a proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from perdure.llm.answer import Expected, expect


class WordedFact(BaseModel):
    """One fact as the model words it; flat, since its names are sent with every call and come back with every fact."""

    turn: int
    text: str
    type: Literal["world", "experience"] = "world"
    entities: list[str] = Field(default_factory=list)
    """Each "type:name"."""
    relation: list[str] = Field(default_factory=list)
    """Subject, relation and object."""
    quote: str = ""
    when: str = ""
    date: str = ""
    causes: list[list[float]] = Field(default_factory=list)
    """Each [position in the answer, confidence]."""
    changed: list[str] = Field(default_factory=list)
    """Labels of offered facts."""
    corrected: list[str] = Field(default_factory=list)

    def named(self) -> list[tuple[str, str]]:
        """(name, type) of the entities; one without a type is a concept."""
        pairs = []
        for entity in self.entities:
            kind, separator, name = entity.partition(":")
            pairs.append((name.strip(), kind.strip().casefold()) if separator else (kind.strip(), ""))
        return [(name, kind) for name, kind in pairs if name]

    def caused_by(self) -> dict[int, float]:
        """Position in the answer -> confidence, 0.7 where none is given."""
        causes: dict[int, float] = {}
        for cause in self.causes:
            if cause and cause[0] == int(cause[0]):
                causes[int(cause[0])] = min(max(cause[1], 0.0), 1.0) if len(cause) > 1 else 0.7
        return causes


class WordedFacts(BaseModel):
    """All that is asked for at once."""

    facts: list[WordedFact]


def expected_facts() -> Expected[WordedFacts]:
    """The answer's form, with a schema as short as it can be: it is sent with every call."""
    expected = expect(WordedFacts, items="facts")
    definitions = expected.schema.get("$defs")
    shared = definitions if isinstance(definitions, Mapping) else {}
    short = {key: value for key, value in expected.schema.items() if key != "$defs"}
    return replace(expected, schema=_shortened(short, shared, inside_properties=False))


def _shortened(
    schema: Mapping[str, object], definitions: Mapping[str, object], *, inside_properties: bool
) -> dict[str, object]:
    """A schema without titles, descriptions and defaults, with definitions where they are referred to."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = definitions[reference.rsplit("/", 1)[-1]]
        assert isinstance(target, Mapping)
        return _shortened(target, definitions, inside_properties=False)
    short: dict[str, object] = {}
    for key, value in schema.items():
        if key in ("title", "description", "default") and not inside_properties:
            continue
        short[key] = (
            _shortened(value, definitions, inside_properties=key == "properties" and not inside_properties)
            if isinstance(value, Mapping)
            else value
        )
    return short
