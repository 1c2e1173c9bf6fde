"""The facts of a bank: listing, history, and corrections by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from perdure.arguments import FactChangeArguments, FactListArguments, ItemArguments
from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Fact, Link
from perdure.domain.filter import Conditions, Filter, TagsMatch
from perdure.domain.item import ItemOptions
from perdure.domain.options import NOT_MCP, PROGRAMS, option
from perdure.domain.time import Window, read_window
from perdure.domain.verb import READ, WRITE, local, verb
from perdure.errors import NotFound
from perdure.manage.curation import invalidate_fact, restore_fact, set_fact_entities, update_fact
from perdure.manage.entities import find_entity
from perdure.ports.store import FactPage, Order, Proof, Selection, raise_damaged
from perdure.ports.telemetry import MemoryOperation, observed
from perdure.retain.components import RetainComponents
from perdure.retain.preview import preview_facts
from perdure.retain.request import Content, read_request

PAGE = 1_000
"""Facts per page of `iterate` and `history`."""
SELECTED = ("text", "subject", "relation", "speaker", "dated", "offset", "limit")
"""Options of a listing that a store reads as they are."""
EVERYTHING = Filter(include_closed=True, include_expired=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactListOptions(Conditions):
    """Options of a listing of facts."""

    text: str = option("", "Only facts that contain this text, in any case.", on=NOT_MCP)
    tags_match: TagsMatch = option(
        TagsMatch.ANY_STRICT,
        "How tags must match: any_strict, all_strict or exact; any and all admit untagged facts.",
        on=NOT_MCP,
    )
    entity: str | None = option(
        None, "Only facts about this person, place or thing: its name, an alias or its id.",
        also="entity_id", flag="--entity", flat="about",
    )  # fmt: skip
    subject: str | None = option(None, "Only facts whose relation has this subject.", on=NOT_MCP)
    relation: str | None = option(None, "Only facts with this relation.", on=NOT_MCP)
    speaker: str | None = option(None, "Only what this person said.", on=NOT_MCP)
    dated: Window | None = option(
        None, "Only facts dated within this window of time.", on=PROGRAMS, read=read_window,
        accepts=Window | Mapping[str, object] | None,
    )  # fmt: skip
    order: Order | None = option(
        None,
        "newest_recorded, oldest_recorded, latest_dated or earliest_dated; those by date leave out facts without one. "
        "By default the newest first, and with `since` or `until` by date.",
        on=NOT_MCP,
    )
    offset: int = option(0, "Number of facts to skip.", at_least=0, on=NOT_MCP)
    limit: int = option(100, "Number of facts to return at most.", at_least=0, flag="-n")

    @property
    def chosen_order(self) -> Order:
        """Return the order: as given, else by date within a span of time, else the newest first."""
        if self.order is not None:
            return self.order
        return Order.NEWEST_RECORDED if self.where.during is None else Order.EARLIEST_DATED


class Facts:
    """The facts of a memory: `memory.facts`."""

    def __init__(self, components: RetainComponents) -> None:
        self._components = components
        self._store = components.store

    @local()
    def iterate(self, bank: str, *, where: Filter | None = None) -> Iterator[Fact]:
        """Yield all facts that the filter admits, oldest recorded first, read page by page."""
        return self._every(bank, where or Filter())

    def _every(
        self, bank: str, where: Filter, subject: str | None = None, relation: str | None = None
    ) -> Iterator[Fact]:
        """Yield all facts of a listing, oldest recorded first, page by page."""
        offset, total = 0, 1
        while offset < total:
            page = self.list(
                bank, where=where, subject=subject, relation=relation,
                order=Order.OLDEST_RECORDED, offset=offset, limit=PAGE,
            )  # fmt: skip
            yield from page.facts
            offset, total = offset + PAGE, page.total

    @verb(READ)
    def get(self, bank: str, fact_id: str) -> Fact:
        """Return a fact, closed or not. Raise `DamagedRow` if it is not what was written."""
        with self._store.reading(check_bank_id(bank)) as reading:
            stored = reading.facts([fact_id])
            raise_damaged(reading)
        if not stored:
            raise NotFound("fact", fact_id)
        return stored[0]

    @verb(READ)
    def get_many(self, bank: str, fact_ids: Sequence[str]) -> list[Fact]:
        """Return the facts of these ids in that order, closed or not, without unknown and damaged ones."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.facts(fact_ids)

    @verb(READ)
    def history(self, bank: str, subject: str, relation: str | None = None) -> list[Fact]:
        """Return every value that a subject's relation ever had, oldest first."""
        return [*self._every(bank, EVERYTHING, subject, relation)]

    @verb(READ)
    def links(self, bank: str, fact_ids: Sequence[str]) -> list[Link]:
        """Return the links that start or end at one of the facts."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.links(fact_ids)

    @verb(READ)
    def proofs(self, bank: str, fact_ids: Sequence[str]) -> list[Proof]:
        """Return what stated the facts again after their first source, oldest first for each fact."""
        with self._store.reading(check_bank_id(bank)) as reading:
            proofs = reading.proofs(fact_ids)
        return [proof for fact_id in fact_ids for proof in proofs.get(fact_id, ())]

    @verb(READ, "recall")
    def preview(self, bank: str, content: Content, **options: Unpack[ItemArguments]) -> list[Fact]:
        """Return the facts that retain would extract from the content, without storing anything.

        Entities are named as the text names them.
        """
        return preview_facts(self._components, read_request(bank, content, ItemOptions.read(options)))

    @verb(WRITE)
    def update(self, bank: str, fact_id: str, **changes: Unpack[FactChangeArguments]) -> Fact:
        """Change fields of a fact. A changed text closes the fact and restates it."""
        with observed(self._components.telemetry, MemoryOperation.UPDATE, bank, record_id=fact_id):
            return update_fact(self._components, check_bank_id(bank), fact_id, changes)

    @verb(WRITE)
    def invalidate(self, bank: str, fact_id: str, reason: str | None = None) -> Fact:
        """Declare a fact wrong: close it on the knowledge axis, with the reason."""
        with observed(self._components.telemetry, MemoryOperation.UPDATE, bank, record_id=fact_id):
            return invalidate_fact(self._components, check_bank_id(bank), fact_id, reason)

    @verb(WRITE)
    def restore(self, bank: str, fact_id: str) -> Fact:
        """Undo `invalidate`."""
        with observed(self._components.telemetry, MemoryOperation.UPDATE, bank, record_id=fact_id):
            return restore_fact(self._components, check_bank_id(bank), fact_id)

    @verb(WRITE)
    def set_entities(self, bank: str, fact_id: str, names: Sequence[str], *, resolve: bool = True) -> Fact:
        """Replace the entities of a fact. Without `resolve`, a name means exactly that name."""
        return set_fact_entities(self._components, check_bank_id(bank), fact_id, names, resolve)

    @verb(READ)
    def list(
        self,
        bank: str,
        **options: Unpack[FactListArguments],
    ) -> FactPage:
        """Return a page of facts.

        Orders by date leave out facts without a date; `Filter(include_closed=True)` lists closed facts too.
        """
        given = FactListOptions.read(options)
        with self._store.reading(check_bank_id(bank)) as reading:
            entity = None if given.entity is None else find_entity(reading, given.entity).id
            chosen = {name: getattr(given, name) for name in SELECTED}
            where = given.where.at(self._components.clock())
            selection = Selection(where=where, entity_id=entity, order=given.chosen_order, **chosen)
            return reading.browse(selection)
