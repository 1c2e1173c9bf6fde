"""The composition root: settings, and objects that the caller passes in, become the components of an engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from perdure.domain.bank import check_bank_id
from perdure.domain.damage import RestoredFile, Verification
from perdure.domain.recall import Budget
from perdure.errors import InvalidInput, StoreError, Unavailable
from perdure.jobs.background import BackgroundRules
from perdure.jobs.records import JOB
from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder, LateInteraction
from perdure.ports.extractor import Extractor
from perdure.ports.llm import Llm
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.statements import StatementClassifier
from perdure.ports.store import Store
from perdure.ports.tagger import Tagger
from perdure.ports.telemetry import Telemetry
from perdure.ports.tokens import Tokens
from perdure.recall.budget import BudgetPlan
from perdure.recall.components import RecallComponents
from perdure.recall.recipe import Recipe
from perdure.recall.recipes import find_recipe, named_recipes
from perdure.recall.recipes.abmind import Decay
from perdure.recall.track import RecallTracker
from perdure.reflect.components import LlmThinking, ReflectComponents
from perdure.retain.components import RetainComponents
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.llm.caller import Caller, Price
    from perdure.models.pydantic_ai_llm import PydanticAiLlm
    from perdure.stores.sql.copying import BankCopy, BankEncryption, Progress, TableStore

P = ParamSpec("P")
T = TypeVar("T")
CHANNEL_THREADS = 16
OWN_LLM = "own"
"""Stands for the language model that was passed in, among names of models."""


def present() -> datetime:
    """The present moment: the clock of an engine unless another one is passed in."""
    return datetime.now(UTC)


class ChannelThreads(ThreadPoolExecutor):
    """The threads of a recall's channels. Raises `StoreError` for work that is submitted after the memory was closed."""

    def __init__(self, database: str) -> None:
        super().__init__(max_workers=CHANNEL_THREADS, thread_name_prefix="perdure-channel")
        self._database = database

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit work."""
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            raise StoreError(f"{self._database}: the store is closed") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnComponents:
    """Objects that the caller passes in; what is None is made from the settings."""

    store: Store | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    extractor: Extractor | None = None
    tokens: Tokens | None = None
    notes: Notes | None = None
    llm: Llm | None = None
    telemetry: Telemetry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """All that an engine is made of."""

    settings: Settings
    store: Store
    clock: Clock
    retain: RetainComponents
    recall: RecallComponents
    reflect: ReflectComponents
    tracker: RecallTracker
    recipes: Mapping[str, Recipe]
    executor: ThreadPoolExecutor
    local: Extractor | None = None
    """The extractor that refinement compares with; None where no language model is set."""
    telemetry: Telemetry | None = None


def compose(settings: Settings, clock: Clock = present, own: OwnComponents = OwnComponents()) -> Components:
    """Open the store and choose the models, which load when they are first used."""
    store = own.store or open_store(settings)
    embedder = own.embedder or make_embedder(settings)
    late = embedder if settings.late and isinstance(embedder, LateInteraction) else None
    tracker = RecallTracker(store)
    executor = ChannelThreads(settings.shown_database)
    reranker = own.reranker or make_reranker(settings)
    tokens = own.tokens or make_tokens(settings)
    telemetry = own.telemetry or make_telemetry(settings)
    llm = make_caller(settings, own.llm, store=store, clock=clock, tokens=tokens, telemetry=telemetry)
    recipes = named_recipes(
        Decay(days=settings.decay_days, floor=settings.decay_floor, emotion=settings.decay_emotion)
    )
    extractor = own.extractor or make_extractor(settings, llm)
    retain = RetainComponents(
        store=store,
        clock=clock,
        extractor=extractor,
        embedder=embedder,
        late=late,
        reranker=reranker,
        statements=make_statement_classifier(settings),
        llm=llm,
        telemetry=telemetry,
    )
    recall = RecallComponents(
        store=store,
        clock=clock,
        tokens=tokens,
        executor=executor,
        embedder=embedder,
        late=late,
        reranker=reranker,
        notes=own.notes or open_notes(settings),
        tracker=tracker,
        budgets=budget_plan(settings),
        pool=settings.rerank_pool,
        channel_timeout=settings.channel_timeout,
        similarity_floor=settings.similarity_floor,
        telemetry=telemetry,
    )
    return Components(
        settings=settings,
        store=store,
        clock=clock,
        retain=retain,
        recall=recall,
        reflect=ReflectComponents(
            store=store,
            clock=clock,
            retain=retain,
            recall=recall,
            recipe=find_recipe(settings.recipe, recipes),
            tagger=make_tagger(settings),
            llm=llm,
            thinking=LlmThinking(
                unsupported=settings.llm_unsupported, reflect_seconds=settings.llm_reflect_seconds
            ),
        ),
        tracker=tracker,
        recipes=recipes,
        executor=executor,
        telemetry=telemetry,
        local=None
        if llm is None
        else extractor
        if extractor.name == "local"
        else make_local_extractor(settings),
    )


def background_rules(settings: Settings) -> BackgroundRules:
    """Return what the settings say about background work."""
    return BackgroundRules(
        refine_after=settings.refine_after if settings.extractor == "refine" else None,
        consolidate_after=settings.consolidate_after,
        webhook_allow_private=settings.webhook_allow_private,
    )


def make_telemetry(settings: Settings) -> Telemetry | None:
    """OpenTelemetry where the setting asks for it; else nothing of it is imported."""
    if not settings.telemetry:
        return None
    from perdure.telemetry.otel import OpenTelemetry

    return OpenTelemetry(content=settings.telemetry_content)


def open_store(settings: Settings) -> Store:
    """The store that the database setting names."""
    database = settings.database
    if database.startswith(("postgresql://", "postgres://")):
        return open_postgres(settings)
    if "://" in database and not database.startswith("sqlite:///"):
        raise Unavailable(
            f"database {database.split('://')[0]}: only SQLite files and PostgreSQL are supported"
        )
    path = database.removeprefix("sqlite:///")
    if not path:
        raise InvalidInput("database", "a file path or sqlite:/// URL", database)
    return open_file(
        path,
        synchronous=settings.synchronous,
        busy_timeout_ms=settings.busy_timeout_ms,
        index_memory_mb=settings.index_memory_mb,
    )


def open_postgres(settings: Settings) -> Store:
    """The store on the server that the database setting names."""
    try:
        from perdure.stores.postgres.store import PostgresStore
    except ImportError as error:
        needed = 'PostgreSQL needs the extra "postgres": pip install "perdure[postgres]"'
        raise Unavailable(needed) from error
    return PostgresStore.open(
        settings.database,
        connections=settings.database_connections,
        timeout=settings.database_timeout,
        patience=settings.database_patience,
        prepared=settings.database_prepared,
        large_bank_facts=settings.large_bank_facts,
        encrypt_content=settings.encrypt_content,
        busy_timeout_ms=settings.busy_timeout_ms,
        index_memory_mb=settings.index_memory_mb,
    )


def copy_banks(
    target: str,
    *,
    banks: Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: Progress = lambda *_: None,
) -> list[BankCopy]:
    """Copy banks, or without `banks` all of them and the API keys, from the database of the settings to another one.

    Both may be SQLite files or PostgreSQL. What was interrupted goes on; what arrived is compared by counts and hashes.
    """
    from perdure.stores.sql.copying import copy_bank, copy_shared_records

    from_ = settings or Settings()
    there = from_.model_copy(update={"database": target})
    with closing(open_store(from_)) as source, closing(open_store(there)) as destination:
        ids = [bank.id for bank in source.banks()] if banks is None else banks
        copies = [
            copy_bank(_with_tables(source), _with_tables(destination), bank, progress)
            for bank in map(check_bank_id, ids)
        ]
        if banks is None:
            copy_shared_records(
                _with_tables(source), _with_tables(destination), lambda kind: not kind.startswith(JOB)
            )
    return copies


def encrypt_bank(
    bank: str, *, settings: Settings | None = None, progress: Progress = lambda *_: None
) -> BankEncryption:
    """Encrypt the content of a bank that was made without `encrypt_content`, while it is in use. PostgreSQL only.

    What was interrupted goes on when called again. Dead rows, the log, replicas and backups hold the content as it was.
    """
    from perdure.stores.postgres.encrypting import WAIT, encrypt
    from perdure.stores.postgres.store import PostgresStore

    chosen = settings or Settings()
    with closing(open_store(chosen)) as store:
        if not isinstance(store, PostgresStore):
            raise Unavailable("encryption of content: a file has none; encrypt the disk that it is on")
        return encrypt(store, check_bank_id(bank), wait=WAIT, progress=progress)


def citus_statements() -> list[str]:
    """The statements that distribute PostgreSQL's tables by bank over a Citus cluster."""
    from perdure.stores.postgres.distribute import statements

    return statements()


