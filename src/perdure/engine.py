"""Perdure: the one object that users hold. It checks its arguments and delegates."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from perdure.arguments import RecallArguments, SettingArguments
from perdure.compose import Components, OwnComponents, compose, present, verify_file
from perdure.contrib.imports.registry import AUTO, open_source
from perdure.domain.audit import AuditEntry, Transport
from perdure.domain.bank import Bank, Disposition, check_bank_id
from perdure.domain.damage import Verification
from perdure.domain.directive import Directive
from perdure.domain.document_event import DocumentEvent
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Conditions, Filter, TagsMatch, read_tags
from perdure.domain.imported import ImportProgress, ImportReport
from perdure.domain.item import RetainResult, UpdateMode, check_tags
from perdure.domain.knowledge import PAGE_TOKENS, KnowledgeFile, KnowledgeMatch, KnowledgeNode
from perdure.domain.llm_call import LLM_CALL, LlmCall, LlmCost
from perdure.domain.mental_model import (
    DEFAULT_TOKENS,
    MentalModel,
    MentalModelMatch,
    MentalModelVersion,
    RefreshMode,
    RefreshPreview,
    RefreshTrigger,
)
from perdure.domain.note import Note, check_note_name
from perdure.domain.observation import Observation, Scope, read_scope_rule
from perdure.domain.operation import Operation
from perdure.domain.opinion import Opinion, read_rates
from perdure.domain.question import Question
from perdure.domain.recall import RecallResult
from perdure.domain.record import Record
from perdure.domain.time import AsOf, Window, read_as_of
from perdure.domain.webhook import (
    CONSOLIDATION_COMPLETED,
    RETAIN_COMPLETED,
    WEBHOOK,
    Webhook,
    WebhookDelivery,
    check_url,
)
from perdure.errors import InvalidInput, ModelError, NotFound, StoreError
from perdure.forget.pipeline import forget
from perdure.forget.preview import ForgetPreview, preview_forget
from perdure.forget.target import LAST_ERASURE, Forgotten, Target
from perdure.jobs.clear_traces import CLEAR_TRACES, PERCENT, clear_traces_job
from perdure.jobs.consolidate_job import CONSOLIDATION, ConsolidateJob
from perdure.jobs.debounce import Debouncer
from perdure.jobs.kind import JobKind, SingleStepJob, Step
from perdure.jobs.outbox import Outbox, scrub_deliveries
from perdure.jobs.records import scrub
from perdure.jobs.refresh_job import refresh_job, submit_refresh
from perdure.jobs.retain_job import RetainJob
from perdure.jobs.runner import JobRunner
from perdure.jobs.search_tables import SEARCH_TABLES, search_tables_job
from perdure.jobs.send import AddressRefused, HttpSender
from perdure.manage.audit import list_entries, log_consolidation, record_entry
from perdure.manage.backup import Backup, write_backup
from perdure.manage.clone import clone_bank
from perdure.manage.curation import (
    invalidate_fact,
    merge_entities,
    restore_fact,
    retag_document,
    set_fact_entities,
    split_entity,
    update_fact,
)
from perdure.manage.document_history import document_history
from perdure.manage.exporting import ExportReport, export_lines, export_to
from perdure.manage.exports.bank import BankContent
from perdure.manage.importing import ImportOptions, import_documents, read_user
from perdure.manage.reembed import embed_facts, reembed
from perdure.manage.reprocess import document_items, reprocess_document
from perdure.manage.transfer import export_bank, import_bank
from perdure.manage.webhooks import (
    delete_webhook,
    deliveries_of,
    find_webhook,
    list_webhooks,
    new_webhook,
    update_webhook,
)
from perdure.options import (
    DirectiveFields,
    FactFields,
    ItemFields,
    KnowledgeNodeFields,
    MentalModelFields,
    WebhookFields,
    WebhookOptions,
)
from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import Extractor
from perdure.ports.import_source import ImportSource
from perdure.ports.llm import Llm
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.store import (
    BankStats,
    FactPage,
    IndexUsage,
    Order,
    Proof,
    Selection,
    Store,
    Traces,
    Transaction,
    raise_damaged,
)
from perdure.ports.telemetry import MemoryOperation, Observed, Telemetry
from perdure.ports.tokens import Tokens
from perdure.recall.freshness import stale_observations
from perdure.recall.options import PromptOptions, RecallOptions, RecallRequest
from perdure.recall.pipeline import recall
from perdure.recall.question import entities_named
from perdure.recall.recipe import Recipe, trim_recipe
from perdure.recall.recipes import find_recipe
from perdure.reflect.components import ReflectComponents
from perdure.reflect.consolidate import ConsolidationStatus, consolidation_status, pending_fact_ids, recover
from perdure.reflect.directive_rules import DirectiveText
from perdure.reflect.directives import (
    create_directive,
    delete_directive,
    directive_history,
    directives_within,
    find_directive,
    list_directives,
    update_directive,
)
from perdure.reflect.erasure import scrub_records, scrub_thoughts
from perdure.reflect.knowledge import (
    create_folder,
    create_page,
    delete_node,
    delete_pages_of,
    export_pages,
    find_page,
    page_markdown,
    page_model_ids,
    search_pages,
    tree,
    update_node,
)
from perdure.reflect.mental_models.due import due_by_schedule, refresh_due_models
from perdure.reflect.mental_models.manage import (
    clear_model,
    delete_model,
    insert_model,
    list_models,
    new_model,
    update_model,
)
from perdure.reflect.mental_models.record import MENTAL_MODEL, every_model, find_model, read_history
from perdure.reflect.mental_models.refresh import preview_refresh
from perdure.reflect.mental_models.scope import is_stale
from perdure.reflect.mental_models.search import match_mental_models
from perdure.reflect.mental_models.tier import model_texts
from perdure.reflect.notes.write import NOTE_PENDING, drop_notes, find_note, list_notes, repair_notes
from perdure.reflect.observations.read import (
    delete_observations,
    find_observation,
    list_observations,
    observation_scopes,
    observation_versions,
)
from perdure.reflect.opinions.erasure import opinions_resting_on
from perdure.reflect.opinions.forming import OpinionReport, assess_facts
from perdure.reflect.opinions.listing import list_opinions, one_opinion
from perdure.reflect.pipeline import ReflectRequest, reflect_in_tiers
from perdure.reflect.questions import answer_question, list_questions
from perdure.reflect.reflection import MentalModelText, Reflection
from perdure.retain.commit import CommitReceipt
from perdure.retain.pipeline import retain
from perdure.retain.preview import preview_facts
from perdure.retain.request import Content, read_request
from perdure.settings import Settings, read_settings

if TYPE_CHECKING:
    from perdure.jobs.refine_job import RefineJob
    from perdure.llm.caller import LlmOperation
    from perdure.llm.health import LlmHealth

log = logging.getLogger(__name__)

PAGE = 1_000
"""Facts per page of `iter_facts`."""
AUTO_CONSOLIDATION = 30.0
"""Seconds after the last retain when a bank's own setting asks for consolidation and the memory's gives no time."""


class Perdure:
    """Long-term memory in one object; safe to share between threads."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._store = components.store
        self._sender = HttpSender(allow_private=components.settings.webhook_allow_private)
        self._outbox = Outbox(components.store, components.clock, self._sender)
        self._retain_job = RetainJob(
            lambda request, within: self._retained(retain(components.retain, request, within=within)),
            announce=self._announce_retain,
        )
        self._clear_traces_job = clear_traces_job(components.store)
        self._search_tables_job = search_tables_job(components.store)
        self._refresh_job = refresh_job(components.reflect)
        self._consolidate_job = ConsolidateJob(
            components.reflect,
            model_stages=(self._refresh_touched_models,),
            announce=self._announce_consolidation,
        )
        self._reprocess_job = SingleStepJob("reprocess", self._reprocess)
        self._refine_job = self._make_refine_job()
        kinds: list[JobKind] = [
            self._retain_job,
            self._clear_traces_job,
            self._search_tables_job,
            self._refresh_job,
            self._consolidate_job,
            self._reprocess_job,
        ]
        kinds += [self._refine_job] if self._refine_job is not None else []
        self._jobs = JobRunner(components.store, components.clock, kinds)
        self._auto_consolidation = Debouncer(AUTO_CONSOLIDATION, self.consolidate)
        self._auto_refinement = Debouncer(0.0, self.refine)
        self._audit_count = count(1)
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
        llm: Llm | str | None = None,
        telemetry: Telemetry | bool | None = None,
        **options: Unpack[SettingArguments],
    ) -> Self:
        """Open a database file (created if missing); one that cannot be written is opened for reading.

        A component is an object that satisfies its port, or the name that the setting of the same name takes.
        """
        overrides: dict[str, object] = dict(options)
        if database is not None:
            overrides["database"] = str(database)
        named = {
            "embedder": embedder,
            "reranker": reranker,
            "extractor": extractor,
            "tokens": tokens,
            "llm": llm,
        }
        overrides.update({name: component for name, component in named.items() if isinstance(component, str)})
        if isinstance(telemetry, bool):
            overrides["telemetry"] = telemetry
        own = OwnComponents(
            store=store,
            embedder=None if isinstance(embedder, str) else embedder,
            reranker=None if isinstance(reranker, str) else reranker,
            extractor=None if isinstance(extractor, str) else extractor,
            tokens=None if isinstance(tokens, str) else tokens,
            notes=notes,
            llm=None if isinstance(llm, str) else llm,
            telemetry=None if isinstance(telemetry, bool) else telemetry,
        )
        engine = cls(compose(read_settings(settings, overrides), clock, own))
        if engine._store.read_only:
            return engine
        engine._jobs.resume()
        engine._outbox.resume()
        if engine._store.traces() is Traces.PENDING:
            engine._clear_traces_later()
        for bank in engine._store.banks_with_records(NOTE_PENDING):
            repair_notes(engine._components.reflect, bank)
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
        self._auto_consolidation.close()
        self._auto_refinement.close()
        self._jobs.close()
        self._outbox.close()
        self._components.tracker.close()
        self._components.executor.shutdown(wait=False, cancel_futures=True)
        if self._components.reflect.llm is not None:
            self._components.reflect.llm.close()
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
    def token_encoding(self) -> str:
        """Name of the encoding by which tokens are counted."""
        return self._components.recall.tokens.name

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
        request = read_request(bank, content, update_mode, fields)
        return self._retained(retain(self._components.retain, request, announce=self._announce_retain))

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

    def refine(self, bank: str) -> Operation:
        """Have a language model word anew, in the background, what rules drew from text that none has worded yet.

        A run that is under way is returned. InvalidInput where no model is set.
        """
        check_bank_id(bank)
        if self._refine_job is None:
            raise InvalidInput("llm", "a language model, which refine asks", self.settings.llm)
        for operation in self._jobs.list(bank):
            if operation.kind == self._refine_job.name and not operation.finished:
                return operation
        return self._jobs.submit(bank, self._refine_job.plan(bank))

    def preview_facts(self, bank: str, content: Content, **fields: Unpack[ItemFields]) -> list[Fact]:
        """The facts that retain would draw from the content, without storing anything; what they mention is as worded."""
        return preview_facts(self._components.retain, read_request(bank, content, UpdateMode.REPLACE, fields))

    # Recall and reflect

    def recall(self, bank: str, query: str, **options: Unpack[RecallArguments]) -> RecallResult:
        """Return what memory holds on a question, best first, within `max_tokens` of fact text."""
        request = self._recall_request(bank, query, RecallOptions.read(options))
        with self._while_open():
            return recall(self._components.recall, request)

    def prompt(self, bank: str, query: str, **options: Unpack[RecallArguments]) -> str:
        """Return a recall as a fenced text with citations, ready for a prompt, all of it within `max_tokens`.

        It is empty where nothing probably helps: `precision` is `inject` by default.
        """
        request = self._recall_request(bank, query, PromptOptions.read(options))
        with self._while_open():
            return recall(self._components.recall, request).to_prompt()

    def reflect(
        self,
        bank: str,
        query: str,
        *,
        directives: Sequence[str | DirectiveText] = (),
        apply_all_directives: bool = False,
        disposition: Disposition | None = None,
        response_schema: Mapping[str, object] | None = None,
        mental_models: bool = True,
        exclude_mental_model_ids: Sequence[str] = (),
        cancelled: Callable[[], bool] | None = None,
        **options: Unpack[RecallArguments],
    ) -> Reflection:
        """An answer whose every sentence names the facts it rests on, or that memory holds none.

        It follows the bank's active directives: those without tags and those that the question's tags match, or all; and
        those that are given. `disposition` stands in for the bank's own; `response_schema` is the JSON Schema of an object
        to fill. Without `mental_models`, or for those that are excluded, facts answer. Where a language model is set it
        answers; `cancelled` is asked between its calls, and Cancelled raised when it says so.
        """
        recall_request = self._recall_request(bank, query, RecallOptions.read(options))
        scope = recall_request.where.tags
        with self._store.reading(check_bank_id(bank)) as reading:
            stored = directives_within(reading, scope, apply_all_directives)
        request = ReflectRequest(
            recall=recall_request,
            directives=[*stored, *directives],
            disposition=disposition,
            response_schema=response_schema,
            cancelled=cancelled,
        )
        components = self._components.reflect

        def search_models(bank: str, query: str) -> list[MentalModelText]:
            return model_texts(components, bank, query, scope, exclude_mental_model_ids)

        with self._while_open(), self._observed(MemoryOperation.REFLECT, bank, query=query) as observed:
            reflection = reflect_in_tiers(components, request, search_models if mental_models else None)
            if observed is not None:
                observed.records(len(reflection.based_on))
            return reflection

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
        if settings is not None:
            read_rates(settings)
        with self._store.transaction(check_bank_id(bank)) as tx, ExitStack() as telling:
            stored = tx.bank()
            if stored is None:
                telling.enter_context(self._observed(MemoryOperation.CREATE_BANK, bank))
            current = stored or Bank(id=bank, name=bank)
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
            where=Conditions.read({"where": where, "types": types, "tags": tags}).where.at(self.clock()),
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
            offset += PAGE
            if offset >= page.total:
                return

    def fact(self, bank: str, fact_id: str) -> Fact:
        """One fact, closed or not; DamagedRow when it is not what was written."""
        with self._store.reading(check_bank_id(bank)) as reading:
            stored = reading.facts([fact_id])
            raise_damaged(reading)
        if not stored:
            raise NotFound("fact", fact_id)
        return stored[0]

    def facts_by_id(self, bank: str, fact_ids: Sequence[str]) -> list[Fact]:
        """The facts of these ids in that order, closed or not; unknown and damaged ones are left out."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.facts(fact_ids)

    def history(self, bank: str, subject: str, relation: str | None = None) -> list[Fact]:
        """Every value that a subject's relation ever had, oldest first."""
        values: list[Fact] = []
        offset = 0
        everything = Filter(include_closed=True, include_expired=True)
        while True:
            page = self.facts(
                bank, where=everything, subject=subject, relation=relation,
                order=Order.OLDEST_RECORDED, offset=offset, limit=PAGE,
            )  # fmt: skip
            values += page.facts
            offset += PAGE
            if offset >= page.total:
                return values

    def links(self, bank: str, fact_ids: Sequence[str]) -> list[Link]:
        """The links that start or end at one of the facts."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.links(fact_ids)

    def proofs(self, bank: str, fact_ids: Sequence[str]) -> list[Proof]:
        """What stated the facts again after their first source, oldest first per fact."""
        with self._store.reading(check_bank_id(bank)) as reading:
            proofs = reading.proofs(fact_ids)
        return [proof for fact_id in fact_ids for proof in proofs.get(fact_id, ())]

    def update_fact(self, bank: str, fact_id: str, **changes: Unpack[FactFields]) -> Fact:
        """Change a fact's fields; a changed text closes the fact and states it anew."""
        with self._observed(MemoryOperation.UPDATE, bank, record_id=fact_id):
            return update_fact(self._components.retain, check_bank_id(bank), fact_id, changes)

    def invalidate_fact(self, bank: str, fact_id: str, reason: str | None = None) -> Fact:
        """Declare a fact wrong: it is closed on the knowledge axis, with the reason."""
        with self._observed(MemoryOperation.UPDATE, bank, record_id=fact_id):
            return invalidate_fact(self._components.retain, check_bank_id(bank), fact_id, reason)

    def restore_fact(self, bank: str, fact_id: str) -> Fact:
        """Take back that a fact is wrong."""
        with self._observed(MemoryOperation.UPDATE, bank, record_id=fact_id):
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

    def document_history(self, bank: str, document_id: str) -> list[DocumentEvent]:
        """What happened to a document, newest first, as far as its facts tell; of what was erased nothing is left."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return document_history(reading, document_id)

    def reprocess_document(self, bank: str, document_id: str) -> Operation:
        """Read a stored document anew in the background: facts that are drawn again stay, the others are retired."""
        with self._store.reading(check_bank_id(bank)) as reading:
            document_items(reading, document_id)
        plan = self._reprocess_job.plan({"items": [{"document_id": document_id}]})
        return self._jobs.submit(bank, replace(plan, document_id=document_id), reuse=True)

    def retag_document(self, bank: str, document_id: str, tags: Sequence[str]) -> Document:
        """Give a document and the facts drawn from it other tags."""
        return retag_document(self._components.retain, check_bank_id(bank), document_id, tags)

    def entities(
        self,
        bank: str,
        ids: Sequence[str] | None = None,
        *,
        name: str | None = None,
        text: str = "",
        types: Sequence[str] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entity]:
        """The bank's entities, most mentioned first: all, those of `ids`, or those of a name or alias in any case.

        Of these, those that have `text` in a name or alias, and those of these types; from `offset` on, at most `limit`.
        """
        if ids is not None and name is not None:
            raise InvalidInput("entities", "ids or a name, not both")
        for field, value in (("offset", offset), ("limit", limit if limit is not None else 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidInput(field, "a number from 0 on", value)
        with self._store.reading(check_bank_id(bank)) as reading:
            if name is not None:
                entities = entities_named(reading, name)
            else:
                entities = [keyed.entity for keyed in reading.entities(ids=ids)]
        chosen = [
            entity
            for entity in entities
            if (types is None or entity.type in types)
            and (not text or any(text.casefold() in one.casefold() for one in (entity.name, *entity.aliases)))
        ]
        return chosen[offset:] if limit is None else chosen[offset : offset + limit]

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
        operation = MemoryOperation.FORGET_BANK if everything else MemoryOperation.FORGET
        with self._observed(operation, bank, record_id=fact_id or document_id or entity_id) as observed:
            forgotten = self._forget(bank, target)
            if observed is not None:
                observed.records(forgotten.facts)
            return forgotten

    def preview_forget(
        self,
        bank: str,
        *,
        fact_id: str | None = None,
        document_id: str | None = None,
        entity_id: str | None = None,
        everything: bool = False,
    ) -> ForgetPreview:
        """What `forget` with the same arguments would erase; nothing is. The bank is locked for writing meanwhile."""
        now = self.clock()
        return preview_forget(
            self._store,
            check_bank_id(bank),
            Target(fact_id=fact_id, document_id=document_id, entity_id=entity_id, everything=everything),
            also=_scrub_background,
            thoughts=scrub_thoughts,
            records=scrub_records,
            opinions=opinions_resting_on,
            stale=lambda rows, facts: stale_observations(rows, facts, Filter().at(now)),
        )

    def _forget(self, bank: str, target: Target) -> Forgotten:
        everything = target.everything
        if everything:
            drop_notes(self._components.reflect, check_bank_id(bank))
        forgotten = forget(
            self._store,
            check_bank_id(bank),
            target,
            also=_scrub_background,
            thoughts=scrub_thoughts,
            records=scrub_records,
        )
        if everything:
            from perdure.llm.ledger import erase_bank_costs

            erase_bank_costs(self._store, bank)
        repair_notes(self._components.reflect, bank)
        self._embed_again(bank, forgotten.unembedded)
        if forgotten.traces is Traces.PENDING:
            self._clear_traces_later()
        self._build_search_tables_if_due(bank)
        return forgotten

    def erased_at(self, bank: str) -> datetime | None:
        """When something was last erased from the bank; files made from it before should go."""
        records = self.records(LAST_ERASURE, bank=bank)
        return records[0].updated_at if records else None

    def erasure_pending(self) -> bool:
        """Whether traces of erased content are still to be cleared from the files."""
        return self._store.traces() is Traces.PENDING

    def index_evictions(self) -> int:
        """How many banks' indexes left memory to make room for others since this memory was opened."""
        return self._store.evictions()

    def index_usage(self) -> IndexUsage:
        """The search indexes in memory: how many banks, how large, and how often they were there when asked for."""
        return self._store.index_usage()

    def export_bank(self, bank: str) -> Iterator[str]:
        """The bank as JSON lines."""
        self.bank(bank)
        return export_bank(self._store, bank, self.clock())

    def export_lines(self, bank: str, format: str = "jsonl") -> Iterator[str]:  # noqa: A002
        """The bank as lines of text for other programs: `jsonl` (a fact a line), `dot`, `graphml`, or `perdure`."""
        self.bank(bank)
        return export_lines(BankContent(self._store, bank, self.clock()), format)

    def export_to(
        self,
        bank: str,
        path: str | Path,
        *,
        format: str = "jsonl",  # noqa: A002
        force: bool = False,
    ) -> ExportReport:
        """Write the bank to a file or folder, whole or not at all; `force` replaces what is there.

        Formats are those of `export_lines`, `markdown` (a vault with a page per entity) and `hindsight` (its transfer archive).
        """
        self.bank(bank)
        content = BankContent(self._store, bank, self.clock())
        return export_to(content, Path(path).expanduser(), format, force=force)

    def import_bank(self, bank: str, lines: Iterable[str]) -> int:
        """An exported bank under a new id; returns how many facts came."""
        with self._observed(MemoryOperation.RETAIN, bank) as observed:
            facts = import_bank(self._store, bank, lines)
            if observed is not None:
                observed.records(facts)
        self._build_search_tables_if_due(bank)
        return facts

    def import_from(
        self,
        bank: str,
        path: str | Path | ImportSource,
        *,
        source: str = AUTO,
        user: str | None = None,
        tags: Sequence[str] = (),
        split: bool = False,
        dry_run: bool = False,
        key: str = "",
        progress: Callable[[ImportProgress], None] | None = None,
    ) -> ImportReport:
        """Import what another program keeps: chats, notes, transcripts, mails, another memory's facts.

        `source` names the kind, else it is found out. `user` is who "user" is in chats; `split` makes a bank per user, project
        or group of the source; `key` opens a server. Again, it changes nothing but what has changed in the source.
        """
        check_tags(tags)
        options = ImportOptions(user=read_user(user), tags=frozenset(tags), split=split, dry_run=dry_run)
        opened = open_source(path, source, key=key) if isinstance(path, str | Path) else path
        try:
            return import_documents(
                self._components.retain,
                self._components.local or self._components.retain.extractor,
                bank,
                opened,
                options,
                progress=progress,
                retained=self._retained,
            )
        finally:
            opened.close()

    def clone_bank(
        self,
        bank: str,
        target: str,
        *,
        include_data: bool = True,
        include_config: bool = True,
        include_history: bool = False,
    ) -> int:
        """Copy a bank under an id that no bank has; returns how many facts came.

        The configuration has directives and webhooks in it, the history the audit log and the calls of language models.
        """
        return clone_bank(
            self._store, check_bank_id(bank), check_bank_id(target), self.clock(),
            include_data=include_data, include_config=include_config, include_history=include_history,
        )  # fmt: skip

    def reembed(self, bank: str) -> int:
        """Change the bank's vectors over to the configured embedder, online; returns how many facts."""
        return reembed(self._components.retain, check_bank_id(bank))

    def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Check everything stored against its checksums and counterparts; `quick` looks at the structure of the files only.

        `repair` mends what can be mended without losing anything, `drop` deletes damaged rows that nothing can mend.
        """
        return self._store.verify(quick=quick, repair=repair, drop=drop)

    def backup(self, file: str | Path, *, keep: int | None = None) -> Backup:
        """Write a checked copy of everything while the memory is in use.

        With `keep` the file's name gets the moment, and only so many of its kind are kept.
        """
        return write_backup(self._store, Path(file), keep, self.clock(), verify_file)

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

    # Language models

    def costs(self, bank: str | None = None, since: date | None = None) -> list[LlmCost]:
        """What calls of language models came to, per day, bank, operation and model, oldest day first; of one bank, from a day on (UTC)."""
        if isinstance(since, datetime):
            since = since.astimezone(UTC).date()
        from perdure.llm.ledger import read_costs

        return read_costs(self._store, None if bank is None else check_bank_id(bank), since)

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

    # Webhooks

    def create_webhook(self, bank: str, url: str, **fields: Unpack[WebhookOptions]) -> Webhook:
        """Tell an address of events of the bank, signed with `secret`; a private address is refused unless a setting allows it."""
        webhook = new_webhook(check_bank_id(bank), url, fields, self.clock())
        self._check_address(webhook.url)
        with self._store.transaction(bank) as tx:
            tx.put_records([webhook.to_record()])
        return webhook

    def webhooks(self, bank: str) -> list[Webhook]:
        """The bank's webhooks, oldest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return list_webhooks(reading)

    def update_webhook(self, bank: str, webhook_id: str, **changes: Unpack[WebhookFields]) -> Webhook:
        """Change fields of a webhook; `secret=None` sends without a signature from then on."""
        if "url" in changes:
            self._check_address(check_url(changes["url"]))
        return update_webhook(self._store, check_bank_id(bank), webhook_id, changes, self.clock())

    def delete_webhook(self, bank: str, webhook_id: str) -> None:
        """Delete a webhook with its deliveries; what was not sent yet is not sent."""
        delete_webhook(self._store, check_bank_id(bank), webhook_id)

    def webhook_deliveries(self, bank: str, webhook_id: str) -> list[WebhookDelivery]:
        """What a webhook was told, or is still to be told, newest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            find_webhook(reading, webhook_id)
            return deliveries_of(reading, webhook_id)

    def _check_address(self, url: str) -> None:
        try:
            self._sender.check(url)
        except AddressRefused as error:
            raise InvalidInput("url", "an address that is public (setting webhook_allow_private)") from error

    def _announce_retain(
        self, tx: Transaction, receipt: CommitReceipt, operation_id: str | None = None
    ) -> None:
        """Write what webhooks are told of a retain, a delivery per document, in its transaction."""
        if not tx.records(WEBHOOK):
            return
        facts = Counter(fact.document_id for fact in tx.facts(receipt.inserted))
        for document in tx.documents(receipt.document_ids):
            data = {
                "document_id": document.id, "tags": sorted(document.tags),
                "memory_unit_count": facts[document.id],
            }  # fmt: skip
            self._outbox.announce(tx, document.bank, RETAIN_COMPLETED, data, operation_id=operation_id)

    def _announce_consolidation(self, tx: Transaction, operation: Operation) -> None:
        """Write what webhooks are told of a run, in the transaction that ends it."""
        counts = {
            f"observations_{told}": (operation.result or {}).get(f"observations_{name}", 0)
            for told, name in (("created", "created"), ("updated", "updated"), ("deleted", "closed"))
        }
        log_consolidation(tx, operation, counts)
        self._outbox.announce(tx, operation.bank, CONSOLIDATION_COMPLETED, counts, operation_id=operation.id)

    # Logs

    def record_audit(self, entry: AuditEntry) -> bool:
        """Keep an entry in the bank's audit log, if the bank's setting `audit_log_enabled` is on; says whether it is."""
        return record_entry(self._store, entry, next(self._audit_count))

    def audit_log(
        self,
        bank: str,
        *,
        action: str | None = None,
        transport: Transport | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[AuditEntry]:
        """What was done with the bank over the servers, newest first; `since` is included, `until` is not."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return list_entries(reading, action=action, transport=transport, since=since, until=until)

    def llm_calls(self, bank: str) -> list[LlmCall]:
        """The bank's calls of language models, newest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return [LlmCall.from_record(record) for record in reversed(reading.records(LLM_CALL))]

    def llm_models(self, operation: LlmOperation) -> list[str]:
        """Names of the language models that an operation asks, the first one first; none where none is set."""
        caller = self._components.reflect.llm
        return [] if caller is None else caller.models(operation)

    def llm_health(self, bank: str) -> list[LlmHealth]:
        """Whether the language models of retain, consolidation and reflect answer; asks each for one word."""
        from perdure.llm.caller import LlmOperation
        from perdure.llm.health import LlmHealth, LlmStatus, check_health

        check_bank_id(bank)
        caller = self._components.reflect.llm
        operations = (LlmOperation.RETAIN, LlmOperation.CONSOLIDATE, LlmOperation.REFLECT)
        if caller is None:
            return [LlmHealth(operation=one, status=LlmStatus.NOT_CONFIGURED) for one in operations]
        return [check_health(caller, bank, one) for one in operations]

    # Directives

    def create_directive(
        self,
        bank: str,
        name: str,
        content: str,
        *,
        priority: int = 0,
        is_active: bool = True,
        tags: Sequence[str] = (),
    ) -> Directive:
        """A rule for every reflect in this bank; with tags for those that match them."""
        fields = {
            "name": name,
            "content": content,
            "priority": priority,
            "is_active": is_active,
            "tags": tags,
        }
        return create_directive(self._store, check_bank_id(bank), fields, self.clock())

    def directives(
        self,
        bank: str,
        *,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY,
        active_only: bool = True,
    ) -> list[Directive]:
        """The bank's rules, highest priority first, then newest; with tags those that match them or have none."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return list_directives(reading, tags, tags_match, active_only)

    def directive(self, bank: str, directive_id: str) -> Directive:
        """One rule."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return find_directive(reading, directive_id)

    def update_directive(self, bank: str, directive_id: str, **changes: Unpack[DirectiveFields]) -> Directive:
        """Change fields of a rule; its history keeps what it was."""
        return update_directive(self._store, check_bank_id(bank), directive_id, changes, self.clock())

    def directive_history(self, bank: str, directive_id: str) -> list[Directive]:
        """What a rule was before its changes, the newest first; `updated_at` says since when each version held."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return directive_history(reading, directive_id)

    def delete_directive(self, bank: str, directive_id: str) -> None:
        """Drop a rule and its history."""
        delete_directive(self._store, check_bank_id(bank), directive_id)

    # Mental models

    def create_mental_model(
        self,
        bank: str,
        name: str,
        source_query: str,
        *,
        model_id: str | None = None,
        tags: Sequence[str] = (),
        max_tokens: int = DEFAULT_TOKENS,
        trigger: RefreshTrigger | Mapping[str, object] | None = None,
    ) -> tuple[MentalModel, Operation]:
        """A document that answers a standing question from memory; the operation writes it for the first time."""
        fields = {
            "id": model_id, "name": name, "source_query": source_query, "tags": tags, "max_tokens": max_tokens,
            "trigger": trigger,
        }  # fmt: skip
        model = new_model(check_bank_id(bank), fields, self.clock())
        with self._store.transaction(bank) as tx:
            insert_model(tx, model)
        return model, self.refresh_mental_model(bank, model.id)

    def mental_models(
        self, bank: str, *, tags: Sequence[str] = (), tags_match: TagsMatch | str = TagsMatch.ANY
    ) -> list[MentalModel]:
        """The bank's models, newest refresh first: all, or those that carry the tags."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return list_models(reading, tags, tags_match)

    def mental_model(self, bank: str, model_id: str) -> MentalModel:
        """One model."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return find_model(reading, model_id)

    def stale_mental_models(self, bank: str, model_ids: Sequence[str] | None = None) -> frozenset[str]:
        """Ids of the models, or of those given, for which memory holds something new or no longer holds what they say."""
        with self._store.reading(check_bank_id(bank)) as reading:
            models = [one for one in every_model(reading) if model_ids is None or one.id in model_ids]
            return frozenset(model.id for model in models if is_stale(reading, model, self.clock()))

    def update_mental_model(
        self, bank: str, model_id: str, **changes: Unpack[MentalModelFields]
    ) -> MentalModel:
        """Change settings of a model; a trigger is replaced whole, and a new question waits for the next refresh."""
        return update_model(self._store, check_bank_id(bank), model_id, changes, self.clock())

    def delete_mental_model(self, bank: str, model_id: str) -> None:
        """Delete a model with its history and the page that shows it."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            delete_model(tx, model_id)
            delete_pages_of(tx, model_id)

    def clear_mental_model(self, bank: str, model_id: str) -> MentalModel:
        """Empty a model's document; its next refresh is a full one."""
        return clear_model(self._store, check_bank_id(bank), model_id, self.clock())

    def mental_model_history(self, bank: str, model_id: str) -> list[MentalModelVersion]:
        """What a model said before, newest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            find_model(reading, model_id)
            return read_history(reading, model_id)

    def refresh_mental_model(
        self, bank: str, model_id: str, *, mode: RefreshMode | str | None = None
    ) -> Operation:
        """Write a model anew in the background; a refresh that waits already is returned instead of a second one."""
        self.mental_model(bank, model_id)
        return submit_refresh(self._jobs, self._refresh_job, bank, model_id, mode=_read_mode(mode))

    def preview_mental_model(
        self, bank: str, model_id: str, *, mode: RefreshMode | str | None = None
    ) -> RefreshPreview:
        """The whole refresh of a model, without writing anything."""
        with self._while_open():
            return preview_refresh(self._components.reflect, check_bank_id(bank), model_id, _read_mode(mode))

    def search_mental_models(
        self, bank: str, query: str, *, tags: Sequence[str] = (), limit: int = 10
    ) -> list[MentalModelMatch]:
        """The models that bear on a question, best first: words and vectors, fused by reciprocal rank."""
        scope = read_tags(tags, TagsMatch.ANY_STRICT)
        return match_mental_models(
            self._components.reflect, check_bank_id(bank), query, limit=limit, tags=scope
        )

    def refresh_due_mental_models(self, bank: str | None = None) -> list[Operation]:
        """Queue a refresh of each stale model whose schedule has come round, in one bank or in all.

        `perdure serve` calls this twice a minute. In a library nothing runs by the clock: call it as often as you like.
        """
        banks = self._store.banks_with_records(MENTAL_MODEL) if bank is None else [check_bank_id(bank)]
        return [
            submit_refresh(
                self._jobs, self._refresh_job, due.model.bank, due.model.id, not_before=due.not_before
            )
            for one in banks
            for due in due_by_schedule(self._store, one, self.clock())
        ]

    # Knowledge base

    def knowledge_tree(
        self,
        bank: str,
        *,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY_STRICT,
        tag_groups: Sequence[Mapping[str, object]] | None = None,
    ) -> tuple[KnowledgeNode, ...]:
        """Folders and pages from the root down; with tags only pages that match them."""
        scope = read_tags(tags, tags_match, tag_groups)
        with self._store.reading(check_bank_id(bank)) as reading:
            return tree(reading, self.clock(), scope)

    def knowledge_page_models(self, bank: str) -> frozenset[str]:
        """Ids of the mental models that pages show."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return page_model_ids(reading)

    def create_knowledge_folder(self, bank: str, name: str, *, parent_id: str | None = None) -> KnowledgeNode:
        """A folder, at the root unless it has a parent."""
        return create_folder(self._store, check_bank_id(bank), name, parent_id, self.clock())

    def create_knowledge_page(
        self,
        bank: str,
        name: str,
        source_query: str,
        *,
        parent_id: str | None = None,
        tags: Sequence[str] = (),
        max_tokens: int = PAGE_TOKENS,
        trigger: Mapping[str, object] | None = None,
    ) -> tuple[KnowledgeNode, Operation]:
        """A page that answers a question; its trigger is the default one of pages, with the given fields."""
        fields = {
            "source_query": source_query, "tags": tags, "max_tokens": max_tokens, "trigger": trigger or {},
        }  # fmt: skip
        page = create_page(self._store, check_bank_id(bank), name, parent_id, fields, self.clock())
        assert page.model is not None
        return page, self.refresh_mental_model(bank, page.model.id)

    def knowledge_page(self, bank: str, page_id: str) -> KnowledgeNode:
        """One page with its model."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return find_page(reading, page_id)

    def knowledge_page_markdown(self, bank: str, page_id: str) -> str:
        """A page as Markdown with front matter."""
        return page_markdown(self.knowledge_page(bank, page_id))

    def update_knowledge_node(
        self, bank: str, node_id: str, **changes: Unpack[KnowledgeNodeFields]
    ) -> KnowledgeNode:
        """Rename or move a node, or change a page's options; a new question queues a refresh.

        `parent_id=None` moves to the root; fields of a trigger are merged into the page's own.
        """
        changed = update_node(self._store, check_bank_id(bank), node_id, changes, self.clock())
        if changed.asks_anew and changed.node.model is not None:
            self.refresh_mental_model(bank, changed.node.model.id)
        return changed.node

    def delete_knowledge_node(self, bank: str, node_id: str) -> None:
        """Delete a node with everything below it, and the models of its pages."""
        delete_node(self._store, check_bank_id(bank), node_id)

    def search_knowledge(
        self,
        bank: str,
        query: str,
        *,
        limit: int = 10,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY_STRICT,
        tag_groups: Sequence[Mapping[str, object]] | None = None,
    ) -> list[KnowledgeMatch]:
        """The pages that bear on a question, best first."""
        scope = read_tags(tags, tags_match, tag_groups)
        return search_pages(self._components.reflect, check_bank_id(bank), query, limit, scope)

    def export_knowledge(self, bank: str) -> list[KnowledgeFile]:
        """The knowledge base as Markdown files: an index, the pages, and what each said before."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return export_pages(reading, self.clock())

    # Opinions

    def opinions(
        self,
        bank: str,
        subject: str | None = None,
        min_confidence: float = 0.0,
        as_of: AsOf | datetime | None = None,
    ) -> list[Opinion]:
        """What the bank believes, surest first; of one subject (a name, or an entity's id), or as of a moment."""
        where = Filter(as_of=read_as_of(as_of)).at(self.clock())
        with self._store.reading(check_bank_id(bank)) as reading:
            return list_opinions(reading, where, subject=subject, min_confidence=min_confidence)

    def opinion(self, bank: str, opinion_id: str, as_of: AsOf | datetime | None = None) -> Opinion:
        """One opinion with its evidence and the curve of its confidence; NotFound when it is not held."""
        where = Filter(as_of=read_as_of(as_of)).at(self.clock())
        with self._store.reading(check_bank_id(bank)) as reading:
            return one_opinion(reading, where, opinion_id)

    def opinion_curve(
        self, bank: str, opinion_id: str, as_of: AsOf | datetime | None = None
    ) -> list[tuple[datetime, float]]:
        """(time, confidence) after each piece of an opinion's evidence, from the one on that makes it a belief."""
        return self.opinion(bank, opinion_id, as_of).curve()

    def form_opinions(self, bank: str) -> OpinionReport:
        """Assess every fact of the bank: form opinions, and add evidence to those there are. Doing it again adds nothing."""
        everything = Filter(include_closed=True, include_expired=True)
        facts = list(self.iter_facts(bank, where=everything))
        return assess_facts(self._components.reflect, check_bank_id(bank), facts, self.clock())

    # Consolidation, observations, notes and questions

    def consolidate(
        self, bank: str, *, observation_scopes: Sequence[Sequence[str]] | None = None
    ) -> Operation:
        """Form observations, questions and notes of what is new, in the background; a run that is under way is returned.

        With `observation_scopes` (lists of tags) only facts that carry all tags of one of them are looked at, new or not.
        """
        check_bank_id(bank)
        scopes = None if observation_scopes is None else _read_scopes(observation_scopes)
        if scopes is None:
            for operation in self._jobs.list(bank):
                if operation.kind == CONSOLIDATION and not operation.finished:
                    return operation
        return self._jobs.submit(bank, self._consolidate_job.plan(scopes))

    def consolidation(self, bank: str) -> ConsolidationStatus:
        """What the next consolidation will look at, what was set aside, and when the last one ended."""
        return consolidation_status(self._store, check_bank_id(bank), self.clock())

    def pending_fact_ids(self, bank: str) -> frozenset[str]:
        """Ids of the facts that the next consolidation will look at."""
        return pending_fact_ids(self._store, check_bank_id(bank), self.clock())

    def recover_consolidation(self, bank: str) -> int:
        """Have the facts that consolidation set aside looked at again by the next one; returns how many."""
        return recover(self._store, check_bank_id(bank))

    def observations(
        self, bank: str, *, name: str | None = None, tags: Sequence[str] | None = None, stale: bool = False
    ) -> list[Observation]:
        """The profiles in force, newest first: all, of the entity or topic of that name, of exactly these tags.

        With `stale` also those of which a source has changed since, which recall leaves out.
        """
        return list_observations(
            self._store, check_bank_id(bank), self.clock(), name=name, tags=tags, stale=stale
        )

    def observation(self, bank: str, observation_id: str) -> Observation:
        """One observation with its clauses and their sources, in force or not."""
        return find_observation(self._store, check_bank_id(bank), observation_id, self.clock())

    def observation_versions(self, bank: str, observation_id: str) -> list[Observation]:
        """Every version of the profile that an observation is one of, oldest first."""
        return observation_versions(self._store, check_bank_id(bank), observation_id, self.clock())

    def observation_scopes(self, bank: str) -> list[tuple[Scope, int]]:
        """The tags that observations carry together and how many carry them, most first."""
        return observation_scopes(self._store, check_bank_id(bank), self.clock())

    def delete_observations(self, bank: str, *, fact_id: str | None = None) -> int:
        """Delete all observations with their versions, or those that rest on a fact; the next consolidation makes them anew."""
        return delete_observations(self._store, check_bank_id(bank), fact_id)

    def notes(self, bank: str, period: str | None = None) -> list[str]:
        """Names of the notes that were made from the bank's memory: all, or the daily, weekly or quarterly ones."""
        return list_notes(self._components.reflect, check_bank_id(bank), period)

    def note(self, bank: str, name: str) -> Note:
        """A note (`daily/2026-11-16`), without lines whose facts are gone."""
        note = find_note(self._components.reflect, check_bank_id(bank), check_note_name(name))
        if note is None:
            raise NotFound("note", name)
        return note

    def questions(self, bank: str, *, answered: bool = False) -> list[Question]:
        """Conflicts that nothing decides, oldest first; with `answered` those that were answered too."""
        return list_questions(self._store, check_bank_id(bank), self.clock(), answered=answered)

    def answer(self, bank: str, question_id: str, answer: str) -> Question:
        """Decide a question: by the id of one of its facts or by a value, which takes the others back, or by `both`."""
        return answer_question(self._components.reflect, check_bank_id(bank), question_id, answer)

    def _refresh_touched_models(
        self, components: ReflectComponents, bank: str, tags: frozenset[str], now: datetime
    ) -> None:
        """After consolidation: refresh the mental models that ask for it; those that were refreshed lately wait for their time."""
        touched = [frozenset({tag} - {""}) for tag in sorted(tags)]
        for due in refresh_due_models(components, bank, touched, now).parked:
            submit_refresh(self._jobs, self._refresh_job, bank, due.model.id, not_before=due.not_before)

    def _retained(self, result: RetainResult) -> RetainResult:
        """Refine and consolidate the bank a while after the last retain, where settings ask for that."""
        if self.settings.extractor == "refine" and self.settings.refine_after is not None:
            self._auto_refinement.touch(result.bank, self.settings.refine_after)
        self._consolidate_soon(result.bank)
        self._build_search_tables_if_due(result.bank)
        return result

    def _build_search_tables_if_due(self, bank: str) -> None:
        if self._store.search_tables_due(bank):
            plan = self._search_tables_job.plan(total=PERCENT)
            self._jobs.submit(bank, plan, SEARCH_TABLES, again=True)

    def _consolidate_soon(self, bank: str) -> None:
        """Consolidate a while after the last change, where the bank's own setting or the memory's asks for that."""
        banks = self._store.banks([bank])
        own = banks[0].settings.get("enable_auto_consolidation") if banks else False
        after = self.settings.consolidate_after
        if own is True or (own is None and after is not None):
            self._auto_consolidation.touch(bank, after)

    def _make_refine_job(self) -> RefineJob | None:
        """The job that asks a language model; None, and nothing of it imported, where none is set."""
        local = self._components.local
        if local is None:
            return None
        from perdure.jobs.refine_job import RefineJob

        return RefineJob(self._components.retain, local, self._consolidate_soon)

    def _reprocess(self, step: Step) -> Mapping[str, object]:
        items: Sequence[Mapping[str, str]] = step.body["items"]  # type: ignore[assignment]
        facts = 0
        for item in items:
            done = reprocess_document(self._components.retain, step.bank, item["document_id"])
            facts += len(self._retained(done).fact_ids)
        return {"facts": facts}

    def _recall_request(self, bank: str, query: str, options: RecallOptions) -> RecallRequest:
        return RecallRequest.of(bank, query, options, self._recipe(options.recipe))

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

    def _observed(
        self, operation: MemoryOperation, bank: str, *, record_id: str | None = None, query: str | None = None
    ) -> AbstractContextManager[Observed | None]:
        """The enclosed block is told to telemetry, where there is one."""
        telemetry = self._components.telemetry
        if telemetry is None:
            return nullcontext()
        return telemetry.memory(operation, bank, record_id=record_id, query=query)

    @contextmanager
    def _while_open(self) -> Iterator[None]:
        """Work on threads that end when the engine is closed, perhaps meanwhile."""
        try:
            yield
        except RuntimeError as error:
            if self._closed:
                raise StoreError(f"{self.settings.shown_database}: the store is closed") from error
            raise


def _scrub_background(tx: Transaction, document_ids: frozenset[str]) -> bool:
    """Take erased documents out of background work and of what webhooks are still to be told."""
    return any([scrub(tx, document_ids), scrub_deliveries(tx, document_ids)])


def _read_mode(mode: RefreshMode | str | None) -> RefreshMode | None:
    if mode is not None and mode not in set(RefreshMode):
        raise InvalidInput("mode", "full or delta", mode)
    return None if mode is None else RefreshMode(mode)


def _read_scopes(scopes: Sequence[Sequence[str]]) -> tuple[Scope, ...]:
    rule = read_scope_rule(scopes)
    if isinstance(rule, str):
        raise InvalidInput("observation_scopes", "lists of tags", scopes)
    return rule
