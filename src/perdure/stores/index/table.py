"""The facts of a bank as an index holds them, one row per fact and version of it, and how they grow.

A row is never overwritten but for its filter columns: a fact whose terms, entities, tags, metadata or vectors
changed gets a new row, and its old row is dead like that of a deleted fact. Postings of dead rows stay; masks
leave them out. Links join fact numbers, not rows, so that they outlast a change of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import LinkKind
from perdure.errors import StoreCorrupt
from perdure.stores.index.arrays import AppendOnlyArray, Array, Hashes, Mask, Positions, Rows, spans
from perdure.stores.index.feed import FactNos
from perdure.stores.index.packing import LINK_CODES, NEVER, UnpackedFacts, unpack_facts, unpack_tags
from perdure.stores.index.postings import Postings


@dataclass(frozen=True, slots=True, eq=False)
class FactTable:
    """One state of a bank's facts; never changes."""

    numbers: FactNos
    """Per row."""
    ids: NDArray[np.object_]
    """Per row."""
    alive: Mask
    row_of: Rows
    """Per fact number; -1 for a number that no living fact has."""
    columns: Mapping[str, Array]
    """`UnpackedFacts.columns`, per row."""
    tag_sets: NDArray[np.object_]
    """The distinct sets of tags."""
    tag_code: NDArray[np.int32]
    """Which of them each row has."""
    pairs: Postings
    """Hash of a metadata pair -> rows."""
    terms: Postings
    """Hash of a term -> rows, weighted by its frequency."""
    members: Postings
    """Hash of an entity's id -> rows."""
    mentions: Hashes
    """The entities of all rows, one row after the other."""
    mention_starts: Positions
    """Where those of a row start, per row; and where the last end."""
    links: tuple[Postings, ...]
    """One per kind: fact number -> numbers of the facts linked with it, in either direction."""
    degree: Positions
    """How many entities a row has, and links with living facts."""
    rows_by_id: Postings
    """Hash of an id -> rows."""
    open: Mask
    """Which rows hold facts that are not closed."""
    open_count: int
    average_length: float
    """Mean `length` of the facts that are not closed, 0 without any."""
    generation: int
    """Tells tables apart in which the same row may be another fact."""

    @property
    def size(self) -> int:
        """Return how many rows there are, dead ones included."""
        return len(self.numbers)

    def rows(self, ids: Sequence[str]) -> Rows:
        """Return rows of the facts of some ids, -1 where there is none."""
        rows = np.full(len(ids), -1)
        position, candidates, _ = self.rows_by_id.of_all(_id_hashes(ids))
        for at, row in zip(position.tolist(), candidates.tolist(), strict=True):
            if self.alive[row] and self.ids[row] == ids[at]:
                rows[at] = row
        return rows

    def entities(self, rows: Rows) -> tuple[Positions, Hashes]:
        """Return the entities that some rows mention: position of the row among `rows`, and entity."""
        starts = self.mention_starts.take(rows)
        counts = self.mention_starts.take(rows + 1) - starts
        return np.repeat(np.arange(len(rows)), counts), self.mentions.take(spans(starts, counts))

    def linked(self, rows: Rows, kind: LinkKind) -> tuple[Positions, Rows, NDArray[np.float32]]:
        """Return links of some rows: position among `rows`, row of the other fact, weight."""
        numbers = self.numbers.take(rows).astype(np.uint64)
        position, others, weights = self.links[LINK_CODES[kind]].of_all(numbers)
        far = self.row_of.take(others)
        living = far >= 0
        return position[living], far[living], weights[living]