def distribute_tables(settings: Settings) -> list[str]:
    """Run these statements on the database that the setting names."""
    from perdure.stores.postgres.distribute import distribute
    from perdure.stores.postgres.store import PostgresStore

    with closing(open_store(settings)) as store:
        if not isinstance(store, PostgresStore):
            raise InvalidInput("database", "the URL of a PostgreSQL database", settings.shown_database)
        return distribute(store)


def abandon_copies(target: str, banks: Sequence[str], *, settings: Settings | None = None) -> list[str]:
    """Delete what interrupted copies of these banks left in the target; returns those that had left something."""
    from perdure.stores.sql.copying import abandon

    with closing(open_store((settings or Settings()).model_copy(update={"database": target}))) as destination:
        return [bank for bank in banks if abandon(_with_tables(destination), bank)]


def secure_database(role: str, *, off: bool = False, settings: Settings | None = None) -> None:
    """Let a role use the PostgreSQL database of the settings under row-level security, or with `off` end that."""
    chosen = settings or Settings()
    if not chosen.database.startswith(("postgresql://", "postgres://")):
        raise Unavailable("row-level security: a file has none; give its folder to one user")
    with closing(open_store(chosen)) as store:
        from perdure.stores.postgres.store import PostgresStore

        assert isinstance(store, PostgresStore)
        store.secure(role, off=off)


