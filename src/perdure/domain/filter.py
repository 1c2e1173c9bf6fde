"""Filters: conditions on facts that every channel applies before it ranks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from perdure.domain.fact import Fact, FactType, Origin, Tier
from perdure.domain.options import NOT_MCP, PROGRAMS, Moment, Options, option, read_name, read_strings
from perdure.domain.time import AsOf, Window, parse_end, parse_span, parse_utc, read_as_of, read_window
from perdure.errors import InvalidInput

MAX_TAG_NESTING = 32


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
        object.__setattr__(self, "match", read_name(TagsMatch, self.match, "tags_match"))

    def admits(self, tags: frozenset[str]) -> bool:
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
    """All parts must match."""

    parts: tuple[TagExpression, ...]

    def admits(self, tags: frozenset[str]) -> bool:
        return all(part.admits(tags) for part in self.parts)


@dataclass(frozen=True, slots=True)
class TagOr:
    """At least one part must match."""

    parts: tuple[TagExpression, ...]

    def admits(self, tags: frozenset[str]) -> bool:
        return any(part.admits(tags) for part in self.parts)


@dataclass(frozen=True, slots=True)
class TagNot:
    """The part must not match."""

    part: TagExpression

    def admits(self, tags: frozenset[str]) -> bool:
        return not self.part.admits(tags)


TagExpression = TagLeaf | TagAnd | TagOr | TagNot


def _read_expressions(value: object, name: str) -> tuple[TagExpression, ...]:
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidInput(name, "a list of TagLeaf, TagAnd, TagOr or TagNot", value)
    return tuple(
        part if isinstance(part, TagExpression) else _read_group(part, f"{name}[{place}]")
        for place, part in enumerate(value)
    )


def _read_as_of(value: object, name: str) -> AsOf | None:
    return None if value is None else read_as_of(value, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(Options):
    """Conditions on facts, all of which must hold; the empty filter admits what is current."""

    types: frozenset[FactType] | None = option(None, "Only facts of these types.", on=PROGRAMS)
    tags: tuple[TagExpression, ...] = option(
        (), "Expressions on tags, all of which must hold.", on=PROGRAMS, read=_read_expressions,
        accepts=Sequence[TagExpression | Mapping[str, object]],
    )  # fmt: skip
    metadata: Mapping[str, str] = option({}, "Only facts with these values.", on=PROGRAMS)
    topic: str | None = option(None, "Only facts of this topic.", on=NOT_MCP)
    tier: Tier | None = option(None, "Only facts of this tier: core or general.", on=NOT_MCP)
    max_classification: int | None = option(
        None, "Nothing classified above this level.", at_least=0, at_most=3, on=NOT_MCP
    )
    document_ids: frozenset[str] | None = option(
        None, "Only facts of these documents.", on=NOT_MCP, flag="--document"
    )
    origins: frozenset[Origin] | None = option(
        None,
        "Only facts that come from these: user, assistant, tool, web, import or agent.",
        on=NOT_MCP,
        flag="--origin",
    )
    during: Window | None = option(
        None,
        "Only facts that happened in this window; undated ones and those with an unsure date: that were said in it.",
        on=PROGRAMS, read=read_window, accepts=Window | Mapping[str, object] | None,
    )  # fmt: skip
    as_of: AsOf = option(
        AsOf(), "What was true at a moment, and what memory knew at one.", on=PROGRAMS, read=read_as_of,
        accepts=AsOf | datetime | date | str | Mapping[str, object] | None,
    )  # fmt: skip
    questions: bool = option(
        True,
        "Admit questions that were put to the agent; a recall leaves them out unless it includes them.",
        on=(),
    )
    foreign: bool = option(
        True,
        "Admit what tools and web pages say; injection leaves it out of questions about the user.",
        on=(),
    )
    include_expired: bool = option(False, "Admit facts past their expiry.", on=NOT_MCP)
    include_ended: bool = option(
        False,
        "Admit what was true and is over too, but nothing that was taken back.",
        on=NOT_MCP,
    )
    include_closed: bool = option(
        False, "Admit all closed facts too, for listings and history; as_of is then ignored.", on=NOT_MCP
    )
    now: datetime | None = option(None, "The present, set by the engine.", on=())

    def at(self, now: datetime) -> Filter:
        """Return the same conditions, evaluated at that moment."""
        return self.changed(now=now)

    @property
    def judged_at(self) -> datetime:
        """Return the moment set by `at`, without which a filter cannot be applied."""
        if self.now is None:
            raise ValueError("the filter has no present: call Filter.at(now) before it is applied")
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions(Options):
    """The usual conditions as separate options, any others in `where`; all of them are moved into `where`."""

    types: frozenset[FactType] | None = option(
        None, "Only facts of these types: world, experience, opinion or observation.", flag="--type"
    )
    tags: tuple[str, ...] = option((), "Only facts with these tags.", flag="--tag")
    tags_match: TagsMatch = option(
        TagsMatch.ANY,
        "How tags must match: any or all (which admit untagged facts), any_strict, all_strict or exact.",
        on=NOT_MCP,
    )
    since: datetime | None = option(
        None, "Only what happened on or after this date (ISO 8601).", read=parse_utc, accepts=Moment
    )
    until: datetime | None = option(
        None, "Only what happened before this time (ISO 8601); a date without a time includes its day.",
        read=parse_end, accepts=Moment,
    )  # fmt: skip
    as_of: AsOf | None = option(
        None, "What was true at this time (ISO 8601), as far as is known now.", read=_read_as_of,
        accepts=AsOf | datetime | date | str | Mapping[str, object] | None,
    )  # fmt: skip
    known_at: datetime | None = option(
        None, "What memory knew at this time (ISO 8601).", on=NOT_MCP, read=parse_utc, accepts=Moment
    )
    where: Filter = option(Filter(), "Further conditions, applied before anything is ranked.", on=NOT_MCP)

    def _complete(self) -> None:
        conditions: dict[str, object] = {}
        if self.types:
            _refuse_twice("types", self.types, self.where.types is not None)
            conditions["types"] = self.types
        tags = read_tags(self.tags, self.tags_match)
        if tags:
            conditions["tags"] = (*self.where.tags, *tags)
        if self.since is not None or self.until is not None:
            _refuse_twice("since", self.since or self.until, self.where.during is not None)
            conditions["during"] = parse_span(self.since, self.until)
        if self.as_of is not None or self.known_at is not None:
            as_of = self.as_of or AsOf()
            _refuse_twice("as_of", as_of, self.where.as_of != AsOf())
            _refuse_twice("known_at", self.known_at, self.known_at is not None and as_of.known is not None)
            conditions["as_of"] = AsOf(valid=as_of.valid, known=self.known_at or as_of.known)
        if conditions:
            object.__setattr__(self, "where", self.where.changed(**conditions))
        for name in ("types", "since", "until", "as_of", "known_at"):
            object.__setattr__(self, name, None)
        object.__setattr__(self, "tags", ())
        object.__setattr__(self, "tags_match", TagsMatch.ANY)


def _refuse_twice(name: str, value: object, is_twice: bool) -> None:
    if is_twice:
        raise InvalidInput(name, f"{name} alone or in `where`, not both", value)


def admits(where: Filter, fact: Fact) -> bool:
    """Return whether a fact passes the filter. This is the definition that stores must agree with."""
    return (
        (where.include_closed or is_current(fact, where))
        and (where.include_expired or fact.expires_at is None or fact.expires_at > where.judged_at)
        and (where.questions or not fact.is_question)
        and (where.foreign or not fact.is_foreign)
        and (where.origins is None or fact.origin in where.origins)
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
    """Return whether the fact held at `as_of.valid`, as far as was known at `as_of.known`.

    A fact that another one ended stays believed for its own period; until that was recorded, its end was not
    known. A retired fact is not believed from then on. Without `as_of`, everything stored is known, and the
    present is not before the fact was recorded, since clocks are set back.
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


def read_tags(
    tags: Collection[str] | None,
    tags_match: str = TagsMatch.ANY,
    tag_groups: Sequence[Mapping[str, object]] | None = None,
) -> tuple[TagExpression, ...]:
    """Return one expression for the flat tags and one for each group, all of which must hold.

    A group is `{"tags": [...], "match": ...}`, or `and`, `or`, `not` of such groups.
    """
    leaf = TagLeaf(
        frozenset(read_strings(tags or (), "tags")), read_name(TagsMatch, tags_match, "tags_match")
    )
    groups = tuple(_read_group(group, f"tag_groups[{i}]") for i, group in enumerate(tag_groups or ()))
    return (leaf, *groups) if leaf.tags or leaf.match is TagsMatch.EXACT else groups


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
    match = read_name(TagsMatch, group.get("match", TagsMatch.ANY_STRICT), f"{path}.match")
    return TagLeaf(frozenset(tags), match)


def _read_groups(groups: object, path: str, depth: int) -> tuple[TagExpression, ...]:
    if not isinstance(groups, Sequence) or isinstance(groups, str):
        raise InvalidInput(path, "a list of tag groups", groups)
    return tuple(_read_group(group, f"{path}[{i}]", depth + 1) for i, group in enumerate(groups))
