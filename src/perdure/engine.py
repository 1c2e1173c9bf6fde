"""Perdure: the one object that users hold. It checks its arguments and delegates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from perdure.arguments import (
    ConsolidateArguments,
    ForgetArguments,
    RecallArguments,
    ReflectArguments,
    RetainArguments,
    RetainLaterArguments,
    SettingArguments,
)
from perdure.compose import Components, OwnComponents, background_rules, compose
from perdure.databases import verify_file
from perdure.domain.bank import check_bank_id
from perdure.domain.item import RetainResult
from perdure.domain.operation import Operation
from perdure.domain.recall import RecallResult
from perdure.domain.verb import READ, WRITE, BankIn, local, verb
from perdure.forget.options import Target
from perdure.forget.preview import ForgetPreview
from perdure.forget.target import Forgotten
from perdure.jobs.background import Background, Operations
from perdure.jobs.runner import JobRunner
from perdure.manage.activity import ActivityLog
from perdure.manage.audit import AuditLog
from perdure.manage.banks import Banks
from perdure.manage.database import Database
from perdure.manage.documents import Documents
from perdure.manage.entities import Entities
from perdure.manage.erasure import Erasure
from perdure.manage.facts import Facts
from perdure.manage.llm import LanguageModels
from perdure.manage.records import StoredRecords
from perdure.manage.webhooks import Webhooks
from perdure.ports.clock import Clock, present
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import Extractor
from perdure.ports.llm import Llm
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.store import Store
from perdure.ports.telemetry import MemoryOperation, Telemetry, observed
from perdure.ports.tokens import Tokens
from perdure.recall.options import PromptOptions, RecallOptions, RecallRequest
from perdure.recall.pipeline import recall
from perdure.recall.recipe import Recipe, trim_recipe
from perdure.recall.recipes import find_recipe
from perdure.reflect.directives import Directives, directives_within
from perdure.reflect.knowledge import Knowledge
from perdure.reflect.mental_models.resource import MentalModels
from perdure.reflect.mental_models.search import model_texts
from perdure.reflect.notes.resource import MemoryNotes
from perdure.reflect.notes.write import NOTE_PENDING, repair_notes
from perdure.reflect.observations.resource import Observations
from perdure.reflect.opinions.resource import Opinions
from perdure.reflect.options import ConsolidateOptions, ReflectOptions
from perdure.reflect.pipeline import ReflectRequest, reflect_in_tiers
from perdure.reflect.questions import Questions
from perdure.reflect.reflection import MentalModelText, Reflection
from perdure.retain.options import RetainLaterOptions, RetainOptions
from perdure.retain.pipeline import retain
from perdure.retain.request import Content, read_request
from perdure.settings import Settings, read_settings


class Perdure:
    """Long-term memory in one object, safe to share between threads.

    The verbs that every program uses are methods; the others are grouped by what they concern.
    """

    facts: Facts
    documents: Documents
    entities: Entities
    opinions: Opinions
    observations: Observations
    models: MentalModels
    knowledge: Knowledge
    directives: Directives
    notes: MemoryNotes
    questions: Questions
    operations: Operations
    webhooks: Webhooks
    activity: ActivityLog
    audit: AuditLog
    llm: LanguageModels
    banks: Banks
    records: StoredRecords
    database: Database

    def __init__(self, components: Components) -> None:
        self._components = components
        self._store = store = components.store
        self._background = background = Background(
            components.reflect, background_rules(components.settings), components.local
        )
        clock, retaining, reflecting = components.clock, components.retain, components.reflect
        self._erasure = Erasure(reflecting, background)
        self.facts = Facts(retaining)
        self.documents = Documents(retaining, background)
        self.entities = Entities(retaining, self._erasure.unlink)
        self.opinions = Opinions(reflecting)
        self.observations = Observations(store, clock)
        self.models = MentalModels(reflecting, background.refresh)
        self.knowledge = Knowledge(reflecting, self.models)
        self.directives = Directives(store, clock)
        self.notes = MemoryNotes(reflecting)
        self.questions = Questions(reflecting)
        self.operations = Operations(background.jobs)
        self.webhooks = Webhooks(store, clock, background.sender)
        self.activity = ActivityLog(store)
        self.audit = AuditLog(store)
        self.llm = LanguageModels(store, reflecting.llm)
        self.banks = Banks(retaining, background, components.local or retaining.extractor)
        self.records = StoredRecords(store)
        self.database = Database(store, clock, verify_file)

    @classmethod
    @local()
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
        """Open a database file, created if missing. A file that cannot be written is opened for reading.

        A component is an object that satisfies its port, or a name that the setting of the same name accepts.
        """
        overrides: dict[str, object] = dict(options)
        if database is not None:
            overrides["database"] = str(database)
        components: dict[str, Any] = {
            "store": store, "embedder": embedder, "reranker": reranker, "extractor": extractor, "tokens": tokens,
            "notes": notes, "llm": llm, "telemetry": telemetry,
        }  # fmt: skip
        names = {name for name, component in components.items() if isinstance(component, str | bool)}
        overrides.update({name: components.pop(name) for name in names})
        own = OwnComponents(**components)
        engine = cls(compose(read_settings(settings, overrides), clock, own))
        if engine._store.read_only:
            return engine
        engine._background.resume()
        for bank in engine._store.banks_with_records(NOTE_PENDING):
            repair_notes(engine._components.reflect, bank)
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @local()
    def close(self) -> None:
        """Finish the background step at hand, leave the rest to the next open, and release files and memory."""
        self._background.close()
        self._components.tracker.close()
        self._components.executor.shutdown(wait=False, cancel_futures=True)
        if self._components.reflect.llm is not None:
            self._components.reflect.llm.close()
        self._store.close()

    @property
    @local("a server's settings stay on its machine")
    def settings(self) -> Settings:
        """The settings in force."""
        return self._components.settings

    @property
    @local()
    def clock(self) -> Clock:
        """The clock that gives this memory the present."""
        return self._components.clock

    @property
    @local()
    def token_encoding(self) -> str:
        """The name of the encoding by which tokens are counted."""
        return self._components.recall.tokens.name

    @property
    @local("background work of the server's own kinds; use operations")
    def jobs(self) -> JobRunner:
        """The runner of background work, for surfaces that add their own kinds of work."""
        return self._background.jobs

    @verb(WRITE)
    def retain(self, bank: str, content: Content, **options: Unpack[RetainArguments]) -> RetainResult:
        """Remember a text, a list of messages or a batch of items; visible to every recall when this returns.

        The options hold for everything in `content` that does not say otherwise itself.
        """
        request = read_request(bank, content, RetainOptions.read(options))
        return self._background.after_retain(
            retain(self._components.retain, request, announce=self._background.announce_retain)
        )

    @verb(WRITE)
    def retain_later(self, bank: str, content: Content, **options: Unpack[RetainLaterArguments]) -> Operation:
        """Accept for retaining in the background: durable when this returns, done when the operation says so."""
        given = RetainLaterOptions.read(options)
        return self._background.retain(read_request(bank, content, given), given.operation_id)

    @verb(READ, "recall")
    def recall(self, bank: str, query: str, **options: Unpack[RecallArguments]) -> RecallResult:
        """Return what memory holds on a question, best first, within `max_tokens` of fact text."""
        request = self._recall_request(bank, query, RecallOptions.read(options))
        return recall(self._components.recall, request)

    @verb(READ, "recall")
    def prompt(self, bank: str, query: str, **options: Unpack[RecallArguments]) -> str:
        """Return a recall as a fenced text with citations, ready for a prompt, all of it within `max_tokens`.

        It is empty where nothing probably helps: `precision` is `inject` by default.
        """
        request = self._recall_request(bank, query, PromptOptions.read(options))
        return recall(self._components.recall, request).to_prompt()

    @verb(READ, "recall")
    def reflect(self, bank: str, query: str, **options: Unpack[ReflectArguments]) -> Reflection:
        """Return an answer whose every sentence names the facts it rests on, or that memory holds none.

        It follows the bank's active directives without tags and those that the question's tags match, or all of them, and
        the given ones. Where a language model is set, the model answers.
        """
        given = ReflectOptions.read(options)
        recall_request = self._recall_request(bank, query, given)
        scope = recall_request.where.tags
        with self._store.reading(check_bank_id(bank)) as reading:
            stored = directives_within(reading, scope, given.apply_all_directives)
        request = ReflectRequest(
            recall=recall_request, directives=[*stored, *given.directives], options=given
        )
        components = self._components.reflect

        def search_models(bank: str, query: str) -> list[MentalModelText]:
            return model_texts(components, bank, query, scope, given.exclude_mental_model_ids)

        with observed(components.retain.telemetry, MemoryOperation.REFLECT, bank, query=query) as report:
            reflection = reflect_in_tiers(components, request, search_models if given.mental_models else None)
            if report is not None:
                report.records(len(reflection.based_on))
            return reflection

    @verb(WRITE)
    def consolidate(self, bank: str, **options: Unpack[ConsolidateArguments]) -> Operation:
        """Form observations, questions and notes from what is new, in the background, or return the run under way."""
        given = ConsolidateOptions.read(options)
        return self._background.consolidate(check_bank_id(bank), given.observation_scopes)

    @verb(WRITE, needs_admin=lambda arguments: arguments.get("everything") is True)
    def forget(self, bank: str, **target: Unpack[ForgetArguments]) -> Forgotten:
        """Erase one of these for good, or with `everything` the whole bank, with all that quotes it.

        With an entity go all statements and passages that mention it, by membership or by name; facts of `keep` stay, with
        `[removed]` in the place of the name. With `around`, titles, contexts, tags and entities go that share words with
        an erased fact.

        The result says how many facts went and whether their traces in the files are cleared or pending. Pending ones
        are cleared in the background; the next open, or another call, resumes that.
        """
        return self._erasure.forget(check_bank_id(bank), Target.read(target))

    @verb(WRITE)  # it locks the bank for writing
    def preview_forget(self, bank: str, **target: Unpack[ForgetArguments]) -> ForgetPreview:
        """Return what `forget` with the same arguments would erase, and lock the bank for writing meanwhile."""
        return self._erasure.preview(check_bank_id(bank), Target.read(target))

    @local("a recipe contains functions; pass a recipe by its name")
    def recipe(
        self, name: str | Recipe | None = None, *, without: Sequence[str] = (), rerank: bool = True
    ) -> Recipe:
        """Return a recipe, by default the configured one, without some of its channels or the models that read the candidates."""
        return trim_recipe(self._recipe(name), without, rerank)

    @verb(READ, bank=BankIn.NOWHERE)
    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has, as recall counts them."""
        return self._components.recall.tokens.count(text)

    def _recall_request(self, bank: str, query: str, options: RecallOptions) -> RecallRequest:
        return RecallRequest.of(bank, query, options, self._recipe(options.recipe))

    def _recipe(self, recipe: str | Recipe | None) -> Recipe:
        return find_recipe(recipe or self.settings.recipe, self._components.recipes)