def _with_tables(store: Store) -> TableStore:
    """The store, as one whose tables can be copied."""
    from perdure.stores.sqlite.store import SqliteStore

    if isinstance(store, SqliteStore):
        return store
    from perdure.stores.postgres.store import PostgresStore

    assert isinstance(store, PostgresStore)
    return store


def open_file(
    path: str,
    *,
    synchronous: Literal["normal", "full"] = "normal",
    busy_timeout_ms: int = 5000,
    index_memory_mb: int = 1024,
) -> Store:
    """The store in a file."""
    from perdure.stores.sqlite.store import SqliteStore

    return SqliteStore.open(
        path,
        synchronous=synchronous,
        busy_timeout_ms=busy_timeout_ms,
        index_memory_mb=index_memory_mb,
    )


def restore_database(settings: Settings, backup: Path, stamp: str) -> RestoredFile:
    """Put a backup in the place of the database that the setting names; nobody may have it open."""
    from perdure.stores.sqlite.copies import restore_file

    path = settings.database.removeprefix("sqlite:///")
    if "://" in path or not path:
        raise Unavailable("restore: PostgreSQL is restored by pg_restore or from pg_basebackup's copy")
    return restore_file(path, str(backup), stamp, verify_file)


def salvage_database(settings: Settings, target: Path) -> dict[str, int]:
    """Copy what can still be read of the database to a new file; table that is not whole -> how many of its rows came."""
    from perdure.stores.sqlite.connections import SqliteErrors
    from perdure.stores.sqlite.salvage import salvage

    path = settings.database.removeprefix("sqlite:///")
    if "://" in path or not path:
        raise Unavailable(
            "salvage: only SQLite files can be salvaged; `perdure database copy FILE` reads PostgreSQL"
        )
    with SqliteErrors(path):
        return salvage(path, str(target))


def verify_file(path: str) -> Verification:
    """A full check of a file that nobody has open."""
    store = open_file(path)
    try:
        return store.verify()
    finally:
        store.close()


