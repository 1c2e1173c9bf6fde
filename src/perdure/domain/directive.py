"""A directive: a rule of a bank for every reflect within its tags."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from perdure.domain.item import check_tags
from perdure.domain.options import Options, option


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveOptions(Options):
    """Options of a directive when it is created."""

    priority: int = option(0, "The highest comes first.")
    is_active: bool = option(True, "Whether it holds.", flag="--on/--off")
    tags: frozenset[str] = option(
        frozenset(), "Tags of the questions for which it holds; for all without tags.", flag="--tag"
    )

    def _complete(self) -> None:
        check_tags(self.tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveChanges(DirectiveOptions):
    """What may be changed of a directive."""

    name: str = option("", "What the rule is called.", at_least=1)
    content: str = option("", "The rule.", at_least=1, flag="--text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive(DirectiveChanges):
    """A rule with a priority, the highest first; without tags it always applies."""

    id: str
    bank: str
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDirective:
    """A directive that is passed with a question."""

    id: str
    name: str
    content: str


DirectiveText = Directive | GivenDirective
"""A directive as it is stored or passed."""
