"""Perdure: the one object that users hold; it validates and delegates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from perdure.compose import Components, compose, now
from perdure.domain.bank import Bank, Disposition, check_bank_id
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.item import RetainResult
from perdure.domain.operation import Operation
from perdure.domain.recall import Budget, RecallResult
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput, NotFound
from perdure.jobs.operations import Operations
from perdure.keeping import Keeping
from perdure.manage.curation import merge_entities, split_entity, update_fact
from perdure.manage.reembed import reembed as run_reembed
from perdure.manage.transfer import export_bank, import_bank
from perdure.ports.clock import Clock
from perdure.ports.store import BankStats, FactPage, Selection, Target
from perdure.recall.pipeline import recall as run_recall
from perdure.recall.question import entities_named
from perdure.recall.recipe import Recipe, find_recipe
from perdure.recall.request import (
    MinScores,
    RecallRequest,
    Situation,
    read_as_of,
    read_strings,
    read_tags,
    read_tier,
    read_types,
)
from perdure.recall.track import track_recall
from perdure.reflect.pipeline import Reflection
from perdure.reflect.pipeline import reflect as run_reflect
from perdure.retain.pipeline import retain as run_retain
from perdure.retain.request import Content, RetainRequest, read_items, read_mode
from perdure.settings import Settings, read_settings

TRACKING_SECONDS = 5.0
"""How long closing waits for recall statistics to be written."""


class Perdure(Keeping):
    """Long-term memory in one object; safe to share between threads."""

    def __init__(self, wired: Components) -> None:
        self._wired = wired
        self._store = wired.store
        self._operations = Operations(wired.store, self._retain_request, wired.clock)
        self._tracking: list[Future[None]] = []

    @classmethod
    def open(
        cls,
        database: str | Path | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock = now,
        **overrides: Any,
    ) -> Perdure:
        """Open a database file (made if missing); overrides are settings by name."""
        if database is not None:
            overrides["database"] = str(database)
        engine = cls(compose(read_settings(settings, overrides), clock))
        engine._operations.resume([bank.id for bank in engine._store.banks()])
        return engine

    def __enter__(self) -> Perdure:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish the background step at hand, leave the rest of such work to the next open, and release files and memory."""
        self._closed = True
        self._operations.close()
        wait_for(self._tracking, timeout=TRACKING_SECONDS)
        self._wired.executor.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._wired.settings

    # Retain

    def retain(
        self,
        bank: str,
        content: Content,
        *,
        document_id: str | None = None,
        timestamp: datetime | str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        title: str | None = None,
        context: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, str] | None = None,
        entities: Sequence[Any] | None = None,
        update_mode: str = "replace",
        **fields: Any,
    ) -> RetainResult:
        """Remember text, a list of messages or a batch of items; `fields` are further fields of an item."""
        return self._retain_request(
            self._retain_of(
                bank, content, update_mode, document_id=document_id, timestamp=timestamp, speaker=speaker,
                role=role, title=title, context=context, tags=tags, metadata=metadata, entities=entities,
                **fields,
            )
        )  # fmt: skip

    def retain_later(
        self,
        bank: str,
        content: Content,
        *,
        update_mode: str = "replace",
        operation_id: str | None = None,
        **fields: Any,
    ) -> Operation:
        """Accept for retaining in the background: durable when this returns, done when the operation says so."""
        request = self._retain_of(bank, content, update_mode, **fields)
        return self._operations.submit(request, operation_id)

    @staticmethod
    def _retain_of(bank: str, content: Content, update_mode: str, **fields: Any) -> RetainRequest:
        return RetainRequest(bank=bank, items=read_items(content, fields), mode=read_mode(update_mode))

    def _retain_request(self, request: RetainRequest) -> RetainResult:
        return run_retain(self._wired.retain, request)

    # Recall and reflect

    def recall(
        self,
        bank: str,
        query: str,
        *,
        budget: str = "mid",
        max_tokens: int = 4096,
        types: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        tags_match: str = "any",
        tag_groups: Sequence[Mapping[str, object]] | None = None,
        metadata: Mapping[str, str] | None = None,
        during: Window | None = None,
        temporal_window: Window | None = None,
        as_of: AsOf | datetime | None = None,
        entity_hints: Sequence[str] = (),
        situation: Situation | None = None,
        include_chunks: bool = False,
        max_chunk_tokens: int = 8192,
        include_entities: bool = False,
        min_scores: MinScores | None = None,
        recipe: str | Recipe | None = None,
        explain: bool = False,
        track: bool = True,
        query_timestamp: datetime | None = None,
        limit: int | None = None,
        topic: str | None = None,
        tier: str | None = None,
        max_classification: int | None = None,
        document_ids: Collection[str] | None = None,
        include_expired: bool = False,
        channel_timeout: float | None = None,
    ) -> RecallResult:
        """What memory holds on a question, best first, within `max_tokens`."""
        if budget not in set(Budget):
            raise InvalidInput("budget", "low, mid or high", budget)
        request = RecallRequest(
            bank=bank,
            query=query,
            budget=Budget(budget),
            max_tokens=max_tokens,
            types=read_types(types),
            tags=read_tags(tags, tags_match, tag_groups),
            metadata=dict(metadata or {}),
            during=during,
            temporal_window=temporal_window,
            as_of=read_as_of(as_of),
            entity_hints=read_strings("entity_hints", entity_hints),
            situation=situation,
            include_chunks=include_chunks,
            max_chunk_tokens=max_chunk_tokens,
            include_entities=include_entities,
            min_scores=min_scores or MinScores(),
            recipe=find_recipe(recipe or self.settings.recipe),
            explain=explain,
            track=track,
            asked_at=query_timestamp,
            limit=limit,
            topic=topic,
            tier=read_tier(tier),
            max_classification=max_classification,
            document_ids=None
            if document_ids is None
            else frozenset(read_strings("document_ids", document_ids)),
            include_expired=include_expired,
            channel_timeout=channel_timeout,
        )
        with self._while_open():
            result = run_recall(self._wired.recall, request)
            if track:
                self._tracking = [task for task in self._tracking if not task.done()]
                self._tracking += track_recall(self._wired.recall, bank, result)
        return result

    def context(self, bank: str, query: str, **options: Any) -> str:
        """A recall as a fenced text with citations, ready for a prompt."""
        return self.recall(bank, query, **options).to_prompt()

    def reflect(self, bank: str, query: str, **options: Any) -> Reflection:
        """An answer in which every sentence cites the facts it rests on, or says that memory holds none."""
        return run_reflect(self.recall(bank, query, **options))

    # Banks

    def banks(self) -> list[Bank]:
        """All banks, by id."""
        return self._store.banks()

    def bank(self, bank: str) -> Bank:
        """One bank."""
        found = self._store.banks([check_bank_id(bank)])
        if not found:
            raise NotFound("bank", bank)
        return found[0]

    def configure_bank(
        self,
        bank: str,
        *,
        name: str | None = None,
        mission: str | None = None,
        disposition: Disposition | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Bank:
        """Make a bank, or change what is given of an existing one."""
        found = self._store.banks([check_bank_id(bank)])
        changes: dict[str, Any] = {
            key: value
            for key, value in (
                ("name", name), ("mission", mission), ("disposition", disposition), ("settings", settings),
            )
            if value is not None
        }  # fmt: skip
        current = found[0] if found else Bank(id=bank, name=bank)
        self._store.save_bank(replace(current, **changes, updated_at=self._wired.clock()))
        return self.bank(bank)

    def stats(self, bank: str) -> BankStats:
        """Counts of what the bank holds."""
        return self._store.stats(check_bank_id(bank))

    # Facts, documents, entities

    def facts(
        self,
        bank: str,
        *,
        text: str = "",
        types: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        tags_match: str = "any",
        document_id: str | None = None,
        entity_id: str | None = None,
        include_closed: bool = False,
        by_date: Window | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> FactPage:
        """A page of facts, newest recorded first; with `by_date` those that happened then, latest first.

        What has no date counts as of when it was said; `Window()` takes all that can be dated.
        """
        for field, value in (("offset", offset), ("limit", limit)):
            if not isinstance(value, int) or value < 0:
                raise InvalidInput(field, "a number from 0 on", value)
        wanted = Filter(
            now=self._wired.clock(),
            types=read_types(types),
            tags=read_tags(tags, tags_match, None),
            document_ids=frozenset({document_id}) if document_id is not None else None,
            any_time=include_closed,
            include_expired=include_closed,
        )
        chosen = Selection(
            wanted=wanted, text=text, entity_id=entity_id, by_date=by_date, offset=offset, limit=limit
        )
        return self._store.browse(check_bank_id(bank), chosen)

    def fact(self, bank: str, fact_id: str) -> Fact:
        """One fact, closed or not."""
        found = self._store.facts(check_bank_id(bank), [fact_id])
        if not found:
            raise NotFound("fact", fact_id)
        return found[0]

    def update_fact(self, bank: str, fact_id: str, **changes: Any) -> Fact:
        """Change a fact's fields; a changed text closes the fact and states it anew."""
        return update_fact(self._wired.retain, self.fact(bank, fact_id), changes)

    def history(self, bank: str, subject: str, relation: str | None = None) -> list[Fact]:
        """Every value that a subject's relation ever had, oldest first."""
        wanted = Filter(now=self._wired.clock(), any_time=True, include_expired=True)
        chosen = Selection(wanted=wanted, subject=subject, relation=relation, oldest_first=True, limit=10_000)
        return list(self._store.browse(check_bank_id(bank), chosen).facts)

    def links(self, bank: str, fact_ids: Sequence[str]) -> list[Link]:
        """The links that start or end at one of the facts."""
        return self._store.links(check_bank_id(bank), fact_ids)

    def documents(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        """The bank's documents, newest first."""
        return self._store.documents(check_bank_id(bank), ids)

    def chunks(
        self, bank: str, *, document_id: str | None = None, ids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """Chunks of a document, or by id."""
        return self._store.chunks(check_bank_id(bank), ids=ids, document_id=document_id)

    def entities(
        self, bank: str, ids: Sequence[str] | None = None, *, name: str | None = None
    ) -> list[Entity]:
        """The bank's entities, most mentioned first: all, those of `ids`, or those of a name or alias in any case."""
        if name is not None:
            if ids is not None:
                raise InvalidInput("entities", "ids or a name, not both")
            return entities_named(self._store, check_bank_id(bank), name)
        return [keyed.entity for keyed in self._store.entities(check_bank_id(bank), ids=ids)]

    def merge_entities(self, bank: str, keep: str, absorb: str) -> Entity:
        """Make two entities one; the absorbed one's names become aliases."""
        return merge_entities(self._wired.retain, check_bank_id(bank), keep, absorb)

    def split_entity(self, bank: str, entity_id: str, name: str, fact_ids: Sequence[str]) -> Entity:
        """Move the facts' mentions of an entity to a new one of that name."""
        return split_entity(self._wired.retain, check_bank_id(bank), entity_id, name, fact_ids)

    # Erasure, transfer, maintenance

    def forget(
        self,
        bank: str,
        *,
        fact_id: str | None = None,
        document_id: str | None = None,
        entity_id: str | None = None,
        everything: bool = False,
    ) -> int:
        """Erase one of these for good, or with `everything` the whole bank; returns how many facts went."""
        given = [
            value for value in (fact_id, document_id, entity_id, everything or None) if value is not None
        ]
        if len(given) != 1:
            raise InvalidInput("forget", "exactly one of fact_id, document_id, entity_id, everything")
        target = Target(fact_id=fact_id, document_id=document_id, entity_id=entity_id, bank=everything)
        self._operations.drop_texts(check_bank_id(bank))
        return self._store.forget(bank, target)

    def export_bank(self, bank: str) -> Iterator[str]:
        """The bank as JSON lines."""
        self.bank(bank)
        return export_bank(self._store, bank, self._wired.clock())

    def import_bank(self, bank: str, lines: Iterable[str]) -> int:
        """An exported bank under a new id; returns how many facts came."""
        return import_bank(self._store, bank, lines)

    def reembed(self, bank: str) -> int:
        """Change the bank's vectors over to the configured embedder, online; returns how many facts."""
        return run_reembed(self._wired.retain, check_bank_id(bank))
