"""Pieces that several bodies have in common."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

MOST_ITEMS = 1_000_000
MOST_CHARACTERS = 2**31
"""More than any request has. The bound makes pydantic look into texts, and refuse lone surrogates by their place."""
TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
BudgetName = Literal["low", "mid", "high"]
FactTypeName = Literal["world", "experience", "opinion", "observation"]
Limit = Annotated[int, Query(ge=0, le=MOST_ITEMS, description="Most items to return")]
Offset = Annotated[int, Query(ge=0, le=2**53, description="Items to skip")]
Tags = Annotated[list[str] | None, Query(description="Only what carries these tags")]


def _without_bound(schema: Any) -> None:
    """Take that bound out of the published schema, where it says nothing."""
    if isinstance(schema, dict):
        if schema.get("maxLength") == MOST_CHARACTERS:
            del schema["maxLength"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            _without_bound(part)


class Body(BaseModel):
    """A request body; unknown fields are ignored, as Hindsight ignores them."""

    model_config = ConfigDict(
        extra="ignore", str_max_length=MOST_CHARACTERS, json_schema_extra=_without_bound
    )


class Problem(BaseModel):
    """A stable code and a message for people."""

    code: str
    message: str


class ErrorResponse(BaseModel):
    """Every error: FastAPI's `detail`, and what went wrong under a stable code."""

    detail: Any
    error: Problem


class TokenUsage(BaseModel):
    """Tokens that a language model used; all zero where none was asked."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0


class DispositionTraits(BaseModel):
    """How a bank reasons."""

    skepticism: int = Field(ge=1, le=5)
    literalism: int = Field(ge=1, le=5)
    empathy: int = Field(ge=1, le=5)


class DeleteResponse(BaseModel):
    """What a deletion did."""

    success: bool
    message: str | None = None
    deleted_count: int | None = None


class TagGroupLeaf(Body):
    """Tags and how to match them."""

    tags: list[str]
    match: TagsMatch = "any_strict"


class TagGroupAnd(BaseModel):
    """All parts must match."""

    all_of: list[TagGroup] = Field(alias="and")


class TagGroupOr(BaseModel):
    """One part must match."""

    any_of: list[TagGroup] = Field(alias="or")


class TagGroupNot(BaseModel):
    """The part must not match."""

    none_of: TagGroup = Field(alias="not")


TagGroup = TagGroupLeaf | TagGroupAnd | TagGroupOr | TagGroupNot

ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorResponse, "description": description}
    for code, description in (
        (400, "Not readable as JSON or form data"),
        (401, "No valid key"),
        (403, "The key may not do this"),
        (404, "Does not exist"),
        (409, "Contradicts what is stored"),
        (413, "The request is too large"),
        (422, "A value is wrong; `detail` names the field"),
        (429, "Too much at once; see Retry-After"),
        (503, "The store is busy; see Retry-After"),
        (504, "Took too long"),
    )
}


TagGroupAnd.model_rebuild()
TagGroupOr.model_rebuild()
TagGroupNot.model_rebuild()
