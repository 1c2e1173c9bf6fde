"""The composition root: settings, and objects that the caller passes in, become the components of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from perdure.domain.recall import Budget
from perdure.errors import InvalidInput, Unavailable
from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder, LateInteraction
from perdure.ports.extractor import Extractor
from perdure.ports.llm import Llm
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.statements import StatementClassifier
from perdure.ports.store import Store
from perdure.ports.tagger import Tagger
from perdure.ports.tokens import Tokens
from perdure.recall.budget import BudgetPlan
from perdure.recall.components import RecallComponents
from perdure.recall.recipe import Recipe
from perdure.recall.track import RecallTracker
from perdure.recipes import find_recipe, named_recipes
from perdure.recipes.abmind import Decay
from perdure.reflect.components import LlmThinking, ReflectComponents
from perdure.retain.components import RetainComponents
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.llm.caller import Caller

CHANNEL_THREADS = 16


def present() -> datetime:
    """The present moment: the clock of an engine unless another one is passed in."""
    return datetime.now(UTC)


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


def compose(settings: Settings, clock: Clock = present, own: OwnComponents = OwnComponents()) -> Components:
    """Open the store and choose the models, which load when they are first used."""
    store = own.store or open_store(settings)
    embedder = own.embedder or make_embedder(settings)
    late = embedder if settings.late and isinstance(embedder, LateInteraction) else None
    tracker = RecallTracker(store)
    executor = ThreadPoolExecutor(max_workers=CHANNEL_THREADS, thread_name_prefix="perdure-channel")
    reranker = own.reranker or make_reranker(settings)
    llm = make_caller(settings, own.llm)
    recipes = named_recipes(
        Decay(days=settings.decay_days, floor=settings.decay_floor, emotion=settings.decay_emotion)
    )
    retain = RetainComponents(
        store=store,
        clock=clock,
        extractor=own.extractor or make_extractor(settings),
        embedder=embedder,
        late=late,
        reranker=reranker,
        statements=make_statement_classifier(settings),
        llm=llm,
    )
    recall = RecallComponents(
        store=store,
        clock=clock,
        tokens=own.tokens or make_tokens(settings),
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
    )


def open_store(settings: Settings) -> Store:
    """The store that the database setting names."""
    database = settings.database
    if "://" in database and not database.startswith("sqlite:///"):
        raise Unavailable(f"database {database.split('://')[0]}: only SQLite files are supported so far")
    path = database.removeprefix("sqlite:///")
    if not path:
        raise InvalidInput("database", "a file path or sqlite:/// URL", database)
    from perdure.stores.sqlite.store import SqliteStore

    return SqliteStore.open(
        path,
        synchronous=settings.synchronous,
        busy_timeout_ms=settings.busy_timeout_ms,
        index_memory_mb=settings.index_memory_mb,
    )


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


def make_extractor(settings: Settings) -> Extractor:
    """The extractor that the setting names, with the tagger that the other one names."""
    if settings.extractor == "verbatim":
        from perdure.extract.verbatim import VerbatimExtractor

        return VerbatimExtractor()
    from perdure.extract.local import LocalExtractor
    from perdure.models.rule_tagger import RuleTagger

    # The agent's own turns are long and say little about people: rules are enough for them.
    return LocalExtractor(make_tagger(settings), light=RuleTagger())


def make_caller(settings: Settings, own: Llm | None = None) -> Caller | None:
    """What asks language models; None where none is set, and then nothing of it is imported."""
    if own is None:
        if settings.llm != "none":
            raise Unavailable(f"llm {settings.llm}: pass an object to `open`")
        return None
    from perdure.llm.caller import Caller, LlmOperation

    return Caller({operation: [own] for operation in LlmOperation})


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
