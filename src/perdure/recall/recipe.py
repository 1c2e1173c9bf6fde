"""Recipes: declarative compositions of the recall pipeline. The named ones are in `perdure.recall.recipes`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from perdure.errors import InvalidInput
from perdure.recall.fuse import Fusion, fuse_by_reciprocal_rank
from perdure.recall.score import BoostScoring, Scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A channel in a recipe: how many hits it may bring, as a share of the budget or a fixed number."""

    name: str
    share: float = 1.0
    limit: int | None = None
    unless_filled: str | None = None
    """Skip the channel when the named one already filled the limit of the recall."""

    def depth(self, budget: int) -> int:
        """How many hits to ask for."""
        return self.limit if self.limit is not None else max(1, round(budget * self.share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """What is added to the reranker's logit: weight x signal, each signal brought to 0..1 over the pool."""

    fused: float = 0.0
    channels: Mapping[str, float] = field(default_factory=dict)
    """Channel -> weight of its raw score."""
    titles: float = 0.0
    """What being named in the question adds to a document's facts."""
    links: float = 0.0
    """Share of a linked candidate's lead that comes over (docs/decisions/linked-strength.md)."""
    speaker: float = 0.0
    """What being said by somebody whom the question names adds."""
    role: float = 0.0
    """What being the user's own words adds in questions about "my", the agent's in those about "you said"."""
    answers: float = 0.0
    """Weight of the log-odds that the reader gives it of answering."""
    relevance: float = 0.0
    """Weight of the reader's logit of relevance."""
    cover: float = 0.0
    """How much covering the rest of the question counts, where documents have titles."""

    @property
    def adds(self) -> bool:
        """Whether anything is added at all."""
        own = (self.fused, self.titles, self.speaker, self.role)
        return any(own) or any(self.channels.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that shapes one recall; frozen, comparable, made by hand or taken by name."""

    name: str
    channels: tuple[ChannelSpec, ...]
    fusion: Fusion = fuse_by_reciprocal_rank
    pool: int = 300
    """Fused candidates that go on to reranking."""
    cross_pool: int = 300
    """Candidates that the reranker scores; 0 leaves it out."""
    edges: bool = False
    """Tell of each result how it joins entities."""
    read: int = 0
    """Candidates that the reader reads, for what answers and what is current; 0 leaves it out."""
    compare: int = 0
    """Candidates that are compared in pairs, for which a later one ends an earlier one; 0 leaves it out."""
    blend: Blend = field(default_factory=Blend)
    scoring: Scoring = field(default_factory=BoostScoring)
    diversity: float | None = None
    """The lambda of maximal marginal relevance; None leaves the order alone."""
    limit: int | None = None
    ended: float | None = None
    """Factor on the odds of what is over; None leaves it out. Questions about the past find it unchanged."""
    doubt: float = 1.0
    """Factor on the odds of what rests on something that is over or was wrong."""

    def __post_init__(self) -> None:
        if not self.channels:
            raise InvalidInput("recipe.channels", "at least one channel", self.channels)
        if self.diversity is not None and not 0.0 <= self.diversity <= 1.0:
            raise InvalidInput("recipe.diversity", "a number from 0 to 1", self.diversity)
        for name, factor in (("doubt", self.doubt), ("ended", self.ended)):
            if factor is not None and not 0.0 < factor <= 1.0:
                raise InvalidInput(f"recipe.{name}", "a number above 0 and at most 1", factor)


def channel_specs(*names: str) -> tuple[ChannelSpec, ...]:
    """Channels with the whole budget each."""
    return tuple(ChannelSpec(name=name) for name in names)


def trim_recipe(recipe: Recipe, without: Collection[str], rerank: bool = True) -> Recipe:
    """The recipe without the named channels; without `rerank` no model reads the candidates."""
    kept = tuple(spec for spec in recipe.channels if spec.name not in without)
    if not kept:
        raise InvalidInput("recipe", "at least one channel that is not switched off", recipe.name)
    return replace(recipe, channels=kept) if rerank else replace(recipe, channels=kept, cross_pool=0, read=0)
