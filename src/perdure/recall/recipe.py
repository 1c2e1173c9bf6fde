"""Recipes: named, declarative compositions of the recall pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from perdure.errors import InvalidInput


class Fusion(StrEnum):
    """How the channels' lists become one."""

    RRF = "rrf"
    STAGES = "stages"
    """abmind: the first stage that found a fact decides its score."""


class Scoring(StrEnum):
    """How relevance and the other signals become the final score."""

    BOOSTS = "boosts"
    """Relevance times the boosts."""
    ODDS = "odds"
    """The boosts multiply the odds of being relevant: the same nudge, without swamping near-certain ones."""
    ABMIND = "abmind"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A channel in a recipe: how many hits it may bring, as a share of the budget or a fixed number."""

    name: str
    share: float = 1.0
    limit: int | None = None
    unless_filled: str | None = None
    """Skip the channel when the named one already filled the limit (abmind's short-circuit)."""

    def depth(self, budget: int) -> int:
        """How many hits to ask for."""
        return self.limit if self.limit is not None else max(1, round(budget * self.share))


class View(StrEnum):
    """What the cross-encoder reads of a candidate."""

    OWN = "own"
    FULL = "full"
    """The fact after what was said before it."""


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """A view in a recipe, and of how many of the candidates that are read; None: of all."""

    view: View
    first: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """What is added to the cross-encoder's logit: weight x signal, each signal brought to 0..1 over the pool."""

    logit: float = 1.0
    """Weight of the cross-encoder's logit itself."""
    late: float = 0.0
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
    cover: float = 0.0
    """How much covering the rest of the question counts, where documents have titles."""

    @property
    def adds(self) -> bool:
        """Whether anything is added at all."""
        own = (self.late, self.fused, self.titles, self.speaker, self.role)
        return any(own) or any(self.channels.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostWeights:
    """How far each signal may move a score: boost = 1 + alpha x (signal - 0.5)."""

    recency: float = 0.2
    temporal: float = 0.2
    proof: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that shapes one recall; frozen, comparable, made by hand or taken by name."""

    name: str
    channels: tuple[ChannelSpec, ...]
    fusion: Fusion = Fusion.RRF
    fusion_k: int = 60
    pool: int = 300
    """Fused candidates that go on to reranking."""
    late: bool = False
    """Order the pool by late interaction first."""
    cross_pool: int = 300
    """Candidates that the cross-encoder reads; 0 leaves it out."""
    views: tuple[ViewSpec, ...] = (ViewSpec(View.OWN),)
    """The best of a candidate's views counts."""
    blend: Blend = field(default_factory=Blend)
    scoring: Scoring = Scoring.BOOSTS
    boosts: BoostWeights = field(default_factory=BoostWeights)
    diversity: float | None = None
    """MMR's lambda; None leaves the order alone."""
    limit: int | None = None

    def __post_init__(self) -> None:
        if not self.channels:
            raise InvalidInput("recipe.channels", "at least one channel", self.channels)
        if self.diversity is not None and not 0.0 <= self.diversity <= 1.0:
            raise InvalidInput("recipe.diversity", "a number from 0 to 1", self.diversity)


def _channels(*names: str) -> tuple[ChannelSpec, ...]:
    return tuple(ChannelSpec(name=name) for name in names)


TEMPR = Recipe(name="tempr", channels=_channels("semantic", "keyword", "graph", "temporal"))

MEMORIA = Recipe(
    name="memoria",
    channels=_channels("semantic", "keyword", "pagerank"),
    pool=30,
    cross_pool=30,
    boosts=BoostWeights(recency=0.0, temporal=0.0, proof=0.0),
    limit=10,
)

ABMIND = Recipe(
    name="abmind",
    channels=(
        ChannelSpec(name="fuzzy"),
        ChannelSpec(name="semantic_floor", unless_filled="fuzzy"),
        ChannelSpec(name="signature", limit=5, unless_filled="fuzzy"),
        ChannelSpec(name="notes"),
        ChannelSpec(name="relation"),
    ),
    fusion=Fusion.STAGES,
    cross_pool=0,
    scoring=Scoring.ABMIND,
    diversity=0.7,
    limit=10,
)

DEFAULT = Recipe(
    name="default",
    channels=_channels("semantic", "neighbourhood", "keyword", "graph", "temporal"),
    late=True,
    cross_pool=12,
    views=(ViewSpec(View.FULL), ViewSpec(View.OWN, first=4)),
    blend=Blend(
        logit=0.7,
        late=2.0,
        channels={"keyword": 2.0, "neighbourhood": 3.0, "semantic": 0.5, "temporal": 0.5},
        titles=3.0,
        links=1.0,
        speaker=0.5,
        role=3.0,
        cover=3.0,
    ),
    scoring=Scoring.ODDS,
)

FAST = replace(DEFAULT, name="fast", cross_pool=0)
"""The default without its cross-encoder."""

RECIPES: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (DEFAULT, TEMPR, MEMORIA, ABMIND, FAST)}


def find_recipe(recipe: str | Recipe) -> Recipe:
    """The recipe itself, or the one of that name."""
    if isinstance(recipe, Recipe):
        return recipe
    found = RECIPES.get(recipe)
    if found is None:
        raise InvalidInput("recipe", "one of " + ", ".join(sorted(RECIPES)), recipe)
    return found
