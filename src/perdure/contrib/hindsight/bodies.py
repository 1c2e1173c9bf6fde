"""Pieces that several request and response bodies have in common: Hindsight's fields first, Perdure's own after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from perdure.domain.plain import to_plain
from perdure.domain.time import AsOf, Window, parse_utc
from perdure.errors import InvalidInput

MOST_ITEMS = 1_000_000
MOST_TOKENS = 10_000_000
MOST_CHARACTERS = 2**31
"""More than any request has. The bound makes pydantic look into texts, and refuse lone surrogates by their place."""
TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
BudgetName = Literal["low", "mid", "high"]
FactTypeName = Literal["world", "experience", "opinion", "observation"]
Limit = Annotated[int, Query(ge=0, le=MOST_ITEMS, description="Most items to return")]
ListLimit = Annotated[int, Query(ge=1, le=1000, description="Most items to return")]
Offset = Annotated[int, Query(ge=0, le=2**53, description="Items to skip")]
Tags = Annotated[list[str] | None, Query(description="Only what carries these tags")]
_INCLUSIVE = timedelta(microseconds=1)
T = TypeVar("T")
Source = TypeVar("Source")


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


class Page(BaseModel, Generic[T]):
    """A page of a listing."""

    items: list[T]
    total: int
    limit: int
    offset: int

    @classmethod
    def cut(
        cls,
        every: Sequence[Source],
        offset: int,
        limit: int,
        view: Callable[[Source], T],
        **more: object,
    ) -> Self:
        """Return the page of a listing that is here in full; `more` are fields of the page itself."""
        items = [view(one) for one in every[offset : offset + limit]]
        return cls.model_validate(
            {"items": items, "total": len(every), "limit": limit, "offset": offset, **more}
        )


class TokenUsage(BaseModel):
    """Tokens that a language model used; all zero where none was asked."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0


class DeleteResponse(BaseModel):
    """What a deletion did."""

    success: bool
    message: str | None = None
    deleted_count: int | None = None


class Deleted(BaseModel):
    """Something went."""

    status: str = "deleted"


class SubmitResponse(BaseModel):
    """Background work that was taken in."""

    operation_id: str
    status: str = "pending"


class TemporalWindow(Body):
    """From start to end, both included."""

    start: datetime
    end: datetime

    def read(self, field: str) -> Window:
        """Return the window as recall takes it; errors name the field."""
        first, last = parse_utc(self.start, f"{field}.start"), parse_utc(self.end, f"{field}.end")
        if first is None or last is None or first > last:
            raise InvalidInput(field, "a start that is not after the end")
        return Window(first, last + _INCLUSIVE)


class AsOfBody(Body):
    """The moment asked for: in the world, and in what the memory knew."""

    valid: datetime | None = None
    known: datetime | None = None


def as_of(moment: datetime | AsOfBody | None) -> AsOf:
    """Return the moments on the two axes of time; a single moment asks what was true then, as far as is known now."""
    if isinstance(moment, AsOfBody):
        return AsOf(
            valid=parse_utc(moment.valid, "as_of.valid"), known=parse_utc(moment.known, "as_of.known")
        )
    return AsOf(valid=parse_utc(moment, "as_of"))


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
for _group in (TagGroupAnd, TagGroupOr, TagGroupNot):
    _group.model_rebuild()


def tag_groups(groups: list[TagGroup] | None) -> list[dict[str, Any]] | None:
    return None if groups is None else [group.model_dump(by_alias=True) for group in groups]


def sparse(answer: BaseModel) -> dict[str, Any]:
    """Return an answer without the fields that are null, which Hindsight leaves out too."""
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def fields_of(source: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields of these names that the source has too, as plain JSON values."""
    return {name: to_plain(getattr(source, name)) for name in names if hasattr(source, name)}
