"""AsyncPerdure: the methods of Perdure as coroutines on worker threads, written out; a test keeps the two in step."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from perdure.arguments import RecallArguments, SettingArguments
from perdure.compose import present
from perdure.contrib.imports.registry import AUTO
from perdure.domain.audit import AuditEntry, Transport
from perdure.domain.bank import Bank, Disposition
from perdure.domain.damage import Verification
from perdure.domain.directive import Directive
from perdure.domain.document_event import DocumentEvent
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Filter, TagsMatch
from perdure.domain.imported import ImportProgress, ImportReport
from perdure.domain.item import RetainResult, UpdateMode
from perdure.domain.knowledge import PAGE_TOKENS, KnowledgeFile, KnowledgeMatch, KnowledgeNode
from perdure.domain.llm_call import LlmCall, LlmCost
from perdure.domain.mental_model import (
    DEFAULT_TOKENS,
    MentalModel,
    MentalModelMatch,
    MentalModelVersion,
    RefreshMode,
    RefreshPreview,
    RefreshTrigger,
)
from perdure.domain.note import Note
from perdure.domain.observation import Observation, Scope
from perdure.domain.operation import Operation
from perdure.domain.opinion import Opinion
from perdure.domain.question import Question
from perdure.domain.recall import RecallResult
from perdure.domain.record import Record
from perdure.domain.time import AsOf, Window
from perdure.domain.webhook import Webhook, WebhookDelivery
from perdure.engine import PAGE, Perdure
from perdure.errors import StoreError
from perdure.forget.preview import ForgetPreview
from perdure.forget.target import Forgotten
from perdure.jobs.runner import JobRunner
from perdure.manage.backup import Backup
from perdure.manage.exporting import ExportReport
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
from perdure.ports.store import BankStats, FactPage, IndexUsage, Order, Proof, Store
from perdure.ports.telemetry import Telemetry
from perdure.ports.tokens import Tokens
from perdure.recall.recipe import Recipe
from perdure.reflect.consolidate import ConsolidationStatus
from perdure.reflect.directive_rules import DirectiveText
from perdure.reflect.opinions.forming import OpinionReport
from perdure.reflect.reflection import Reflection
from perdure.retain.request import Content
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.llm.caller import LlmOperation
    from perdure.llm.health import LlmHealth

T = TypeVar("T")

WORKERS = 16
LINES = 500
"""Lines of an export per hop between threads."""


class AsyncPerdure:
    """Long-term memory for asynchronous programs; the core is synchronous and runs on a bounded pool of threads."""

    def __init__(self, engine: Perdure) -> None:
        self.engine = engine
        self._closed = False
        self._workers = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="perdure-async")

    @classmethod
    async def open(
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
        """Open a database file (created if missing); see `Perdure.open`."""
        opening = partial(
            Perdure.open, database, settings=settings, clock=clock, store=store, embedder=embedder,
            reranker=reranker, extractor=extractor, tokens=tokens, notes=notes, llm=llm, telemetry=telemetry, **options,
        )  # fmt: skip
        return cls(await asyncio.to_thread(opening))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish the background step at hand, leave the rest to the next open, and release files and memory."""
        if not self._closed:
            await self._run(self.engine.close)
            self._closed = True
            self._workers.shutdown(wait=False)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.engine.settings

    @property
    def clock(self) -> Clock:
        """What tells this memory the present."""
        return self.engine.clock

    @property
    def token_encoding(self) -> str:
        """Name of the encoding by which tokens are counted."""
        return self.engine.token_encoding

    @property
    def jobs(self) -> JobRunner:
        """The runner of background work, for surfaces that add kinds of work of their own."""
        return self.engine.jobs

    async def iter_facts(self, bank: str, *, where: Filter | None = None) -> AsyncIterator[Fact]:
        """All facts that the filter admits, oldest recorded first, read page by page."""
        offset = 0
        while True:
            page = await self.facts(bank, where=where, order=Order.OLDEST_RECORDED, offset=offset, limit=PAGE)
            for fact in page.facts:
                yield fact
            offset += len(page.facts)
            if len(page.facts) < PAGE:
                return

    async def export_bank(self, bank: str) -> AsyncIterator[str]:
        """The bank as JSON lines."""
        lines = await self._run(partial(self.engine.export_bank, bank))
        while block := await self._run(lambda: list(islice(lines, LINES))):
            for line in block:
                yield line

    async def export_lines(self, bank: str, format: str = "jsonl") -> AsyncIterator[str]:  # noqa: A002
        """The bank as lines of text for other programs: `jsonl` (a fact a line), `dot`, `graphml`, or `perdure`."""
        lines = await self._run(partial(self.engine.export_lines, bank, format))
        while block := await self._run(lambda: list(islice(lines, LINES))):
            for line in block:
                yield line

    # Retain

    async def retain(
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
        return await self._run(partial(self.engine.retain, bank, content, update_mode=update_mode, **fields))

    async def retain_later(
        self,
        bank: str,
        content: Content,
        *,
        update_mode: UpdateMode | str = UpdateMode.REPLACE,
        operation_id: str | None = None,
        **fields: Unpack[ItemFields],
    ) -> Operation:
        """Accept for retaining in the background: durable when this returns, done when the operation says so."""
        return await self._run(
            partial(
                self.engine.retain_later,
                bank,
                content,
                update_mode=update_mode,
                operation_id=operation_id,
                **fields,
            )
        )

    # Recall and reflect

    async def recall(self, bank: str, query: str, **options: Unpack[RecallArguments]) -> RecallResult:
        """Return what memory holds on a question, best first, within `max_tokens` of fact text."""
        return await self._run(partial(self.engine.recall, bank, query, **options))

    async def prompt(self, bank: str, query: str, **options: Unpack[RecallArguments]) -> str:
        """A recall as a fenced text with citations, ready for a prompt, all of it within `max_tokens`; empty where nothing probably helps."""
        return await self._run(partial(self.engine.prompt, bank, query, **options))

    async def reflect(
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
        return await self._run(
            partial(
                self.engine.reflect, bank, query, directives=directives, apply_all_directives=apply_all_directives,
                disposition=disposition, response_schema=response_schema, mental_models=mental_models,
                exclude_mental_model_ids=exclude_mental_model_ids, cancelled=cancelled, **options,
            )
        )  # fmt: skip

    async def trimmed_recipe(
        self, name: str | Recipe | None = None, *, without: Sequence[str] = (), rerank: bool = True
    ) -> Recipe:
        """A recipe, the configured one unless named, without some of its channels or its cross-encoder."""
        return await self._run(partial(self.engine.trimmed_recipe, name, without=without, rerank=rerank))

    async def count_tokens(self, text: str) -> int:
        """How many tokens a text has, as recall counts them."""
        return await self._run(partial(self.engine.count_tokens, text))

    # Banks

    async def banks(self) -> list[Bank]:
        """All banks, by id."""
        return await self._run(partial(self.engine.banks))

    async def bank(self, bank: str) -> Bank:
        """One bank."""
        return await self._run(partial(self.engine.bank, bank))

    async def configure_bank(
        self,
        bank: str,
        *,
        name: str | None = None,
        mission: str | None = None,
        disposition: Disposition | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Bank:
        """Create a bank, or change the given fields of an existing one."""
        return await self._run(
            partial(
                self.engine.configure_bank,
                bank,
                name=name,
                mission=mission,
                disposition=disposition,
                settings=settings,
            )
        )

    async def stats(self, bank: str) -> BankStats:
        """Counts of what the bank holds."""
        return await self._run(partial(self.engine.stats, bank))

    # Facts

    async def facts(
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
        return await self._run(
            partial(
                self.engine.facts,
                bank,
                text=text,
                types=types,
                tags=tags,
                where=where,
                entity_id=entity_id,
                subject=subject,
                relation=relation,
                speaker=speaker,
                dated=dated,
                order=order,
                offset=offset,
                limit=limit,
            )
        )

    async def fact(self, bank: str, fact_id: str) -> Fact:
        """One fact, closed or not."""
        return await self._run(partial(self.engine.fact, bank, fact_id))

    async def facts_by_id(self, bank: str, fact_ids: Sequence[str]) -> list[Fact]:
        """The facts of these ids in that order, closed or not; unknown ids are left out."""
        return await self._run(partial(self.engine.facts_by_id, bank, fact_ids))

    async def history(self, bank: str, subject: str, relation: str | None = None) -> list[Fact]:
        """Every value that a subject's relation ever had, oldest first."""
        return await self._run(partial(self.engine.history, bank, subject, relation))

    async def links(self, bank: str, fact_ids: Sequence[str]) -> list[Link]:
        """The links that start or end at one of the facts."""
        return await self._run(partial(self.engine.links, bank, fact_ids))

    async def proofs(self, bank: str, fact_ids: Sequence[str]) -> list[Proof]:
        """What stated the facts again after their first source, oldest first per fact."""
        return await self._run(partial(self.engine.proofs, bank, fact_ids))

    async def update_fact(self, bank: str, fact_id: str, **changes: Unpack[FactFields]) -> Fact:
        """Change a fact's fields; a changed text closes the fact and states it anew."""
        return await self._run(partial(self.engine.update_fact, bank, fact_id, **changes))

    async def invalidate_fact(self, bank: str, fact_id: str, reason: str | None = None) -> Fact:
        """Declare a fact wrong: it is closed on the knowledge axis, with the reason."""
        return await self._run(partial(self.engine.invalidate_fact, bank, fact_id, reason))

    async def restore_fact(self, bank: str, fact_id: str) -> Fact:
        """Take back that a fact is wrong."""
        return await self._run(partial(self.engine.restore_fact, bank, fact_id))

    async def set_fact_entities(
        self, bank: str, fact_id: str, names: Sequence[str], *, resolve: bool = True
    ) -> Fact:
        """Replace what a fact mentions; without `resolve` a name means only the entity of exactly that name."""
        return await self._run(partial(self.engine.set_fact_entities, bank, fact_id, names, resolve=resolve))

    # Documents and entities

    async def documents(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        """The bank's documents, newest first, or those of `ids`."""
        return await self._run(partial(self.engine.documents, bank, ids))

    async def chunks(
        self, bank: str, *, document_id: str | None = None, ids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """Chunks of a document, or by id."""
        return await self._run(partial(self.engine.chunks, bank, document_id=document_id, ids=ids))

    async def retag_document(self, bank: str, document_id: str, tags: Sequence[str]) -> Document:
        """Give a document and the facts drawn from it other tags."""
        return await self._run(partial(self.engine.retag_document, bank, document_id, tags))

    async def entities(
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
        return await self._run(
            partial(
                self.engine.entities, bank, ids, name=name, text=text, types=types, offset=offset, limit=limit
            )
        )

    async def merge_entities(self, bank: str, keep: str, absorb: str) -> Entity:
        """Make two entities one; the absorbed one's names become aliases."""
        return await self._run(partial(self.engine.merge_entities, bank, keep, absorb))

    async def split_entity(self, bank: str, entity_id: str, name: str, fact_ids: Sequence[str]) -> Entity:
        """Move the facts' mentions of an entity to a new one of that name."""
        return await self._run(partial(self.engine.split_entity, bank, entity_id, name, fact_ids))

    # Erasure, transfer, maintenance

    async def forget(
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
        return await self._run(
            partial(
                self.engine.forget,
                bank,
                fact_id=fact_id,
                document_id=document_id,
                entity_id=entity_id,
                everything=everything,
            )
        )

    async def preview_forget(
        self,
        bank: str,
        *,
        fact_id: str | None = None,
        document_id: str | None = None,
        entity_id: str | None = None,
        everything: bool = False,
    ) -> ForgetPreview:
        """What `forget` with the same arguments would erase; nothing is. The bank is locked for writing meanwhile."""
        return await self._run(
            partial(
                self.engine.preview_forget,
                bank,
                fact_id=fact_id,
                document_id=document_id,
                entity_id=entity_id,
                everything=everything,
            )
        )

    async def erased_at(self, bank: str) -> datetime | None:
        """When something was last erased from the bank; files made from it before should go."""
        return await self._run(partial(self.engine.erased_at, bank))

    async def erasure_pending(self) -> bool:
        """Whether traces of erased content are still to be cleared from the files."""
        return await self._run(self.engine.erasure_pending)

    async def index_evictions(self) -> int:
        """How many banks' indexes left memory to make room for others since this memory was opened."""
        return await self._run(self.engine.index_evictions)

    async def index_usage(self) -> IndexUsage:
        """The search indexes in memory: how many banks, how large, and how often they were there when asked for."""
        return await self._run(self.engine.index_usage)

    async def import_bank(self, bank: str, lines: Iterable[str]) -> int:
        """An exported bank under a new id; returns how many facts came."""
        return await self._run(partial(self.engine.import_bank, bank, lines))

    async def export_to(
        self,
        bank: str,
        path: str | Path,
        *,
        format: str = "jsonl",  # noqa: A002
        force: bool = False,
    ) -> ExportReport:
        """Write the bank to a file or folder, whole or not at all; `force` replaces what is there."""
        return await self._run(partial(self.engine.export_to, bank, path, format=format, force=force))

    async def import_from(
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
        """Import what another program keeps; `progress` is called on a worker thread."""
        return await self._run(
            partial(
                self.engine.import_from, bank, path, source=source, user=user, tags=tags, split=split,
                dry_run=dry_run, key=key, progress=progress,
            )
        )  # fmt: skip

    async def reembed(self, bank: str) -> int:
        """Change the bank's vectors over to the configured embedder, online; returns how many facts."""
        return await self._run(partial(self.engine.reembed, bank))

    async def verify(self, *, quick: bool = False, repair: bool = False, drop: bool = False) -> Verification:
        """Check everything stored against its checksums and counterparts; `quick` looks at the structure of the files only.

        `repair` mends what can be mended without losing anything, `drop` deletes damaged rows that nothing can mend.
        """
        return await self._run(partial(self.engine.verify, quick=quick, repair=repair, drop=drop))

    async def backup(self, file: str | Path, *, keep: int | None = None) -> Backup:
        """Write a checked copy of everything while the memory is in use.

        With `keep` the file's name gets the moment, and only so many of its kind are kept.
        """
        return await self._run(partial(self.engine.backup, file, keep=keep))

    # Background work

    async def operation(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """How far background work is; `wait` blocks up to so many seconds for its end."""
        return await self._run(partial(self.engine.operation, bank, operation_id, wait=wait))

    async def operations(self, bank: str) -> list[Operation]:
        """The bank's background work, oldest first."""
        return await self._run(partial(self.engine.operations, bank))

    async def cancel_operation(self, bank: str, operation_id: str) -> Operation:
        """Stop background work before its next step."""
        return await self._run(partial(self.engine.cancel_operation, bank, operation_id))

    async def retry_operation(self, bank: str, operation_id: str) -> Operation:
        """Go on with failed or cancelled background work."""
        return await self._run(partial(self.engine.retry_operation, bank, operation_id))

    async def delete_operation(self, bank: str, operation_id: str) -> None:
        """Drop the record of background work that has ended."""
        return await self._run(partial(self.engine.delete_operation, bank, operation_id))

    # Language models

    async def costs(self, bank: str | None = None, since: date | None = None) -> list[LlmCost]:
        """What calls of language models came to, per day, bank, operation and model, oldest day first; of one bank, from a day on (UTC)."""
        return await self._run(partial(self.engine.costs, bank, since))

    # Records that surfaces keep beside the memory

    async def records(self, kind: str, *, bank: str = "", ids: Sequence[str] | None = None) -> list[Record]:
        """Small JSON objects of a kind, oldest first; without a bank those that belong to none."""
        return await self._run(partial(self.engine.records, kind, bank=bank, ids=ids))

    async def save_record(self, record: Record) -> None:
        """Insert or replace a record."""
        return await self._run(partial(self.engine.save_record, record))

    async def delete_record(self, kind: str, record_id: str, *, bank: str = "") -> None:
        """Delete a record; one that is not there is no error."""
        return await self._run(partial(self.engine.delete_record, kind, record_id, bank=bank))

    # Webhooks

    async def create_webhook(self, bank: str, url: str, **fields: Unpack[WebhookOptions]) -> Webhook:
        """Tell an address of events of the bank, signed with `secret`; a private address is refused unless a setting allows it."""
        return await self._run(partial(self.engine.create_webhook, bank, url, **fields))

    async def webhooks(self, bank: str) -> list[Webhook]:
        """The bank's webhooks, oldest first."""
        return await self._run(partial(self.engine.webhooks, bank))

    async def update_webhook(self, bank: str, webhook_id: str, **changes: Unpack[WebhookFields]) -> Webhook:
        """Change fields of a webhook; `secret=None` sends without a signature from then on."""
        return await self._run(partial(self.engine.update_webhook, bank, webhook_id, **changes))

    async def delete_webhook(self, bank: str, webhook_id: str) -> None:
        """Delete a webhook with its deliveries; what was not sent yet is not sent."""
        return await self._run(partial(self.engine.delete_webhook, bank, webhook_id))

    async def webhook_deliveries(self, bank: str, webhook_id: str) -> list[WebhookDelivery]:
        """What a webhook was told, or is still to be told, newest first."""
        return await self._run(partial(self.engine.webhook_deliveries, bank, webhook_id))

    # Previews, copies, history

    async def preview_facts(self, bank: str, content: Content, **fields: Unpack[ItemFields]) -> list[Fact]:
        """The facts that retain would draw from the content, without storing anything; what they mention is as worded."""
        return await self._run(partial(self.engine.preview_facts, bank, content, **fields))

    async def document_history(self, bank: str, document_id: str) -> list[DocumentEvent]:
        """What happened to a document, newest first, as far as its facts tell; of what was erased nothing is left."""
        return await self._run(partial(self.engine.document_history, bank, document_id))

    async def reprocess_document(self, bank: str, document_id: str) -> Operation:
        """Read a stored document anew in the background: facts that are drawn again stay, the others are retired."""
        return await self._run(partial(self.engine.reprocess_document, bank, document_id))

    async def clone_bank(
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
        return await self._run(
            partial(
                self.engine.clone_bank, bank, target,
                include_data=include_data, include_config=include_config, include_history=include_history,
            )
        )  # fmt: skip

    # Logs

    async def record_audit(self, entry: AuditEntry) -> bool:
        """Keep an entry in the bank's audit log, if the bank's setting `audit_log_enabled` is on; says whether it is."""
        return await self._run(partial(self.engine.record_audit, entry))

    async def audit_log(
        self,
        bank: str,
        *,
        action: str | None = None,
        transport: Transport | str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[AuditEntry]:
        """What was done with the bank over the servers, newest first; `since` is included, `until` is not."""
        return await self._run(
            partial(self.engine.audit_log, bank, action=action, transport=transport, since=since, until=until)
        )

    async def llm_calls(self, bank: str) -> list[LlmCall]:
        """The bank's calls of language models, newest first."""
        return await self._run(partial(self.engine.llm_calls, bank))

    async def llm_models(self, operation: LlmOperation) -> list[str]:
        """Names of the language models that an operation asks, the first one first; none where none is set."""
        return await self._run(partial(self.engine.llm_models, operation))

    async def llm_health(self, bank: str) -> list[LlmHealth]:
        """Whether the language models of retain, consolidation and reflect answer; asks each for one word."""
        return await self._run(partial(self.engine.llm_health, bank))

    # Directives

    async def create_directive(
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
        return await self._run(
            partial(
                self.engine.create_directive,
                bank,
                name,
                content,
                priority=priority,
                is_active=is_active,
                tags=tags,
            )
        )

    async def directives(
        self,
        bank: str,
        *,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY,
        active_only: bool = True,
    ) -> list[Directive]:
        """The bank's rules, highest priority first, then newest; with tags those that match them or have none."""
        return await self._run(
            partial(self.engine.directives, bank, tags=tags, tags_match=tags_match, active_only=active_only)
        )

    async def directive(self, bank: str, directive_id: str) -> Directive:
        """One rule."""
        return await self._run(partial(self.engine.directive, bank, directive_id))

    async def update_directive(
        self, bank: str, directive_id: str, **changes: Unpack[DirectiveFields]
    ) -> Directive:
        """Change fields of a rule; its history keeps what it was."""
        return await self._run(partial(self.engine.update_directive, bank, directive_id, **changes))

    async def directive_history(self, bank: str, directive_id: str) -> list[Directive]:
        """What a rule was before its changes, the newest first; `updated_at` says since when each version held."""
        return await self._run(partial(self.engine.directive_history, bank, directive_id))

    async def delete_directive(self, bank: str, directive_id: str) -> None:
        """Drop a rule and its history."""
        return await self._run(partial(self.engine.delete_directive, bank, directive_id))

    # Mental models

    async def create_mental_model(
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
        return await self._run(
            partial(
                self.engine.create_mental_model,
                bank,
                name,
                source_query,
                model_id=model_id,
                tags=tags,
                max_tokens=max_tokens,
                trigger=trigger,
            )
        )

    async def mental_models(
        self, bank: str, *, tags: Sequence[str] = (), tags_match: TagsMatch | str = TagsMatch.ANY
    ) -> list[MentalModel]:
        """The bank's models, newest refresh first: all, or those that carry the tags."""
        return await self._run(partial(self.engine.mental_models, bank, tags=tags, tags_match=tags_match))

    async def mental_model(self, bank: str, model_id: str) -> MentalModel:
        """One model."""
        return await self._run(partial(self.engine.mental_model, bank, model_id))

    async def stale_mental_models(self, bank: str, model_ids: Sequence[str] | None = None) -> frozenset[str]:
        """Ids of the models, or of those given, for which memory holds something new or no longer holds what they say."""
        return await self._run(partial(self.engine.stale_mental_models, bank, model_ids))

    async def update_mental_model(
        self, bank: str, model_id: str, **changes: Unpack[MentalModelFields]
    ) -> MentalModel:
        """Change settings of a model; a trigger is replaced whole, and a new question waits for the next refresh."""
        return await self._run(partial(self.engine.update_mental_model, bank, model_id, **changes))

    async def delete_mental_model(self, bank: str, model_id: str) -> None:
        """Delete a model with its history and the page that shows it."""
        return await self._run(partial(self.engine.delete_mental_model, bank, model_id))

    async def clear_mental_model(self, bank: str, model_id: str) -> MentalModel:
        """Empty a model's document; its next refresh is a full one."""
        return await self._run(partial(self.engine.clear_mental_model, bank, model_id))

    async def mental_model_history(self, bank: str, model_id: str) -> list[MentalModelVersion]:
        """What a model said before, newest first."""
        return await self._run(partial(self.engine.mental_model_history, bank, model_id))

    async def refresh_mental_model(
        self, bank: str, model_id: str, *, mode: RefreshMode | str | None = None
    ) -> Operation:
        """Write a model anew in the background; a refresh that waits already is returned instead of a second one."""
        return await self._run(partial(self.engine.refresh_mental_model, bank, model_id, mode=mode))

    async def preview_mental_model(
        self, bank: str, model_id: str, *, mode: RefreshMode | str | None = None
    ) -> RefreshPreview:
        """The whole refresh of a model, without writing anything."""
        return await self._run(partial(self.engine.preview_mental_model, bank, model_id, mode=mode))

    async def search_mental_models(
        self, bank: str, query: str, *, tags: Sequence[str] = (), limit: int = 10
    ) -> list[MentalModelMatch]:
        """The models that bear on a question, best first: words and vectors, fused by reciprocal rank."""
        return await self._run(partial(self.engine.search_mental_models, bank, query, tags=tags, limit=limit))

    async def refresh_due_mental_models(self, bank: str | None = None) -> list[Operation]:
        """Queue a refresh of each stale model whose schedule has come round, in one bank or in all.

        `perdure serve` calls this twice a minute. In a library nothing runs by the clock: call it as often as you like.
        """
        return await self._run(partial(self.engine.refresh_due_mental_models, bank))

    # Knowledge base

    async def knowledge_tree(
        self,
        bank: str,
        *,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY_STRICT,
        tag_groups: Sequence[Mapping[str, object]] | None = None,
    ) -> tuple[KnowledgeNode, ...]:
        """Folders and pages from the root down; with tags only pages that match them."""
        return await self._run(
            partial(self.engine.knowledge_tree, bank, tags=tags, tags_match=tags_match, tag_groups=tag_groups)
        )

    async def knowledge_page_models(self, bank: str) -> frozenset[str]:
        """Ids of the mental models that pages show."""
        return await self._run(partial(self.engine.knowledge_page_models, bank))

    async def create_knowledge_folder(
        self, bank: str, name: str, *, parent_id: str | None = None
    ) -> KnowledgeNode:
        """A folder, at the root unless it has a parent."""
        return await self._run(partial(self.engine.create_knowledge_folder, bank, name, parent_id=parent_id))

    async def create_knowledge_page(
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
        return await self._run(
            partial(
                self.engine.create_knowledge_page,
                bank,
                name,
                source_query,
                parent_id=parent_id,
                tags=tags,
                max_tokens=max_tokens,
                trigger=trigger,
            )
        )

    async def knowledge_page(self, bank: str, page_id: str) -> KnowledgeNode:
        """One page with its model."""
        return await self._run(partial(self.engine.knowledge_page, bank, page_id))

    async def knowledge_page_markdown(self, bank: str, page_id: str) -> str:
        """A page as Markdown with front matter."""
        return await self._run(partial(self.engine.knowledge_page_markdown, bank, page_id))

    async def update_knowledge_node(
        self, bank: str, node_id: str, **changes: Unpack[KnowledgeNodeFields]
    ) -> KnowledgeNode:
        """Rename or move a node, or change a page's options; a new question queues a refresh.

        `parent_id=None` moves to the root; fields of a trigger are merged into the page's own.
        """
        return await self._run(partial(self.engine.update_knowledge_node, bank, node_id, **changes))

    async def delete_knowledge_node(self, bank: str, node_id: str) -> None:
        """Delete a node with everything below it, and the models of its pages."""
        return await self._run(partial(self.engine.delete_knowledge_node, bank, node_id))

    async def search_knowledge(
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
        return await self._run(
            partial(
                self.engine.search_knowledge,
                bank,
                query,
                limit=limit,
                tags=tags,
                tags_match=tags_match,
                tag_groups=tag_groups,
            )
        )

    async def export_knowledge(self, bank: str) -> list[KnowledgeFile]:
        """The knowledge base as Markdown files: an index, the pages, and what each said before."""
        return await self._run(partial(self.engine.export_knowledge, bank))

    # Opinions

    async def opinions(
        self,
        bank: str,
        subject: str | None = None,
        min_confidence: float = 0.0,
        as_of: AsOf | datetime | None = None,
    ) -> list[Opinion]:
        """What the bank believes, surest first; of one subject (a name, or an entity's id), or as of a moment."""
        return await self._run(partial(self.engine.opinions, bank, subject, min_confidence, as_of))

    async def opinion(self, bank: str, opinion_id: str, as_of: AsOf | datetime | None = None) -> Opinion:
        """One opinion with its evidence and the curve of its confidence; NotFound when it is not held."""
        return await self._run(partial(self.engine.opinion, bank, opinion_id, as_of))

    async def opinion_curve(
        self, bank: str, opinion_id: str, as_of: AsOf | datetime | None = None
    ) -> list[tuple[datetime, float]]:
        """(time, confidence) after each piece of an opinion's evidence, from the one on that makes it a belief."""
        return await self._run(partial(self.engine.opinion_curve, bank, opinion_id, as_of))

    async def form_opinions(self, bank: str) -> OpinionReport:
        """Assess every fact of the bank: form opinions, and add evidence to those there are. Doing it again adds nothing."""
        return await self._run(partial(self.engine.form_opinions, bank))

    # Consolidation, observations, notes and questions

    async def refine(self, bank: str) -> Operation:
        """Have a language model word anew, in the background, what rules drew from text that none has worded yet.

        A run that is under way is returned. InvalidInput where no model is set.
        """
        return await self._run(partial(self.engine.refine, bank))

    async def consolidate(
        self, bank: str, *, observation_scopes: Sequence[Sequence[str]] | None = None
    ) -> Operation:
        """Form observations, questions and notes of what is new, in the background; a run that is under way is returned.

        With `observation_scopes` (lists of tags) only facts that carry all tags of one of them are looked at, new or not.
        """
        return await self._run(partial(self.engine.consolidate, bank, observation_scopes=observation_scopes))

    async def consolidation(self, bank: str) -> ConsolidationStatus:
        """What the next consolidation will look at, what was set aside, and when the last one ended."""
        return await self._run(partial(self.engine.consolidation, bank))

    async def pending_fact_ids(self, bank: str) -> frozenset[str]:
        """Ids of the facts that the next consolidation will look at."""
        return await self._run(partial(self.engine.pending_fact_ids, bank))

    async def recover_consolidation(self, bank: str) -> int:
        """Have the facts that consolidation set aside looked at again by the next one; returns how many."""
        return await self._run(partial(self.engine.recover_consolidation, bank))

    async def observations(
        self, bank: str, *, name: str | None = None, tags: Sequence[str] | None = None, stale: bool = False
    ) -> list[Observation]:
        """The profiles in force, newest first: all, of the entity or topic of that name, of exactly these tags.

        With `stale` also those of which a source has changed since, which recall leaves out.
        """
        return await self._run(partial(self.engine.observations, bank, name=name, tags=tags, stale=stale))

    async def observation(self, bank: str, observation_id: str) -> Observation:
        """One observation with its clauses and their sources, in force or not."""
        return await self._run(partial(self.engine.observation, bank, observation_id))

    async def observation_versions(self, bank: str, observation_id: str) -> list[Observation]:
        """Every version of the profile that an observation is one of, oldest first."""
        return await self._run(partial(self.engine.observation_versions, bank, observation_id))

    async def observation_scopes(self, bank: str) -> list[tuple[Scope, int]]:
        """The tags that observations carry together and how many carry them, most first."""
        return await self._run(partial(self.engine.observation_scopes, bank))

    async def delete_observations(self, bank: str, *, fact_id: str | None = None) -> int:
        """Delete all observations with their versions, or those that rest on a fact; the next consolidation makes them anew."""
        return await self._run(partial(self.engine.delete_observations, bank, fact_id=fact_id))

    async def notes(self, bank: str, period: str | None = None) -> list[str]:
        """Names of the notes that were made from the bank's memory: all, or the daily, weekly or quarterly ones."""
        return await self._run(partial(self.engine.notes, bank, period))

    async def note(self, bank: str, name: str) -> Note:
        """A note (`daily/2026-11-16`), without lines whose facts are gone."""
        return await self._run(partial(self.engine.note, bank, name))

    async def questions(self, bank: str, *, answered: bool = False) -> list[Question]:
        """Conflicts that nothing decides, oldest first; with `answered` those that were answered too."""
        return await self._run(partial(self.engine.questions, bank, answered=answered))

    async def answer(self, bank: str, question_id: str, answer: str) -> Question:
        """Decide a question: by the id of one of its facts or by a value, which takes the others back, or by `both`."""
        return await self._run(partial(self.engine.answer, bank, question_id, answer))

    async def _run(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreError(f"{self.engine.settings.shown_database}: the store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._workers, work)
