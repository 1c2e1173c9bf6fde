"""A bank in lists that feeds an index, and the oracle's answers about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock

import numpy as np

from perdure.domain.fact import Entity, Fact, Link, LinkKind
from perdure.domain.filter import Filter, admits
from perdure.domain.recall import Hit
from perdure.ports.embedder import Matrix
from perdure.ports.probe import Probe
from perdure.ports.store import Features, NewFact, Order, Selection
from perdure.stores.index.bank_index import BankIndex
from perdure.stores.index.feed import BankState, Change, FactNos, PackedFact
from perdure.stores.index.packing import LinkEnd, pack_fact
from perdure.stores.index.snapshot import Snapshot
from tests.support.memory_search import MemorySearch

BLOCK = 7
"""Facts per block: few, so that tests see several blocks."""


class ListFeed:
    """A bank under a lock: a feed shows one state, since nobody writes while it is open."""

    def __init__(self, entities: Sequence[Entity] = ()) -> None:
        self.lock = RLock()
        self.key, self.version, self.vectors_version, self.dropped = 1, 1, 0, 0
        self.facts: dict[int, NewFact] = {}
        self.links: dict[tuple[int, int, LinkKind], float] = {}
        self.bodies: dict[int, bytes] = {}
        self.changes: list[tuple[int, int, Change]] = []
        self.change = self.last = 0
        self.entities = {entity.id: entity for entity in entities}

    # What a store does.

    def insert(self, facts: Sequence[NewFact], links: Sequence[Link] = ()) -> None:
        """Append facts with their links, which may join them with earlier ones and those among themselves."""
        with self.lock:
            self.version += 1
            added = range(self.last + 1, self.last + 1 + len(facts))
            self.last += len(facts)
            self.facts |= dict(zip(added, facts, strict=True))
            owners = self._put_links(links)
            for number in added:
                self._pack(number)
            for number in sorted(owners - set(added)):
                self._pack(number)
                self._log(number, Change.LINKS)

    def close(self, fact_id: str, **fields: object) -> None:
        """Change filter columns of a fact."""
        with self.lock:
            self.version += 1
            number = self.number(fact_id)
            fact = replace(self.facts[number].fact, **fields)  # type: ignore[arg-type]
            self.facts[number] = replace(self.facts[number], fact=fact)
            self._pack(number)
            self._log(number, Change.COLUMNS)

    def rewrite(self, fact_id: str, new: NewFact) -> None:
        """Replace a fact and its features; its id, number and links stay."""
        with self.lock:
            self.version += 1
            number = self.number(fact_id)
            self.facts[number] = replace(new, fact=replace(new.fact, id=fact_id))
            self._pack(number)
            self._log(number, Change.REPLACED)

    def delete(self, fact_id: str) -> None:
        """Delete a fact and its links; the bodies of other facts still tell of them."""
        with self.lock:
            self.version += 1
            number = self.number(fact_id)
            del self.facts[number], self.bodies[number]
            self.links = {key: weight for key, weight in self.links.items() if number not in key[:2]}
            self._log(number, Change.GONE)

    def put_vectors(self, rewritten: dict[str, Features]) -> None:
        """Replace all vectors at once, as another model does."""
        with self.lock:
            self.version += 1
            self.vectors_version = self.version
            for fact_id, features in rewritten.items():
                number = self.number(fact_id)
                self.facts[number] = replace(self.facts[number], features=features)

    def drop_changes(self) -> None:
        """Forget the list of changes."""
        with self.lock:
            self.version += 1
            self.dropped = self.change
            self.changes.clear()

    def number(self, fact_id: str) -> int:
        """The number of a fact."""
        return next(number for number, new in self.facts.items() if new.fact.id == fact_id)

    def _put_links(self, links: Sequence[Link]) -> set[int]:
        owners = set()
        for link in links:
            source, target = self.number(link.source), self.number(link.target)
            self.links[source, target, link.kind] = link.weight
            owners.add(max(source, target))
        return owners

    def _ends(self, number: int) -> list[LinkEnd]:
        ends = []
        for (source, target, kind), weight in self.links.items():
            if max(source, target) == number:
                ends.append(LinkEnd(min(source, target), kind, source == number, weight))
        return ends

    def _pack(self, number: int) -> None:
        new = self.facts[number]
        self.bodies[number] = pack_fact(new.fact, new.features, self._ends(number))

    def _log(self, number: int, kind: Change) -> None:
        self.change += 1
        self.changes.append((self.change, number, kind))

    # The feed.

    @contextmanager
    def open(self) -> Iterator[ListFeed]:
        with self.lock:
            yield self

    def state(self) -> BankState | None:
        return BankState(self.key, self.version, self.vectors_version, self.dropped, "model", 16)

    def facts_after(self, no: int) -> Iterator[Sequence[PackedFact]]:
        return self._blocks([number for number in sorted(self.facts) if number > no])

    def facts_of(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        return self._blocks([number for number in numbers if number in self.facts])

    def _blocks(self, numbers: Sequence[int]) -> Iterator[Sequence[PackedFact]]:
        for start in range(0, len(numbers), BLOCK):
            yield [
                PackedFact(number, self.facts[number].fact.id, self.bodies[number])
                for number in numbers[start : start + BLOCK]
            ]

    def changes_after(self, number: int) -> list[tuple[int, int, Change]]:
        return [change for change in self.changes if change[0] > number]

    def last_change(self) -> int:
        return self.change

    def vector_count(self, view: str) -> int:
        return sum(view in new.features.vectors for new in self.facts.values())

    def vectors(self, view: str, numbers: Sequence[int] | None = None) -> Iterator[tuple[FactNos, Matrix]]:
        having = [number for number in self._of(numbers) if view in self.facts[number].features.vectors]
        for start in range(0, len(having), BLOCK):
            some = having[start : start + BLOCK]
            yield np.array(some), np.stack([self.facts[one].features.vectors[view] for one in some])

    def words(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, Sequence[str]]]:
        for number in self._of(numbers):
            yield number, self.facts[number].features.words

    def signatures(self, numbers: Sequence[int] | None = None) -> Iterator[tuple[int, bytes]]:
        for number in self._of(numbers):
            yield number, self.facts[number].features.signature

    def entity_names(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        entities = [self.entities[one] for one in ids if one in self.entities]
        return {entity.id: (entity.name, *entity.aliases) for entity in entities}

    def _of(self, numbers: Sequence[int] | None) -> list[int]:
        return [number for number in sorted(self.facts) if numbers is None or number in set(numbers)]


def snapshot(index: BankIndex, feed: ListFeed) -> Snapshot:
    """The index's snapshot of the present state."""
    state = feed.state()
    assert state is not None
    taken = index.snapshot(state, feed.open)
    assert taken is not None
    return taken


