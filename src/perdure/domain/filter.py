"""What may be recalled: conditions that every channel applies before it ranks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from perdure.domain.fact import Fact, FactType, Tier
from perdure.domain.time import AsOf, Window, check_instant
from perdure.errors import InvalidInput

MAX_TAG_NESTING = 32
_Name = TypeVar("_Name", bound=StrEnum)


class TagsMatch(StrEnum):
    """How a fact's tags must relate to those of a filter; only the strict ones refuse facts without tags."""

    ANY = "any"
    ALL = "all"
    ANY_STRICT = "any_strict"
    ALL_STRICT = "all_strict"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class TagLeaf:
    """Tags and how a fact's tags must match them."""

    tags: frozenset[str]
    match: TagsMatch = TagsMatch.ANY_STRICT

    def __post_init__(self) -> None:
        object.__setattr__(self, "tags", frozenset(read_strings(self.tags, "tags")))
        object.__setattr__(self, "match", _read_name(TagsMatch, self.match, "tags_match"))

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
    """Conditions on facts, all of which must hold; the empty filter admits what is current.

    Names of types and tiers and any collection will do; what cannot be read raises InvalidInput with the field's name.
    """

    types: frozenset[FactType] | None = None
    tags: tuple[TagExpression, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    topic: str | None = None
    tier: Tier | None = None
    max_classification: int | None = None
    document_ids: frozenset[str] | None = None
    during: Window | None = None
    """Only facts that happened (undated ones and those with an unsure date: were said) in this window."""
    as_of: AsOf = field(default_factory=AsOf)
    include_expired: bool = False
    include_ended: bool = False
    """Admit what was true and is over too, but nothing that was taken back."""
    include_closed: bool = False
    """Admit all closed facts too (listings and history); `as_of` is then ignored."""
    now: datetime | None = None
    """The present, against which expiry and validity are judged. The engine sets it."""

    def __post_init__(self) -> None:
        for name, read in _READERS.items():
            object.__setattr__(self, name, read(getattr(self, name), name))

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
    """Whether the fact held at `as_of.valid` (or, with `include_ended`, before) as far as was known at `as_of.known`.

    A fact that another one ended stays believed for its own period; until that was recorded, its end was not known.
    A retired fact is disbelieved from then on. Where no moment is asked for, all that was ever stored is known, and the
    present is not before a fact was recorded, since clocks are set back.
    """
    valid_at, known_at = where.as_of.valid, where.as_of.known
    if valid_at is None:
        valid_at = where.judged_at if fact.recorded_at is None else max(where.judged_at, fact.recorded_at)
    if known_at is not None and fact.recorded_at is not None and fact.recorded_at > known_at:
        return False
    if fact.retired_at is not None and (known_at is None or fact.retired_at <= known_at):
        return False
    if fact.valid_from is not None and fact.valid_from > valid_at:
        return False
    if where.include_ended:
        return True
    end_known = fact.end_recorded_at is None or known_at is None or fact.end_recorded_at <= known_at
    return not (end_known and fact.valid_to is not None and fact.valid_to <= valid_at)


def _happened_during(fact: Fact, window: Window) -> bool:
    if fact.has_unsure_date or (fact.occurred_start is None and fact.occurred_end is None):
        return window.overlaps(fact.mentioned_at, fact.mentioned_at)
    return window.overlaps(fact.occurred_start, fact.occurred_end)


def read_types(types: Collection[str] | None) -> frozenset[FactType] | None:
    """Fact types by name; None or nothing means all."""
    return _read_types(types, "types") or None


def read_tier(tier: str | None) -> Tier | None:
    """A tier by name."""
    return None if tier is None else _read_name(Tier, tier, "tier")


def read_tags(
    tags: Collection[str] | None,
    tags_match: str = TagsMatch.ANY,
    tag_groups: Sequence[Mapping[str, object]] | None = None,
) -> tuple[TagExpression, ...]:
    """One expression from the flat tags and one from each group, all of which must hold.

    A group is `{"tags": [...], "match": ...}`, or `and`, `or`, `not` of such groups.
    """
    leaf = TagLeaf(
        frozenset(read_strings(tags or (), "tags")), _read_name(TagsMatch, tags_match, "tags_match")
    )
    groups = tuple(_read_group(group, f"tag_groups[{i}]") for i, group in enumerate(tag_groups or ()))
    return (leaf, *groups) if leaf.tags or leaf.match is TagsMatch.EXACT else groups


def read_as_of(as_of: object, name: str = "as_of") -> AsOf:
    """A single moment asks what was true then, as far as is known now; None asks for the present."""
    if isinstance(as_of, AsOf):
        return as_of
    if as_of is not None and not isinstance(as_of, datetime):
        raise InvalidInput(name, "a datetime or AsOf(valid, known)", as_of)
    return AsOf(valid=as_of)


def read_strings(value: object, name: str) -> tuple[str, ...]:
    """A collection of strings; rejects a bare string, which would be read as a list of letters."""
    if isinstance(value, str) or not isinstance(value, Collection) or not _are_strings(value):
        raise InvalidInput(name, "a list of strings", value)
    return tuple(value)


def _are_strings(values: Collection[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _read_name(names: type[_Name], value: object, field_name: str) -> _Name:
    """A member of an enumeration, by itself or by its name."""
    try:
        return names(str(value))
    except ValueError as error:
        raise InvalidInput(field_name, "one of " + ", ".join(names), value) from error


def _read_group(group: object, path: str, depth: int = 0) -> TagExpression:
    if not isinstance(group, Mapping):
        raise InvalidInput(path, "an object with tags, and, or, or not", group)
    if depth > MAX_TAG_NESTING:
        raise InvalidInput(path, f"at most {MAX_TAG_NESTING} levels of nesting")
    if "and" in group:
        return TagAnd(_read_groups(group["and"], f"{path}.and", depth))
    if "or" in group:
        return TagOr(_read_groups(group["or"], f"{path}.or", depth))
    if "not" in group:
        return TagNot(_read_group(group["not"], f"{path}.not", depth + 1))
    tags = read_strings(group.get("tags"), f"{path}.tags")
    match = _read_name(TagsMatch, group.get("match", TagsMatch.ANY_STRICT), f"{path}.match")
    return TagLeaf(frozenset(tags), match)


def _read_groups(groups: object, path: str, depth: int) -> tuple[TagExpression, ...]:
    if not isinstance(groups, Sequence) or isinstance(groups, str):
        raise InvalidInput(path, "a list of tag groups", groups)
    return tuple(_read_group(group, f"{path}[{i}]", depth + 1) for i, group in enumerate(groups))


def _read_types(value: object, name: str) -> frozenset[FactType] | None:
    if value is None:
        return None
    return frozenset(_read_name(FactType, part, name) for part in read_strings(value, name))


def _read_expressions(value: object, name: str) -> tuple[TagExpression, ...]:
    if isinstance(value, Sequence) and all(isinstance(part, TagExpression) for part in value):
        return tuple(value)
    raise InvalidInput(name, "a tuple of TagLeaf, TagAnd, TagOr or TagNot", value)


def _read_metadata(value: object, name: str) -> Mapping[str, str]:
    if isinstance(value, Mapping) and _are_strings(value) and _are_strings(value.values()):
        return value
    raise InvalidInput(name, "an object of strings", value)


def _read_classification(value: object, name: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 3):
        raise InvalidInput(name, "an integer from 0 to 3", value)
    return value


def _optional(kind: type, expected: str) -> Callable[[object, str], object]:
    """A reader of None or an object of that type."""

    def read(value: object, name: str) -> object:
        if value is not None and not isinstance(value, kind):
            raise InvalidInput(name, expected, value)
        return value

    return read


_READERS: Mapping[str, Callable[[object, str], object]] = {
    "types": _read_types,
    "tags": _read_expressions,
    "metadata": _read_metadata,
    "topic": _optional(str, "a string"),
    "tier": lambda value, name: None if value is None else _read_name(Tier, value, name),
    "max_classification": _read_classification,
    "document_ids": lambda value, name: None if value is None else frozenset(read_strings(value, name)),
    "during": _optional(Window, "a Window(start, end)"),
    "as_of": read_as_of,
    "include_expired": _optional(bool, "true or false"),
    "include_ended": _optional(bool, "true or false"),
    "include_closed": _optional(bool, "true or false"),
    "now": check_instant,
}