class FactTableBuilder:
    """Grows a table and hands out its states."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.dead = 0
        """How many rows are dead."""
        self._numbers = AppendOnlyArray(np.empty(0, np.int64))
        self._ids = AppendOnlyArray(np.empty(0, np.object_))
        self._alive = AppendOnlyArray(np.empty(0, np.bool_))
        self._row_of = AppendOnlyArray(np.full(1, -1, np.int64))
        columns = unpack_facts([]).columns
        self._columns = {name: AppendOnlyArray(values) for name, values in columns.items()}
        self._tag_sets = AppendOnlyArray(np.empty(0, np.object_))
        self._tag_numbers: dict[bytes, int] = {}
        self._tag_code = AppendOnlyArray(np.empty(0, np.int32))
        self._pairs, self._terms, self._members, self._rows_by_id = (Postings() for _ in range(4))
        self._mentions = AppendOnlyArray(np.empty(0, np.uint64))
        self._mention_starts = AppendOnlyArray(np.zeros(1, np.int64))
        self._links = tuple(Postings() for _ in LINK_CODES)
        self._degree = AppendOnlyArray(np.empty(0, np.int64))

    @property
    def size(self) -> int:
        """Return how many rows there are, dead ones included."""
        return len(self._numbers.view)

    @property
    def row_of(self) -> Rows:
        """Return the array of `FactTable.row_of`."""
        return self._row_of.view

    @property
    def last_number(self) -> int:
        """Return the highest fact number so far."""
        return len(self._row_of.view) - 1

    @property
    def nbytes(self) -> int:
        """Return memory in use, roughly."""
        arrays = (
            self._numbers, self._ids, self._alive, self._row_of, self._tag_code, self._mentions,
            self._mention_starts, self._degree, *self._columns.values(),
        )  # fmt: skip
        postings = (self._pairs, self._terms, self._members, self._rows_by_id, *self._links)
        strings = 80 * self.size + 300 * len(self._tag_numbers)
        return sum(part.nbytes for part in arrays) + sum(part.nbytes for part in postings) + strings

    def append(self, numbers: FactNos, ids: Sequence[str], facts: UnpackedFacts) -> None:
        """Add facts with their links; numbers rise, and are higher than all before."""
        self._row_of.append(np.full(int(numbers[-1]) - self.last_number, -1))
        self._add_rows(numbers, ids, facts)
        owners = np.repeat(numbers, facts.link_counts)
        self._add_links(facts.link_kinds, owners, facts.link_others, facts.link_weights)

    def replace(self, numbers: FactNos, ids: Sequence[str], facts: UnpackedFacts) -> None:
        """Give facts new rows."""
        old, starts = self._rows(numbers), self._mention_starts.view
        links = self._degree.view.take(old) - (starts.take(old + 1) - starts.take(old))
        self._kill(numbers)
        self._add_rows(numbers, ids, facts)
        new = self._rows(numbers)
        self._degree.assign(new, self._degree.view.take(new) + links)
        self.set_links(numbers, facts)

    def remove(self, numbers: FactNos) -> None:
        """Take facts out; numbers that no fact has are passed over."""
        numbers = numbers[self._row_of.view.take(numbers) >= 0]
        self._kill(numbers)
        # One link less for each fact that was linked with one of them, as often as it was.
        keys = numbers.astype(np.uint64)
        others = np.concatenate([links.of_all(keys)[1] for links in self._links])
        self._count_links(others, -1)

    def set_columns(self, numbers: FactNos, facts: UnpackedFacts) -> None:
        """Overwrite the filter columns of facts."""
        rows = self._rows(numbers)
        for name, column in self._columns.items():
            if not np.array_equal(column.view.take(rows), facts.columns[name]):
                column.assign(rows, facts.columns[name])

    def set_links(self, numbers: FactNos, facts: UnpackedFacts) -> None:
        """Overwrite the links of facts with facts of lower number."""
        before = Counter(self._links_of(numbers))
        living = self._row_of.view.take(facts.link_others) >= 0
        owners = np.repeat(numbers, facts.link_counts)
        columns = (facts.link_kinds, owners, facts.link_others, facts.link_weights)
        after = Counter(zip(*(column[living].tolist() for column in columns), strict=True))
        if before - after:
            # A link is gone or has another weight: drop all links of these facts, and add them again.
            changed = np.zeros(self.last_number + 1, np.bool_)
            changed[numbers] = True
            self._links = tuple(
                links.where(lambda keys, others: ~changed[np.maximum(keys.astype(np.int64), others)])
                for links in self._links
            )
            ends = [end for _, owner, other, _ in before.elements() for end in (owner, other)]
            self._count_links(np.array(ends), -1)
            before.clear()
        if added := list((after - before).elements()):
            kinds, owners, others, weights = map(np.array, zip(*added, strict=True))
            self._add_links(kinds, owners, others, weights.astype(np.float32))

    def table(self) -> FactTable:
        """Return the present state."""
        columns = {name: column.view for name, column in self._columns.items()}
        alive = self._alive.view
        is_open: Mask = alive & (columns["retired"] == NEVER) & (columns["end_recorded"] == NEVER)
        open_count, closed = int(np.count_nonzero(is_open)), np.flatnonzero(~is_open)
        length = float(columns["length"].sum() - columns["length"].take(closed).sum())
        return FactTable(
            numbers=self._numbers.view,
            ids=self._ids.view,
            alive=alive,
            row_of=self._row_of.view,
            columns=columns,
            tag_sets=self._tag_sets.view,
            tag_code=self._tag_code.view,
            pairs=self._pairs,
            terms=self._terms,
            members=self._members,
            mentions=self._mentions.view,
            mention_starts=self._mention_starts.view,
            links=self._links,
            degree=self._degree.view,
            rows_by_id=self._rows_by_id,
            open=is_open,
            open_count=open_count,
            average_length=length / max(open_count, 1),
            generation=self.generation,
        )

    def _add_rows(self, numbers: FactNos, ids: Sequence[str], facts: UnpackedFacts) -> None:
        first = self.size
        rows = np.arange(first, first + len(numbers))
        self._numbers.append(numbers)
        self._ids.append(np.array(ids, np.object_))
        self._alive.append(np.ones(len(rows), np.bool_))
        for name, values in facts.columns.items():
            self._columns[name].append(values)
        self._tag_code.append(self._tag_codes(facts.tags))
        self._pairs = self._pairs.add(facts.pairs, np.repeat(rows, facts.pair_counts))
        self._terms = self._terms.add(facts.terms, np.repeat(rows, facts.term_counts), facts.frequencies)
        self._members = self._members.add(facts.entities, np.repeat(rows, facts.entity_counts))
        self._mention_starts.append(len(self._mentions.view) + np.cumsum(facts.entity_counts))
        self._mentions.append(facts.entities)
        self._degree.append(facts.entity_counts)
        self._rows_by_id = self._rows_by_id.add(_id_hashes(ids), rows)
        self._row_of.assign(numbers, rows)

    def _kill(self, numbers: FactNos) -> None:
        self._alive.assign(self._rows(numbers), False)
        self._row_of.assign(numbers, -1)
        self.dead += len(numbers)

    def _rows(self, numbers: FactNos) -> Rows:
        """Return rows of facts that are there."""
        rows = self._row_of.view.take(numbers)
        if (rows < 0).any():
            raise StoreCorrupt("a change is listed of a fact that was deleted before")
        return rows

    def _tag_codes(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._tag_numbers]
        sets = np.empty(len(fresh), np.object_)
        sets[:] = [unpack_tags(text) for text in fresh]
        self._tag_sets.append(sets)
        self._tag_numbers |= {text: at for at, text in enumerate(fresh, len(self._tag_numbers))}
        return np.fromiter(map(self._tag_numbers.__getitem__, texts), np.int32, len(texts))

    def _add_links(
        self, kinds: NDArray[np.uint8], owners: FactNos, others: FactNos, weights: NDArray[np.float32]
    ) -> None:
        """Post links at both ends; those with a deleted fact are left out."""
        if (others < 1).any() or (others >= owners).any():
            raise StoreCorrupt("a link of the index cache does not lead to an earlier fact")
        living = self._row_of.view.take(others) >= 0
        links = list(self._links)
        for code in range(len(links)):
            some = np.flatnonzero(living & (kinds == code))
            near, far, weight = owners.take(some), others.take(some), weights.take(some)
            keys = np.concatenate([near, far]).astype(np.uint64)
            links[code] = links[code].add(keys, np.concatenate([far, near]), np.tile(weight, 2))
        self._links = tuple(links)
        self._count_links(np.concatenate([owners[living], others[living]]), 1)

    def _count_links(self, numbers: FactNos, step: int) -> None:
        """Count one link more or less for each number, as often as it is there."""
        distinct, counts = np.unique(numbers, return_counts=True)
        rows = self._row_of.view.take(distinct)
        living = np.flatnonzero(rows >= 0)
        rows = rows.take(living)
        self._degree.assign(rows, self._degree.view.take(rows) + step * counts.take(living))

    def _links_of(self, numbers: FactNos) -> Iterator[tuple[int, int, int, float]]:
        """Return (kind, owner, other, weight) of the links of facts with living facts of lower number."""
        for code, links in enumerate(self._links):
            position, others, weights = links.of_all(numbers.astype(np.uint64))
            owners = numbers.take(position)
            some = (others < owners) & (self._row_of.view.take(others) >= 0)
            columns = (owners[some], others[some], weights[some])
            for owner, other, weight in zip(*(column.tolist() for column in columns), strict=True):
                yield code, owner, other, weight


def _id_hashes(ids: Sequence[str]) -> Hashes:
    """Return Python's own hashes: they differ from process to process, as an index does."""
    return np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)