# Models are imported when they are chosen: onnxruntime and spaCy take seconds to load.


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the setting names; None for `none`."""
    if settings.embedder == "none":
        return None
    if settings.embedder == "hashing":
        from perdure.models.hashing import HashingEmbedder

        return HashingEmbedder()
    if settings.embedder == "http":
        from perdure.models.providers import OllamaEmbedder, OpenAIEmbedder

        protocol = OllamaEmbedder if settings.embedding_protocol == "ollama" else OpenAIEmbedder
        return protocol(
            settings.embedding_url,
            settings.embedding_model,
            dimensions=settings.embedding_dimensions,
            key=settings.embedding_key.get_secret_value(),
            timeout=settings.provider_timeout,
        )
    from perdure.models.manifest import USE_FAMILY, find_model
    from perdure.models.onnx_embedder import OnnxEmbedder
    from perdure.models.run_limiter import shared_run_limiter
    from perdure.models.use_embedder import UseEmbedder
    from perdure.models.weights import Places

    spec = find_model(settings.embedder, "embedder")
    places = Places(store=settings.models_folder, allow_download=settings.allow_download)
    kind = UseEmbedder if spec.family == USE_FAMILY else OnnxEmbedder
    return kind(spec, places, limiter=shared_run_limiter(settings.threads))


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the setting names; None for `none`."""
    if settings.reranker == "none":
        return None
    if settings.reranker == "http":
        from perdure.models.providers import CohereReranker, TeiReranker

        protocol = TeiReranker if settings.rerank_protocol == "tei" else CohereReranker
        return protocol(
            settings.rerank_url,
            settings.rerank_model,
            key=settings.rerank_key.get_secret_value(),
            timeout=settings.provider_timeout,
        )
    from perdure.models.onnx_reranker import OnnxReranker
    from perdure.models.run_limiter import shared_run_limiter
    from perdure.models.weights import Places

    places = Places(store=settings.models_folder, allow_download=settings.allow_download)
    return OnnxReranker(settings.reranker, places, limiter=shared_run_limiter(settings.threads))


def make_statement_classifier(settings: Settings) -> StatementClassifier | None:
    """The reader of slots and aspects; None where its encoder is not installed, or facts are the whole texts."""
    if settings.extractor == "verbatim":
        return None
    from perdure.models.run_limiter import shared_run_limiter
    from perdure.models.statement_heads import UseStatementClassifier
    from perdure.models.use_embedder import UseEmbedder
    from perdure.models.weights import Places

    places = Places(store=settings.models_folder)
    embedder = UseEmbedder(places=places, limiter=shared_run_limiter(settings.threads))
    return UseStatementClassifier(embedder) if embedder.is_installed else None


def make_tagger(settings: Settings) -> Tagger:
    """The tagger that the setting names; `auto` takes the best one that is installed."""
    from perdure.models.spacy_tagger import choose_tagger

    return choose_tagger(settings.tagger)


def make_extractor(settings: Settings, llm: Caller | None = None) -> Extractor:
    """The extractor that the setting names, with the tagger that the other one names."""
    if settings.extractor == "verbatim":
        from perdure.extract.verbatim import VerbatimExtractor

        return VerbatimExtractor()
    if settings.extractor in ("llm", "refine") and llm is None:
        expected = f'a language model in `llm` for the extractor "{settings.extractor}", or "local"'
        raise InvalidInput("extractor", expected, settings.extractor)
    local = make_local_extractor(settings)
    if settings.extractor == "llm" and llm is not None:
        from perdure.extract.llm import LlmExtractor

        return LlmExtractor(llm, local)
    return local


def make_local_extractor(settings: Settings) -> Extractor:
    """The extractor that needs no language model; with `refine` a model rewrites its facts later."""
    from perdure.extract.local import LocalExtractor
    from perdure.models.rule_tagger import RuleTagger

    # The agent's own turns are long and say little about people: rules are enough for them.
    return LocalExtractor(make_tagger(settings), light=RuleTagger())


def llm_names(settings: Settings, own: str = "") -> dict[str, list[str]]:
    """Operation -> the models that are asked for it, in order; `own` stands for an object that was passed in.

    An operation without a model is left out.
    """
    default = own or settings.llm
    first = {
        "retain": settings.llm_retain,
        "refine": settings.llm_retain,
        "consolidate": settings.llm_consolidation,
        "reflect": settings.llm_reflect,
        "mental_model": settings.llm_reflect,
    }
    fallbacks = [name.strip() for name in settings.llm_fallbacks.split(",") if name.strip()]
    return {
        operation: list(dict.fromkeys([model, *fallbacks]))
        for operation, name in first.items()
        if (model := name or default) != "none"
    }