def expected_hits(feed: ListFeed, probe: Probe, where: Filter, limit: int) -> list[Hit]:
    """What the oracle answers."""
    facts = {feed.facts[number].fact.id: feed.facts[number] for number in sorted(feed.facts)}
    links = [
        Link(feed.facts[source].fact.id, feed.facts[target].fact.id, kind, weight)
        for (source, target, kind), weight in feed.links.items()
    ]
    return MemorySearch(
        {fact_id: new.fact for fact_id, new in facts.items()},
        {fact_id: new.features for fact_id, new in facts.items()},
        links,
        feed.entities,
        where,
    ).answer(probe, limit)


def expected_page(
    feed: ListFeed, selection: Selection, among: set[int] | None = None
) -> tuple[list[int], int]:
    """The page that `Selection` describes, computed fact by fact."""

    def selected(number: int, fact: Fact) -> bool:
        named = (
            (selection.subject, fact.subject),
            (selection.relation, fact.relation),
            (selection.speaker, fact.speaker),
        )
        window = selection.dated
        return (
            admits(selection.where, fact)
            and (among is None or number in among)
            and all(asked is None or asked.casefold() == (own or "").casefold() for asked, own in named)
            and (selection.entity_id is None or selection.entity_id in fact.entity_ids)
            and (window is None or window.overlaps(fact.dated, fact.dated))
            and (fact.dated is not None or "dated" not in selection.order)
        )

    facts = {number: feed.facts[number].fact for number in sorted(feed.facts)}
    numbers = [number for number, fact in facts.items() if selected(number, fact)]
    if "dated" in selection.order:
        numbers.sort(key=lambda number: (facts[number].dated, facts[number].ordinal, number))
    if selection.order in (Order.NEWEST_RECORDED, Order.LATEST_DATED):
        numbers.reverse()
    return numbers[selection.offset :][: selection.limit], len(numbers)
