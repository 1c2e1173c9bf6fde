"""The composition root: settings become adapters; the only place that chooses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from perdure.domain.recall import Budget
from perdure.errors import InvalidInput, Unavailable
from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder, LateInteraction
from perdure.ports.extractor import Extractor
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.store import Store
from perdure.ports.tokens import Tokens
from perdure.recall.budget import BudgetPlan
from perdure.recall.parts import RecallComponents
from perdure.recall.score_abmind import Decay
from perdure.retain.parts import RetainComponents
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.models.run_limiter import ModelRunLimiter
    from perdure.models.weights import Places

CHANNEL_THREADS = 16


def now() -> datetime:
    """The present."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """All that an engine is made of."""

    settings: Settings
    store: Store
    clock: Clock
    retain: RetainComponents
    recall: RecallComponents
    executor: ThreadPoolExecutor


def compose(settings: Settings, clock: Clock = now) -> Components:
    """Open the store and choose the models; models load when they are first used."""
    store = open_store(settings)
    embedder = choose_embedder(settings)
    late = choose_late(settings, embedder)
    executor = ThreadPoolExecutor(max_workers=CHANNEL_THREADS, thread_name_prefix="perdure-channel")
    return Components(
        settings=settings,
        store=store,
        clock=clock,
        retain=RetainComponents(
            store=store,
            extractor=choose_extractor(settings),
            clock=clock,
            embedder=embedder,
            late=late,
        ),
        recall=RecallComponents(
            store=store,
            tokens=choose_tokens(settings),
            clock=clock,
            executor=executor,
            embedder=embedder,
            late=late,
            reranker=choose_reranker(settings),
            notes=choose_notes(settings),
            budgets=budget_plan(settings),
            pool=settings.rerank_pool,
            channel_timeout=settings.channel_timeout,
            decay=Decay(days=settings.decay_days, floor=settings.decay_floor, emotion=settings.decay_emotion),
            similarity_floor=settings.similarity_floor,
        ),
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


def choose_embedder(settings: Settings) -> Embedder | None:
    """The embedder by name."""
    if settings.embedder == "none":
        return None
    if settings.embedder == "hashing":
        from perdure.models.hashing import HashingEmbedder

        return HashingEmbedder()
    if settings.embedder == "http":
        return _http_embedder(settings)
    from perdure.models.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder(settings.embedder, places(settings), limiter=cores(settings))


def _http_embedder(settings: Settings) -> Embedder:
    from perdure.models.providers import OllamaEmbedder, OpenAIEmbedder

    kind = OllamaEmbedder if settings.embedding_protocol == "ollama" else OpenAIEmbedder
    return kind(
        settings.embedding_url,
        settings.embedding_model,
        dimensions=settings.embedding_dimensions,
        key=settings.embedding_key.get_secret_value(),
        timeout=settings.provider_timeout,
    )


def choose_late(settings: Settings, embedder: Embedder | None) -> LateInteraction | None:
    """Late interaction over the embedder's own token states, where it has them."""
    return embedder if settings.late and isinstance(embedder, LateInteraction) else None


def choose_reranker(settings: Settings) -> Reranker | None:
    """The reranker by name."""
    if settings.reranker == "none":
        return None
    if settings.reranker == "http":
        return _http_reranker(settings)
    from perdure.models.onnx_reranker import OnnxReranker

    return OnnxReranker(settings.reranker, places(settings), limiter=cores(settings))


def _http_reranker(settings: Settings) -> Reranker:
    from perdure.models.providers import CohereReranker, TeiReranker

    kind = TeiReranker if settings.rerank_protocol == "tei" else CohereReranker
    return kind(
        settings.rerank_url,
        settings.rerank_model,
        key=settings.rerank_key.get_secret_value(),
        timeout=settings.provider_timeout,
    )


def choose_extractor(settings: Settings) -> Extractor:
    """The extractor by name, with the best tagger at hand."""
    if settings.extractor == "verbatim":
        from perdure.extract.verbatim import VerbatimExtractor

        return VerbatimExtractor()
    from perdure.extract.local import LocalExtractor
    from perdure.models.rule_tagger import RuleTagger
    from perdure.models.spacy_tagger import choose_tagger

    # The agent's own turns are long and say little about people: rules are enough for them.
    return LocalExtractor(choose_tagger(settings.tagger), light=RuleTagger())


def choose_tokens(settings: Settings) -> Tokens:
    """The token counter by name."""
    from perdure.models.tokens import token_counter

    return token_counter(settings.tokens)


def places(settings: Settings) -> Places:
    """Where model files may be."""
    from perdure.models.weights import Places

    return Places(store=settings.models_folder, allow_download=settings.allow_download)


def cores(settings: Settings) -> ModelRunLimiter:
    """The budget of simultaneous model runs, one for all models of the process."""
    from perdure.models.run_limiter import shared_run_limiter

    return shared_run_limiter(settings.threads)


def choose_notes(settings: Settings) -> Notes | None:
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
