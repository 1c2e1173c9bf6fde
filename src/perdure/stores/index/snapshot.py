"""One state of a bank's index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.errors import ModelMismatch
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import Selection
from perdure.stores.index.arrays import Rows
from perdure.stores.index.feed import Feed
from perdure.stores.index.fuzzy import VocabularyBuilder, search_fuzzy
from perdure.stores.index.graph import search_graph, search_pagerank
from perdure.stores.index.keyword import search_keyword
from perdure.stores.index.listing import list_page
from perdure.stores.index.masks import FilterMasks
from perdure.stores.index.relation import search_relation
from perdure.stores.index.signature import SignatureBuilder, search_signature
from perdure.stores.index.table import FactTable
from perdure.stores.index.temporal import search_temporal
from perdure.stores.index.vectors import VectorView, ViewBuilder, search_semantic

State = TypeVar("State", covariant=True)


class Part(Protocol[State]):
    """What is loaded at first use: the vectors of a view, the vocabulary, the signatures."""

    key: str
    """Names the part."""

    @property
    def nbytes(self) -> int:
        """Return memory in use, roughly."""

    def read(self, feed: Feed, row_of: Rows, numbers: Sequence[int] | None = None) -> None:
        """Add all facts or those of some numbers; `row_of` is -1 for those to leave out."""

    def state(self) -> State:
        """Return what was read so far; never changes."""


class LoadPart(Protocol):
    """Returns the state of a part; the part passed in is read where no other of its key was."""

    def __call__(self, part: Part[State], table: FactTable) -> State: ...


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Any thread may search it without a lock: the arrays never change."""

    bank: str
    table: FactTable
    masks: FilterMasks
    parts: Mapping[str, Any]
    """States of the loaded parts by key, perhaps with rows that the table does not have yet."""
    load: LoadPart

    @property
    def size(self) -> int:
        """Return how many facts the bank has in this state."""
        return int(np.count_nonzero(self.table.alive))

    def search(
        self, probe: Probe, where: Filter, limit: int, names: Mapping[str, Sequence[str]] | None = None
    ) -> list[Hit]:
        """Return the facts that answer the probe, best first, ties in recorded order.

        `names` are names and aliases of a RelationProbe's entities by id (`Feed.entity_names`); other probes
        need none. Opens a feed when the probe needs vectors, words or signatures and nobody did before.
        Raises ModelMismatch when the probe's vector and the bank's have different dimensions.
        """
        if limit < 1:
            return []
        table, admitting = self.table, self.masks.get(where)
        mask = admitting.mask
        match probe:
            case SemanticProbe():
                view = self._view(probe.view, probe.vector)
                return search_semantic(table, probe, view, mask, limit)
            case KeywordProbe():
                return search_keyword(table, probe, mask, limit)
            case GraphProbe():
                return search_graph(table, probe, admitting, limit)
            case TemporalProbe():
                by_similarity = None if probe.vector is None else self._view(probe.view, probe.vector)
                return search_temporal(table, probe, by_similarity, mask, limit)
            case FuzzyProbe():
                return search_fuzzy(table, probe, self._part(VocabularyBuilder()), mask, limit)
            case SignatureProbe():
                return search_signature(table, probe, self._part(SignatureBuilder()), mask, limit)
            case RelationProbe():
                return search_relation(table, probe, names or {}, mask, limit)
            case PageRankProbe():
                return search_pagerank(table, probe, admitting, limit)

    def listing(self, selection: Selection, among: Collection[int] | None = None) -> tuple[list[int], int]:
        """Return numbers of the facts of a page in order, and how many facts the selection has in all.

        `selection.text` is not looked at: `among` are the numbers of the facts whose text contains it, None for any.
        """
        return list_page(self.table, selection, self.masks.get(selection.where).mask, among)

    def _view(self, name: str, vector: Vector) -> VectorView:
        view = self._part(ViewBuilder(name))
        if len(view.rows) and view.dimensions != len(vector):
            raise ModelMismatch(
                self.bank, f"one of {view.dimensions} dimensions", f"one of {len(vector)} dimensions"
            )
        return view

    def _part(self, part: Part[State]) -> State:
        state: State | None = self.parts.get(part.key)
        return self.load(part, self.table) if state is None else state
