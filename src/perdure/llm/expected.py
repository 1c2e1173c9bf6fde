"""The expected form of a structured answer: its JSON schema and its reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from perdure.ports.llm import JsonSchema

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected(Generic[T]):
    """A structured answer. `read` raises ValueError that says what is wrong, in words that a model can act on."""

    schema: JsonSchema
    read: Callable[[object], T]
    items: str = ""
    """The list in the answer whose complete items are kept if the answer was cut; empty: a cut answer is useless."""


def expect(model: type[M], *, items: str = "") -> Expected[M]:
    """Expect an answer that satisfies a pydantic model."""

    def read(value: object) -> M:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error

    return Expected(schema=model.model_json_schema(), read=read, items=items)
