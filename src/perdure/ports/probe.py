"""Probes: what each channel asks of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from perdure.domain.fact import LinkKind
from perdure.domain.time import Window
from perdure.ports.embedder import Vector


@dataclass(frozen=True, slots=True, eq=False)
class SemanticProbe:
    """Cosine of the query's vector with a view's vectors."""

    vector: Vector
    view: str = "fact"
    min_score: float | None = None


MOST_TERMS = 256
"""Bound of the work for one question: common terms of a pasted text add little and are in most facts."""


@dataclass(frozen=True, slots=True)
class KeywordProbe:
    """BM25 with IDF over index terms; each term's contribution times its weight.

    Of more than `MOST_TERMS` terms that the bank has, the rarest are looked for.
    """

    terms: Mapping[str, float]
    k1: float = 1.2
    b: float = 0.75
    min_score: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GraphProbe:
    """Link expansion from seed facts and entities.

    A fact one step from the seeds scores tanh(0.5 x entities shared with the seeds' or given ones)
    + its best semantic link weight + its best causal link weight, each from a seed and times that seed's
    activation; links count in both directions and no fact excites itself. A seed also scores its own
    activation. With more hops the facts that a hop reached anew spread on in the same way, their activation
    being min(1, score) x `decay`, and scores add up; at most `breadth` facts are expanded a hop. Only
    admitted facts are reached or passed. Entities that more than `hub_cap` admitted facts mention
    contribute only their `hub_cap` best-connected ones (most links and entities, ties by id).
    """

    facts: Mapping[str, float]
    """Seed fact id -> activation 0..1."""
    entities: Mapping[str, float] = field(default_factory=dict)
    """Seed entity id -> activation 0..1."""
    hops: int = 1
    decay: float = 0.5
    breadth: int = 50
    hub_cap: int = 100
    include_seeds: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class TemporalProbe:
    """Facts that happened (undated ones: were said) in the window, then along links from them.

    With a vector, similarity orders facts within the window, else nearness to its centre; the window is cut
    in `slices` equal parts whose best facts take turns, so that no corner of it crowds out the rest. Linked
    facts outside the window follow when there is room.
    """

    window: Window
    vector: Vector | None = None
    view: str = "fact"
    slices: int = 8
    spread: tuple[LinkKind, ...] = (LinkKind.TEMPORAL, LinkKind.CAUSAL)


@dataclass(frozen=True, slots=True)
class FuzzyProbe:
    """Typo-tolerant: words match vocabulary words by trigram Jaccard similarity (or containment).

    A fact scores the mean over the words of its best similarity, those below `threshold` counting 0.
    """

    words: tuple[str, ...]
    threshold: float = 0.4
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class SignatureProbe:
    """Share of equal bits among 256; `min_score` 0.65 in abmind."""

    signature: bytes
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class RelationProbe:
    """Facts with a relation whose subject or object is one of the entities (id, name or alias).

    A fact scores its subject's weight plus its object's.
    """

    entities: Mapping[str, float]
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class PageRankProbe:
    """Personalised PageRank over the entity graph; a fact scores the mass of its entities."""

    entities: Mapping[str, float]
    damping: float = 0.85
    sweeps: int = 4
    hub_cap: int = 1000


Probe = (
    SemanticProbe
    | KeywordProbe
    | GraphProbe
    | TemporalProbe
    | FuzzyProbe
    | SignatureProbe
    | RelationProbe
    | PageRankProbe
)
