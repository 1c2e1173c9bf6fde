"""The composition root: settings, and objects that the caller passes in, become the components of a memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from inspect import getattr_static
from typing import ParamSpec, TypeVar

from perdure.adapters import (
    make_caller,
    make_embedder,
    make_extractor,
    make_local_extractor,
    make_reader,
    make_reranker,
    make_telemetry,
    make_tokens,
    open_notes,
)
from perdure.databases import open_store
from perdure.domain.recall import Budget
from perdure.errors import InvalidInput, StoreError
from perdure.jobs.background import BackgroundRules
from perdure.ports.clock import Clock, present
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import Extractor
from perdure.ports.llm import Llm
from perdure.ports.notes import Notes
from perdure.ports.reader import Reader
from perdure.ports.reranker import Reranker
from perdure.ports.store import Store
from perdure.ports.telemetry import Telemetry
from perdure.ports.tokens import Tokens
from perdure.recall.budget import BudgetPlan
from perdure.recall.components import RecallComponents
from perdure.recall.recipe import Recipe
from perdure.recall.recipes import find_recipe, named_recipes
from perdure.recall.recipes.abmind import Decay
from perdure.recall.track import RecallTracker
from perdure.reflect.components import LlmThinking, ReflectComponents
from perdure.reflect.opinions.judging import ReaderJudge
from perdure.retain.changes import ReaderEffects
from perdure.retain.components import RetainComponents
from perdure.settings import Settings

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
CHANNEL_THREADS = 16


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
    reader: Reader | None = None
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


_PORTS: Mapping[str, type] = {
    "embedder": Embedder,
    "reranker": Reranker,
    "reader": Reader,
    "extractor": Extractor,
    "tokens": Tokens,
    "llm": Llm,
}


def _check_members(own: OwnComponents) -> None:
    """Raise `InvalidInput` for an object of the caller's that lacks a member of its port."""
    for name, port in _PORTS.items():
        component = getattr(own, name)
        needed = (member for member in vars(port) if not member.startswith("_"))
        missing = [member for member in needed if not _has_member(component, member)]
        if component is not None and missing:
            expected = f"an object with {', '.join(missing)}, as perdure.ports.{name}.{port.__name__} says"
            raise InvalidInput(name, expected, type(component).__name__)


def _has_member(component: object, name: str) -> bool:
    """Return whether an object has a member; a property is not computed for it."""
    return getattr_static(component, name, None) is not None or hasattr(component, name)


def compose(settings: Settings, clock: Clock = present, own: OwnComponents = OwnComponents()) -> Components:
    """Open the store and choose the models, which load when they are first used."""
    _check_members(own)
    if own.llm is not None and own.extractor is None and "extractor" not in settings.model_fields_set:
        log.warning(
            "the language model is not asked at retain: extractor='llm' or 'refine' has it word facts"
        )
    store = own.store or open_store(settings)
    embedder = own.embedder or make_embedder(settings)
    tracker = RecallTracker(store)
    executor = ChannelThreads(settings.shown_database)
    reader = own.reader or make_reader(settings)
    tokens = own.tokens or make_tokens(settings)
    telemetry = own.telemetry or make_telemetry(settings)
    llm = make_caller(settings, own.llm, store=store, clock=clock, tokens=tokens, telemetry=telemetry)
    recipes = named_recipes(
        Decay(days=settings.decay_days, floor=settings.decay_floor, emotion=settings.decay_emotion)
    )
    if own.reranker is not None:
        recipes["default"] = replace(recipes["default"], cross_pool=recipes["default"].read)
    extractor = own.extractor or make_extractor(settings, llm)
    retain = RetainComponents(
        judge=ReaderEffects(reader) if reader is not None else None,
        store=store,
        clock=clock,
        extractor=extractor,
        embedder=embedder,
        llm=llm,
        telemetry=telemetry,
    )
    recall = RecallComponents(
        store=store,
        clock=clock,
        tokens=tokens,
        executor=executor,
        embedder=embedder,
        reranker=own.reranker or make_reranker(reader),
        reader=reader,
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
            evidence_judge=ReaderJudge(reader) if reader is not None else None,
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


def budget_plan(settings: Settings) -> BudgetPlan:
    """Return the recall budgets of the settings."""
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
