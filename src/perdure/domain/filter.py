"""What may be recalled: conditions that every channel applies before it ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from perdure.domain.fact import Fact, FactType, Tier
from perdure.domain.time import AsOf, Window


class TagsMatch(StrEnum):
    """How a fact's tags must relate to the wanted ones."""

    ANY = "any"
    ALL = "all"
    ANY_STRICT = "any_strict"
    ALL_STRICT = "all_strict"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class TagLeaf:
    """Wanted tags and how to match them."""

    tags: frozenset[str]
    match: TagsMatch = TagsMatch.ANY_STRICT

    def admits(self, tags: frozenset[str]) -> bool:
        """Whether facts with these tags pass."""
        if self.match is TagsMatch.EXACT:
            return tags == self.tags
        if not self.tags:
            return True
        if not tags:
            return self.match in (TagsMatch.ANY, TagsMatch.ALL)
        if self.match in (TagsMatch.ANY, TagsMatch.ANY_STRICT):
            return not tags.isdisjoint(self.tags)
        return self.tags <= tags


@dataclass(frozen=True, slots=True)
class TagAnd:
    """All parts must pass."""

    parts: tuple[TagExpression, ...]

    def admits(self, tags: frozenset[str]) -> bool:
        """Whether facts with these tags pass."""
        return all(part.admits(tags) for part in self.parts)


@dataclass(frozen=True, slots=True)
class TagOr:
    """One part must pass."""

    parts: tuple[TagExpression, ...]

    def admits(self, tags: frozenset[str]) -> bool:
        """Whether facts with these tags pass."""
        return any(part.admits(tags) for part in self.parts)


@dataclass(frozen=True, slots=True)
class TagNot:
    """The part must not pass."""

    part: TagExpression

    def admits(self, tags: frozenset[str]) -> bool:
        """Whether facts with these tags pass."""
        return not self.part.admits(tags)


TagExpression = TagLeaf | TagAnd | TagOr | TagNot


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions on facts, all of which must hold; the empty filter admits what is current."""

    types: frozenset[FactType] | None = None
    tags: tuple[TagExpression, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    topic: str | None = None
    tier: Tier | None = None
    max_classification: int | None = None
    document_ids: frozenset[str] | None = None
    during: Window | None = None
    """Only facts that happened (undated ones: were said) in this window."""
    as_of: AsOf = field(default_factory=AsOf)
    include_expired: bool = False
    include_closed: bool = False
    """Admit closed facts too (listings and history); `as_of` is then ignored."""
    now: datetime | None = None
    """The present, against which expiry and validity are judged. The engine sets it."""

    def at(self, now: datetime) -> Filter:
        """The same conditions, judged at that moment."""
        return replace(self, now=now)

    @property
    def judged_at(self) -> datetime:
        """The present that was set; a filter without one cannot be applied."""
        if self.now is None:
            raise ValueError("the filter has no present: call Filter.at(now) before it is applied")
        return self.now


def admits(where: Filter, fact: Fact) -> bool:
    """The one definition of what a filter means; stores must agree with it."""
    return (
        (where.include_closed or is_current(fact, where))
        and (where.include_expired or fact.expires_at is None or fact.expires_at > where.judged_at)
        and (where.types is None or fact.type in where.types)
        and all(expression.admits(fact.tags) for expression in where.tags)
        and all(fact.metadata.get(key) == value for key, value in where.metadata.items())
        and (where.topic is None or fact.topic == where.topic)
        and (where.tier is None or fact.tier is where.tier)
        and (where.max_classification is None or fact.classification <= where.max_classification)
        and (where.document_ids is None or fact.document_id in where.document_ids)
        and (where.during is None or _happened_during(fact, where.during))
    )


def is_current(fact: Fact, where: Filter) -> bool:
    """Whether the fact held at `as_of.valid` as far as the system knew at `as_of.known`.

    A superseded fact stays believed for its own period; until the moment it was superseded, its end was not known.
    A retired fact that nothing superseded is disbelieved from then on. Where no moment is asked for, all that was ever
    stored is known, and the present is not before a fact was recorded, since clocks are set back.
    """
    valid_at, known_at = where.as_of.valid, where.as_of.known
    if valid_at is None:
        valid_at = where.judged_at if fact.recorded_at is None else max(where.judged_at, fact.recorded_at)
    if known_at is not None and fact.recorded_at is not None and fact.recorded_at > known_at:
        return False
    retired = fact.retired_at is not None and (known_at is None or fact.retired_at <= known_at)
    if retired and fact.superseded_by is None:
        return False
    if fact.valid_from is not None and fact.valid_from > valid_at:
        return False
    end_known = fact.superseded_by is None or retired
    return not (end_known and fact.valid_to is not None and fact.valid_to <= valid_at)


def _happened_during(fact: Fact, window: Window) -> bool:
    if fact.occurred_start is None and fact.occurred_end is None:
        return window.overlaps(fact.mentioned_at, fact.mentioned_at)
    return window.overlaps(fact.occurred_start, fact.occurred_end)
