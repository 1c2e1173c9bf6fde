"""What a caller may ask of a recall, checked in one place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import FactType, Tier
from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagOr, TagsMatch
from perdure.domain.recall import Budget
from perdure.domain.time import AsOf, Window, aware
from perdure.errors import InvalidInput
from perdure.recall.recipe import DEFAULT, Recipe

MAX_QUERY_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MinScores:
    """Floors, all inclusive: the first two inside their channels, the others on the scored results."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The conversation's present circumstances, for abmind's context boost."""

    hour: int | None = None
    day_of_week: int | None = None
    """Monday is 0."""
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One recall, validated."""

    bank: str
    query: str
    budget: Budget = Budget.MID
    max_tokens: int = 4096
    types: frozenset[FactType] | None = None
    tags: tuple[TagExpression, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    topic: str | None = None
    tier: Tier | None = None
    max_classification: int | None = None
    document_ids: frozenset[str] | None = None
    during: Window | None = None
    """Filters: only facts of this time."""
    temporal_window: Window | None = None
    """Ranks: the window of the temporal channel, instead of reading the query for one."""
    as_of: AsOf = field(default_factory=AsOf)
    include_expired: bool = False
    entity_hints: tuple[str, ...] = ()
    situation: Situation | None = None
    include_chunks: bool = False
    max_chunk_tokens: int = 8192
    include_entities: bool = False
    min_scores: MinScores = field(default_factory=MinScores)
    recipe: Recipe = DEFAULT
    explain: bool = False
    track: bool = True
    asked_at: datetime | None = None
    limit: int | None = None
    channel_timeout: float | None = None

    def __post_init__(self) -> None:
        check_bank_id(self.bank)
        if not isinstance(self.query, str) or not self.query.strip():
            raise InvalidInput("query", "non-empty text", self.query)
        if len(self.query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput("query", f"at most {MAX_QUERY_CHARACTERS} characters", len(self.query))
        _at_least("max_tokens", self.max_tokens, 0)
        _at_least("max_chunk_tokens", self.max_chunk_tokens, 0)
        if self.limit is not None:
            _at_least("limit", self.limit, 1)
        if self.max_classification is not None and not 0 <= self.max_classification <= 3:
            raise InvalidInput("max_classification", "an integer from 0 to 3", self.max_classification)
        for name in ("during", "temporal_window"):
            object.__setattr__(self, name, _aware_window(name, getattr(self, name)))
        object.__setattr__(self, "asked_at", _aware_moment("query_timestamp", self.asked_at))

    def wanted(self, now: datetime) -> Filter:
        """The filter that every channel applies."""
        return Filter(
            now=now,
            as_of=self.as_of,
            types=self.types,
            tags=self.tags,
            metadata=self.metadata,
            topic=self.topic,
            tier=self.tier,
            max_classification=self.max_classification,
            document_ids=self.document_ids,
            during=self.during,
            include_expired=self.include_expired,
        )


def _at_least(field_name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(field_name, f"an integer of at least {least}", value)


def _aware_window(field_name: str, window: object) -> Window | None:
    """The window with time zones, as facts have them; a bound without one is UTC."""
    if window is None:
        return None
    if not isinstance(window, Window):
        raise InvalidInput(field_name, "a Window(start, end)", window)
    return Window(_aware_moment(field_name, window.start), _aware_moment(field_name, window.end))


def _aware_moment(field_name: str, moment: object) -> datetime | None:
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise InvalidInput(field_name, "a datetime", moment)
    return aware(moment)


def read_strings(field_name: str, given: Collection[str]) -> tuple[str, ...]:
    """A list of strings; a string by itself is a list of letters, and meant by nobody."""
    if isinstance(given, str) or not all(isinstance(part, str) for part in given):
        raise InvalidInput(field_name, "a list of strings", given)
    return tuple(given)


def read_tier(tier: str | None) -> Tier | None:
    """A tier by name."""
    if tier is not None and tier not in set(Tier):
        raise InvalidInput("tier", "one of " + ", ".join(Tier), tier)
    return None if tier is None else Tier(tier)


def read_types(types: Sequence[str] | None) -> frozenset[FactType] | None:
    """Fact types by name; None or nothing means all."""
    if not types:
        return None
    known = {member.value: member for member in FactType}
    for name in types:
        if name not in known:
            raise InvalidInput("types", "each one of " + ", ".join(known), name)
    return frozenset(known[name] for name in types)


def read_tags(
    tags: Sequence[str] | None, tags_match: str, tag_groups: Sequence[Mapping[str, object]] | None
) -> tuple[TagExpression, ...]:
    """One expression from the flat tags and one from each group, all of which must hold."""
    match = _match(tags_match, "tags_match")
    if isinstance(tags, str):
        raise InvalidInput("tags", "a list of strings", tags)
    expressions: list[TagExpression] = []
    if tags or match is TagsMatch.EXACT:
        expressions.append(TagLeaf(frozenset(tags or ()), match))
    return (*expressions, *(_group(group, f"tag_groups[{i}]") for i, group in enumerate(tag_groups or ())))


def _match(name: object, field_name: str) -> TagsMatch:
    try:
        return TagsMatch(str(name))
    except ValueError as error:
        expected = "one of " + ", ".join(member.value for member in TagsMatch)
        raise InvalidInput(field_name, expected, name) from error


def _group(group: object, path: str, depth: int = 0) -> TagExpression:
    if not isinstance(group, Mapping):
        raise InvalidInput(path, "an object with tags, and, or, or not", group)
    if depth > 32:
        raise InvalidInput(path, "at most 32 levels of nesting")
    if "and" in group:
        return TagAnd(_parts(group["and"], f"{path}.and", depth))
    if "or" in group:
        return TagOr(_parts(group["or"], f"{path}.or", depth))
    if "not" in group:
        return TagNot(_group(group["not"], f"{path}.not", depth + 1))
    tags = group.get("tags")
    if not isinstance(tags, Sequence) or isinstance(tags, str) or not all(isinstance(t, str) for t in tags):
        raise InvalidInput(f"{path}.tags", "a list of strings", tags)
    return TagLeaf(frozenset(tags), _match(group.get("match", "any_strict"), f"{path}.match"))


def _parts(parts: object, path: str, depth: int) -> tuple[TagExpression, ...]:
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise InvalidInput(path, "a list of tag groups", parts)
    return tuple(_group(part, f"{path}[{i}]", depth + 1) for i, part in enumerate(parts))


def read_as_of(as_of: AsOf | datetime | None) -> AsOf:
    """A single moment asks on both axes."""
    if as_of is None:
        return AsOf()
    if isinstance(as_of, AsOf):
        return AsOf(_aware_moment("as_of.valid", as_of.valid), _aware_moment("as_of.known", as_of.known))
    if isinstance(as_of, datetime):
        return AsOf.both(aware(as_of))
    raise InvalidInput("as_of", "a datetime or AsOf(valid, known)", as_of)
