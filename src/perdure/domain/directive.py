"""A directive: a rule of a bank for every reflect within its tags."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from perdure.domain.item import check_tags, check_text
from perdure.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """A rule with a priority, the highest first; without tags it always applies."""

    id: str
    bank: str
    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: frozenset[str] = frozenset()
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def __post_init__(self) -> None:
        for field in ("name", "content"):
            value = getattr(self, field)
            check_text(field, value)
            if not value.strip():
                raise InvalidInput(field, "non-empty text", value)
        if isinstance(self.priority, bool) or not isinstance(self.priority, int):
            raise InvalidInput("priority", "an integer", self.priority)
        if not isinstance(self.is_active, bool):
            raise InvalidInput("is_active", "true or false", self.is_active)
        check_tags(self.tags)
        object.__setattr__(self, "tags", frozenset(self.tags))


@runtime_checkable
class DirectiveText(Protocol):
    """A directive as it is stored."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def content(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDirective:
    """A directive that is passed with a question."""

    id: str
    name: str
    content: str
