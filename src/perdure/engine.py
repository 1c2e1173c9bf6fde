"""Perdure: the one object that users hold. It checks its arguments and delegates."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from perdure.compose import Components, OwnComponents, compose, present
from perdure.domain.bank import Bank, Disposition, check_bank_id
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.item import RetainResult, UpdateMode
from perdure.domain.operation import Operation
from perdure.domain.recall import Budget, RecallResult
from perdure.domain.record import Record
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput, ModelError, NotFound, StoreError
from perdure.forget.pipeline import forget
from perdure.forget.target import LAST_ERASURE, Forgotten, Target
from perdure.jobs.clear_traces import CLEAR_TRACES, PERCENT, clear_traces_job
from perdure.jobs.records import scrub
from perdure.jobs.retain_job import RetainJob
from perdure.jobs.runner import JobRunner
from perdure.manage.curation import (
    invalidate_fact,
    merge_entities,
    restore_fact,
    retag_document,
    set_fact_entities,
    split_entity,
    update_fact,
)
from perdure.manage.reembed import embed_facts, reembed
from perdure.manage.transfer import export_bank, import_bank
from perdure.options import FactFields, ItemFields, RecallOptions, SettingOptions
from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import Extractor
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.store import BankStats, FactPage, Order, Selection, Store, Traces
from perdure.ports.tokens import Tokens
from perdure.recall.options import Hints, Include, MinScores
from perdure.recall.pipeline import recall
from perdure.recall.question import entities_named
from perdure.recall.recipe import Recipe, trim_recipe
from perdure.recall.request import RecallRequest, read_budget, read_where
from perdure.recipes import find_recipe
from perdure.reflect.directive_rules import DirectiveText
from perdure.reflect.pipeline import ReflectRequest, reflect_in_tiers
from perdure.reflect.reflection import Reflection
from perdure.retain.pipeline import retain
from perdure.retain.request import Content, read_request
from perdure.settings import Settings, read_settings

log = logging.getLogger(__name__)

PAGE = 1_000
"""Facts per page of `iter_facts`."""


class Perdure:
    """Long-term memory in one object; safe to share between threads."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._store = components.store
        self._retain_job = RetainJob(
            lambda request, within: retain(components.retain, request, within=within)
        )
        self._clear_traces_job = clear_traces_job(components.store)
        self._jobs = JobRunner(components.store, components.clock, (self._retain_job, self._clear_traces_job))
        self._closed = False

    @classmethod
    def open(
        cls,
        database: str | Path | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock = present,
        store: Store | None = None,
        embedder: Embedder | str | None = None,
        reranker: Reranker | str | None = None,
        extractor: Extractor | str | None = None,
        tokens: Tokens | str | None = None,
        notes: Notes | None = None,
        **options: Unpack[SettingOptions],
    ) -> Self:
        """Open a database file (created if missing).

        A component is an object that satisfies its port, or the name that the setting of the same name takes.
        """
        overrides: dict[str, object] = dict(options)
        if database is not None:
            overrides["database"] = str(database)
        named = {"embedder": embedder, "reranker": reranker, "extractor": extractor, "tokens": tokens}
        overrides.update({name: component for name, component in named.items() if isinstance(component, str)})
        own = OwnComponents(
            store=store,
            embedder=None if isinstance(embedder, str) else embedder,
            reranker=None if isinstance(reranker, str) else reranker,
            extractor=None if isinstance(extractor, str) else extractor,
            tokens=None if isinstance(tokens, str) else tokens,
            notes=notes,
        )
        engine = cls(compose(read_settings(settings, overrides), clock, own))
        engine._jobs.resume()
        if engine._store.traces() is Traces.PENDING:
            engine._clear_traces_later()
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish the background step at hand, leave the rest to the next open, and release files and memory."""
        self._closed = True
        self._jobs.close()
        self._components.tracker.close()
        self._components.executor.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._components.settings

    @property
    def clock(self) -> Clock:
        """What tells this memory the present."""
        return self._components.clock

    @property
    def jobs(self) -> JobRunner:
        """The runner of background work, for surfaces that add kinds of work of their own."""
        return self._jobs

    # Retain

    def retain(
        self,
        bank: str,
        content: Content,
        *,
        update_mode: UpdateMode | str = UpdateMode.REPLACE,
        **fields: Unpack[ItemFields],
    ) -> RetainResult:
        """Remember a text, a list of messages or a batch of items; visible to every recall when this returns.

        `fields` are those of `Item`, for everything in `content` that does not say otherwise itself.
        """
        return retain(self._components.retain, read_request(bank, content, update_mode, fields))

    def retain_later(
        self,
        bank: str,
        content: Content,
        *,
        update_mode: UpdateMode | str = UpdateMode.REPLACE,
        operation_id: str | None = None,
        **fields: Unpack[ItemFields],
    ) -> Operation:
        """Accept for retaining in the background: durable when this returns, done when the operation says so."""
        request = read_request(bank, content, update_mode, fields)
        return self._jobs.submit(bank, self._retain_job.plan(request, self.clock()), operation_id)

    # Recall and reflect

    def recall(
        self,
        bank: str,
        query: str,
        *,
        budget: Budget | str = Budget.MID,
        max_tokens: int = 4096,
        types: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        as_of: AsOf | datetime | None = None,
        limit: int | None = None,
        recipe: str | Recipe | None = None,
        explain: bool = False,
        where: Filter | None = None,
        include: Include | None = None,
        hints: Hints | None = None,
        min_scores: MinScores | None = None,
        asked_at: datetime | None = None,
        track: bool = True,
        channel_timeout: float | None = None,
        asker: str | None = None,
    ) -> RecallResult:
        """What memory holds on a question, best first, within `max_tokens` of fact text.

        `asker` is whom "I" and "my" mean, the bank's user unless given.
        """
        request = self._recall_request(
            bank, query, budget=budget, max_tokens=max_tokens, types=types, tags=tags, as_of=as_of, limit=limit,
            recipe=recipe, explain=explain, where=where, include=include, hints=hints, min_scores=min_scores,
            asked_at=asked_at, track=track, channel_timeout=channel_timeout, asker=asker,
        )  # fmt: skip
        with self._while_open():
            return recall(self._components.recall, request)

    def prompt(self, bank: str, query: str, **options: Unpack[RecallOptions]) -> str:
        """A recall as a fenced text with citations, ready for a prompt."""
        return self.recall(bank, query, **options).to_prompt()

    def reflect(
        self,
        bank: str,
        query: str,
        *,
        directives: Sequence[str | DirectiveText] = (),
        disposition: Disposition | None = None,
        response_schema: Mapping[str, object] | None = None,
        **options: Unpack[RecallOptions],
    ) -> Reflection:
        """An answer whose every sentence names the facts it rests on, or that memory holds none; no language model is asked.

        `disposition` stands in for the bank's own; `response_schema` is the JSON Schema of an object to fill.
        """
        request = ReflectRequest(
            recall=self._recall_request(bank, query, **options),
            directives=directives,
            disposition=disposition,
            response_schema=response_schema,
        )
        with self._while_open():
            return reflect_in_tiers(self._components.reflect, request)

    def trimmed_recipe(
        self, name: str | Recipe | None = None, *, without: Sequence[str] = (), rerank: bool = True
    ) -> Recipe:
        """A recipe, the configured one unless named, without some of its channels or its cross-encoder."""
        return trim_recipe(self._recipe(name), without, rerank)

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, as recall counts them."""
        return self._components.recall.tokens.count(text)

    # Banks

    def banks(self) -> list[Bank]:
        """All banks, by id."""
        return self._store.banks()

    def bank(self, bank: str) -> Bank:
        """One bank."""
        stored = self._store.banks([check_bank_id(bank)])
        if not stored:
            raise NotFound("bank", bank)
        return stored[0]

    def configure_bank(
        self,
        bank: str,
        *,
        name: str | None = None,
        mission: str | None = None,
        disposition: Disposition | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Bank:
        """Create a bank, or change the given fields of an existing one."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            current = tx.bank() or Bank(id=bank, name=bank)
            changed = replace(
                current,
                name=current.name if name is None else name,
                mission=current.mission if mission is None else mission,
                disposition=disposition or current.disposition,
                settings=current.settings if settings is None else settings,
                updated_at=self.clock(),
            )
            tx.put_bank(changed)
        return self.bank(bank)

    def stats(self, bank: str) -> BankStats:
        """Counts of what the bank holds."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.stats()

    # Facts

    def facts(
        self,
        bank: str,
        *,
        text: str = "",
        types: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        where: Filter | None = None,
        entity_id: str | None = None,
        subject: str | None = None,
        relation: str | None = None,
        speaker: str | None = None,
        dated: Window | None = None,
        order: Order | str = Order.NEWEST_RECORDED,
        offset: int = 0,
        limit: int = 100,
    ) -> FactPage:
        """A page of facts. Dated orders leave out facts without any date; `Filter(include_closed=True)` lists closed ones too."""
        for field, value in (("offset", offset), ("limit", limit)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidInput(field, "a number from 0 on", value)
        if order not in set(Order):
            raise InvalidInput("order", "one of " + ", ".join(Order), order)
        selection = Selection(
            where=read_where(where, types=types, tags=tags).at(self.clock()),
            text=text,
            entity_id=entity_id,
            subject=subject,
            relation=relation,
            speaker=speaker,
            dated=dated,
            order=Order(order),
            offset=offset,
            limit=limit,
        )
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.browse(selection)

    def iter_facts(self, bank: str, *, where: Filter | None = None) -> Iterator[Fact]:
        """All facts that the filter admits, oldest recorded first, read page by page."""
        offset = 0
        while True:
            page = self.facts(bank, where=where, order=Order.OLDEST_RECORDED, offset=offset, limit=PAGE)
            yield from page.facts
            offset += len(page.facts)
            if len(page.facts) < PAGE:
                return

    def fact(self, bank: str, fact_id: str) -> Fact:
        """One fact, closed or not."""
        stored = self.facts_by_id(bank, [fact_id])
        if not stored:
            raise NotFound("fact", fact_id)
        return stored[0]

    def facts_by_id(self, bank: str, fact_ids: Sequence[str]) -> list[Fact]:
        """The facts of these ids in that order, closed or not; unknown ids are left out."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.facts(fact_ids)

    def history(self, bank: str, subject: str, relation: str | None = None) -> list[Fact]:
        """Every value that a subject's relation ever had, oldest first."""
        values: list[Fact] = []
        everything = Filter(include_closed=True, include_expired=True)
        while True:
            page = self.facts(
                bank, where=everything, subject=subject, relation=relation,
                order=Order.OLDEST_RECORDED, offset=len(values), limit=PAGE,
            )  # fmt: skip
            values += page.facts
            if len(page.facts) < PAGE:
                return values

    def links(self, bank: str, fact_ids: Sequence[str]) -> list[Link]:
        """The links that start or end at one of the facts."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.links(fact_ids)

    def update_fact(self, bank: str, fact_id: str, **changes: Unpack[FactFields]) -> Fact:
        """Change a fact's fields; a changed text closes the fact and states it anew."""
        return update_fact(self._components.retain, check_bank_id(bank), fact_id, changes)

    def invalidate_fact(self, bank: str, fact_id: str, reason: str | None = None) -> Fact:
        """Declare a fact wrong: it is closed on the knowledge axis, with the reason."""
        return invalidate_fact(self._components.retain, check_bank_id(bank), fact_id, reason)

    def restore_fact(self, bank: str, fact_id: str) -> Fact:
        """Take back that a fact is wrong."""
        return restore_fact(self._components.retain, check_bank_id(bank), fact_id)

    def set_fact_entities(
        self, bank: str, fact_id: str, names: Sequence[str], *, resolve: bool = True
    ) -> Fact:
        """Replace what a fact mentions; without `resolve` a name means only the entity of exactly that name."""
        return set_fact_entities(self._components.retain, check_bank_id(bank), fact_id, names, resolve)

    # Documents and entities

    def documents(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        """The bank's documents, newest first, or those of `ids`."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.documents(ids)

    def chunks(
        self, bank: str, *, document_id: str | None = None, ids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """Chunks of a document, or by id."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.chunks(ids=ids, document_id=document_id)

    def retag_document(self, bank: str, document_id: str, tags: Sequence[str]) -> Document:
        """Give a document and the facts drawn from it other tags."""
        return retag_document(self._components.retain, check_bank_id(bank), document_id, tags)

    def entities(
        self, bank: str, ids: Sequence[str] | None = None, *, name: str | None = None
    ) -> list[Entity]:
        """The bank's entities, most mentioned first: all, those of `ids`, or those of a name or alias in any case."""
        with self._store.reading(check_bank_id(bank)) as reading:
            if name is None:
                return [keyed.entity for keyed in reading.entities(ids=ids)]
            if ids is not None:
                raise InvalidInput("entities", "ids or a name, not both")
            return entities_named(reading, name)

    def merge_entities(self, bank: str, keep: str, absorb: str) -> Entity:
        """Make two entities one; the absorbed one's names become aliases."""
        return merge_entities(self._components.retain, check_bank_id(bank), keep, absorb)

    def split_entity(self, bank: str, entity_id: str, name: str, fact_ids: Sequence[str]) -> Entity:
        """Move the facts' mentions of an entity to a new one of that name."""
        return split_entity(self._components.retain, check_bank_id(bank), entity_id, name, fact_ids)

    # Erasure, transfer, maintenance

    def forget(
        self,
        bank: str,
        *,
        fact_id: str | None = None,
        document_id: str | None = None,
        entity_id: str | None = None,
        everything: bool = False,
    ) -> Forgotten:
        """Erase one of these for good, or with `everything` the whole bank, with all that quotes it.

        The result says how many facts went and whether their traces in the files are cleared or pending. Pending ones
        are cleared in the background; the next open, or another call, resumes that.
        """
        target = Target(fact_id=fact_id, document_id=document_id, entity_id=entity_id, everything=everything)
        forgotten = forget(self._store, check_bank_id(bank), target, also=scrub)
        self._embed_again(bank, forgotten.unembedded)
        if forgotten.traces is Traces.PENDING:
            self._clear_traces_later()
        return forgotten

    def erased_at(self, bank: str) -> datetime | None:
        """When something was last erased from the bank; files made from it before should go."""
        records = self.records(LAST_ERASURE, bank=bank)
        return records[0].updated_at if records else None

    def export_bank(self, bank: str) -> Iterator[str]:
        """The bank as JSON lines."""
        self.bank(bank)
        return export_bank(self._store, bank, self.clock())

    def import_bank(self, bank: str, lines: Iterable[str]) -> int:
        """An exported bank under a new id; returns how many facts came."""
        return import_bank(self._store, bank, lines)

    def reembed(self, bank: str) -> int:
        """Change the bank's vectors over to the configured embedder, online; returns how many facts."""
        return reembed(self._components.retain, check_bank_id(bank))

    # Background work

    def operation(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """How far background work is; `wait` blocks up to so many seconds for its end."""
        if wait is not None:
            return self._jobs.wait(bank, operation_id, wait)
        return self._jobs.get(bank, operation_id)

    def operations(self, bank: str) -> list[Operation]:
        """The bank's background work, oldest first."""
        return list(self._jobs.list(bank))

    def cancel_operation(self, bank: str, operation_id: str) -> Operation:
        """Stop background work before its next step."""
        return self._jobs.cancel(bank, operation_id)

    def retry_operation(self, bank: str, operation_id: str) -> Operation:
        """Go on with failed or cancelled background work."""
        return self._jobs.retry(bank, operation_id)

    def delete_operation(self, bank: str, operation_id: str) -> None:
        """Drop the record of background work that has ended."""
        self._jobs.delete(check_bank_id(bank), operation_id)

    # Records that surfaces keep beside the memory

    def records(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        """Small JSON objects of a kind, oldest first; without a bank those that belong to none."""
        if not bank:
            return self._store.shared_records(kind, ids)
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.records(kind, ids)

    def save_record(self, record: Record) -> None:
        """Insert or replace a record."""
        if not record.bank:
            self._store.put_shared_records([record])
            return
        with self._store.transaction(check_bank_id(record.bank)) as tx:
            tx.put_records([record])

    def delete_record(self, kind: str, record_id: str, *, bank: str = "") -> None:
        """Delete a record; one that is not there is no error."""
        if not bank:
            self._store.delete_shared_records(kind, [record_id])
            return
        with self._store.transaction(check_bank_id(bank)) as tx:
            tx.delete_records(kind, [record_id])

    def _recall_request(self, bank: str, query: str, **options: Unpack[RecallOptions]) -> RecallRequest:
        return RecallRequest(
            bank=bank,
            query=query,
            recipe=self._recipe(options.get("recipe")),
            where=read_where(
                options.get("where"),
                types=options.get("types"),
                tags=options.get("tags"),
                as_of=options.get("as_of"),
            ),
            include=options.get("include") or Include(),
            hints=options.get("hints") or Hints(),
            min_scores=options.get("min_scores") or MinScores(),
            budget=read_budget(options.get("budget", Budget.MID)),
            max_tokens=options.get("max_tokens", 4096),
            limit=options.get("limit"),
            explain=options.get("explain", False),
            track=options.get("track", True),
            asked_at=options.get("asked_at"),
            channel_timeout=options.get("channel_timeout"),
            asker=options.get("asker"),
        )

    def _recipe(self, recipe: str | Recipe | None) -> Recipe:
        return find_recipe(recipe or self.settings.recipe, self._components.recipes)

    def _embed_again(self, bank: str, fact_ids: Sequence[str]) -> None:
        """Embed facts that stay but lost vectors in which erased words took part; without a model they stay without."""
        try:
            embed_facts(self._components.retain, bank, fact_ids)
        except ModelError as error:
            log.warning("%d facts of bank %s have no vectors until reembed: %s", len(fact_ids), bank, error)

    def _clear_traces_later(self) -> None:
        plan = self._clear_traces_job.plan(total=PERCENT)
        self._jobs.submit("", plan, CLEAR_TRACES, again=True)

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Work on threads that end when the engine is closed, perhaps meanwhile."""
        try:
            yield
        except RuntimeError as error:
            if self._closed:
                raise StoreError(f"{self.settings.database}: the store is closed") from error
            raise
