"""What a caller may ask of a recall, checked in one place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.bank import check_bank_id
from perdure.domain.filter import Filter, read_as_of, read_tags, read_types
from perdure.domain.recall import Budget, Precision
from perdure.domain.time import AsOf, check_instant
from perdure.errors import InvalidInput
from perdure.recall.options import Hints, Include, MinScores, check_integer
from perdure.recall.recipe import Recipe

MAX_QUERY_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One recall, validated."""

    bank: str
    query: str
    recipe: Recipe
    where: Filter = field(default_factory=Filter)
    include: Include = field(default_factory=Include)
    hints: Hints = field(default_factory=Hints)
    min_scores: MinScores = field(default_factory=MinScores)
    budget: Budget = Budget.MID
    max_tokens: int = 4096
    limit: int | None = None
    explain: bool = False
    track: bool = True
    asked_at: datetime | None = None
    """When the question is asked, the present unless given; a moment without a time zone is UTC."""
    channel_timeout: float | None = None
    precision: Precision = Precision.SEARCH
    asker: str | None = None
    """Whom "I" and "my" mean: a speaker's or entity's name, or "user"; the bank's user unless given."""

    def __post_init__(self) -> None:
        check_bank_id(self.bank)
        if not isinstance(self.query, str) or not self.query.strip():
            raise InvalidInput("query", "non-empty text", self.query)
        if len(self.query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput("query", f"at most {MAX_QUERY_CHARACTERS} characters", len(self.query))
        for name, kind in (
            ("where", Filter), ("include", Include), ("hints", Hints), ("min_scores", MinScores), ("recipe", Recipe),
        ):  # fmt: skip
            if not isinstance(getattr(self, name), kind):
                raise InvalidInput(name, f"a {kind.__name__}", getattr(self, name))
        check_integer(self.max_tokens, "max_tokens", 0)
        if self.asker is not None and (not isinstance(self.asker, str) or not self.asker.strip()):
            raise InvalidInput("asker", "a name, or user", self.asker)
        if self.limit is not None:
            check_integer(self.limit, "limit", 1)
        object.__setattr__(self, "asked_at", check_instant(self.asked_at, "asked_at"))


def read_budget(budget: str) -> Budget:
    """A budget by name."""
    if budget not in set(Budget):
        raise InvalidInput("budget", "low, mid or high", budget)
    return Budget(budget)


def read_precision(precision: str) -> Precision:
    """A precision by name."""
    if precision not in set(Precision):
        raise InvalidInput("precision", "search or inject", precision)
    return Precision(precision)


def read_where(
    where: Filter | None = None,
    *,
    types: Collection[str] | None = None,
    tags: Collection[str] | None = None,
    as_of: AsOf | datetime | None = None,
) -> Filter:
    """The filter with the conditions that callers may give by themselves.

    Tags match as `any`, beside the filter's own. Types and a moment may not be in both places.
    """
    where = Filter() if where is None else where
    if not isinstance(where, Filter):
        raise InvalidInput("where", "a Filter", where)
    if types and where.types is not None:
        raise InvalidInput("types", "types by themselves or in `where`, not both", types)
    if as_of is not None and where.as_of != AsOf():
        raise InvalidInput("as_of", "a moment by itself or in `where`, not both", as_of)
    return replace(
        where,
        types=read_types(types) if types else where.types,
        tags=(*where.tags, *read_tags(tags)),
        as_of=where.as_of if as_of is None else read_as_of(as_of),
    )