def make_caller(
    settings: Settings,
    own: Llm | None = None,
    *,
    store: Store | None = None,
    clock: Clock = present,
    tokens: Tokens | None = None,
    telemetry: Telemetry | None = None,
) -> Caller | None:
    """What asks language models; None where none is set, and then nothing of it is imported."""
    chains = llm_names(settings, OWN_LLM if own is not None else "")
    if not chains:
        return None
    from perdure.llm.caller import Caller, LlmOperation
    from perdure.llm.ledger import Ledger
    from perdure.llm.limits import CallRules, DayCaps

    counter = tokens or make_tokens(settings)
    names = dict.fromkeys(name for chain in chains.values() for name in chain)
    opened = {name: make_llm(settings, name, counter) for name in names if name != OWN_LLM}
    models: dict[str, Llm] = dict(opened) if own is None else {**opened, OWN_LLM: own}
    if telemetry is not None:
        from perdure.telemetry.otel import ObservedLlm

        models = {name: ObservedLlm(model, telemetry) for name, model in models.items()}
    rules = CallRules(
        timeout=settings.llm_timeout,
        calls_a_minute=settings.llm_calls_a_minute,
        tokens_a_minute=settings.llm_tokens_a_minute,
        caps=DayCaps(
            calls=settings.llm_calls_a_day, tokens=settings.llm_tokens_a_day, price=settings.llm_price_a_day
        ),
    )
    ledger = None
    if store is not None:
        ledger = Ledger(
            store, clock, caps=rules.caps, log_texts=settings.llm_log_texts, log_days=settings.llm_log_days
        )
    return Caller(
        {LlmOperation(operation): [models[name] for name in chain] for operation, chain in chains.items()},
        rules=rules,
        count_tokens=counter.count,
        ledger=ledger,
        price=price_list(),
        closes=list(opened.values()),
    )


def make_llm(settings: Settings, name: str, tokens: Tokens) -> PydanticAiLlm:
    """The language model of that name. The key that is set is for `llm_url`, or else for the provider of `llm`."""
    if importlib.util.find_spec("pydantic_ai") is None:
        raise Unavailable(f"llm {name}: pip install 'perdure[llm]'")
    from perdure.models.pydantic_ai_llm import BY_URL, PydanticAiLlm, split_name

    def provider(model: str) -> str:
        return split_name(model, settings.llm_url)[0]

    keyed = BY_URL if settings.llm_url else provider(settings.llm) if settings.llm != "none" else ""
    of_url = (BY_URL, "ollama") if settings.llm_url else (keyed,)
    return PydanticAiLlm(
        name,
        tokens=tokens,
        url=settings.llm_url,
        key=settings.llm_key.get_secret_value() if provider(name) in of_url else "",
        window=settings.llm_window,
        reasoning=settings.llm_reasoning,
    )


def price_list() -> Price | None:
    """What tokens cost; None where the table of prices is not installed."""
    if importlib.util.find_spec("genai_prices") is None:
        return None
    from perdure.models.llm_prices import list_price

    return list_price


def make_tokens(settings: Settings) -> Tokens:
    """The token counter that the setting names."""
    from perdure.models.tokens import token_counter

    return token_counter(settings.tokens)


def open_notes(settings: Settings) -> Notes | None:
    """The folder of notes, if one is set."""
    if settings.notes_folder is None:
        return None
    from perdure.stores.notes_folder import NotesFolder

    return NotesFolder(settings.notes_folder)


def budget_plan(settings: Settings) -> BudgetPlan:
    """The recall budgets as set."""
    return BudgetPlan(
        fixed={
            Budget.LOW: settings.budget_low,
            Budget.MID: settings.budget_mid,
            Budget.HIGH: settings.budget_high,
        },
        adaptive=settings.budget_function == "adaptive",
        ratios={
            Budget.LOW: settings.adaptive_low,
            Budget.MID: settings.adaptive_mid,
            Budget.HIGH: settings.adaptive_high,
        },
        least=settings.budget_min,
        most=settings.budget_max,
    )
