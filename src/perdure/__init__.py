"""Perdure: long-term memory for AI agents.

Everything a user touches is exported here, and this is the only supported import path. Names load when they are first used:
`import perdure` itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.aio import AsyncPerdure
    from perdure.domain.bank import Bank, Disposition, EmbeddingModel
    from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier, TurnSpan
    from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagOr, TagsMatch
    from perdure.domain.item import Item, PassedOver, RetainResult, Superseded, UpdateMode
    from perdure.domain.operation import Operation, OperationStatus
    from perdure.domain.recall import (
        Budget,
        Candidate,
        ChannelRank,
        Degraded,
        Evidence,
        Hit,
        Query,
        RecallResult,
        Recollection,
        StageTime,
        Stance,
    )
    from perdure.domain.record import Record
    from perdure.domain.time import AsOf, Window
    from perdure.engine import Perdure
    from perdure.errors import (
        Busy,
        Conflict,
        DeadlineExceeded,
        InvalidInput,
        ModelError,
        ModelMismatch,
        ModelMissing,
        ModelTampered,
        NotFound,
        PerdureError,
        ProviderError,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreLocked,
        StoreReadOnly,
        StoreTooNew,
        Unauthorised,
        Unavailable,
    )
    from perdure.forget.target import Forgotten
    from perdure.options import FactFields, ItemFields, RecallOptions, SettingOptions
    from perdure.ports.clock import Clock
    from perdure.ports.embedder import Embedder, LateInteraction, Matrix, Vector
    from perdure.ports.extractor import Cause, ExtractedFact, Extractor, Triple, Turn
    from perdure.ports.notes import Notes
    from perdure.ports.reranker import Reranker
    from perdure.ports.store import BankStats, FactPage, Order, Store, Traces
    from perdure.ports.tagger import Mention, Sentence, Tagger, Token
    from perdure.ports.tokens import Tokens
    from perdure.recall.options import Hints, Include, MinScores, Situation
    from perdure.recall.recipe import Blend, ChannelSpec, Recipe, View, ViewSpec
    from perdure.recipes import RECIPES, find_recipe
    from perdure.reflect.directive_rules import DirectiveText
    from perdure.reflect.reflection import (
        DirectiveUse,
        MentalModelText,
        Reflection,
        ReflectionSentence,
        ReflectionStep,
        ReflectionTrace,
        ReflectionUsage,
    )
    from perdure.retain.request import Content
    from perdure.settings import Settings

__version__ = "0.1.0"

_EXPORTS = {
    "perdure.aio": "AsyncPerdure",
    "perdure.domain.bank": "Bank Disposition EmbeddingModel",
    "perdure.domain.fact": "Chunk Document Entity Fact FactType Link LinkKind Tier TurnSpan",
    "perdure.domain.filter": "Filter TagAnd TagExpression TagLeaf TagNot TagOr TagsMatch",
    "perdure.domain.item": "Item PassedOver RetainResult Superseded UpdateMode",
    "perdure.domain.operation": "Operation OperationStatus",
    "perdure.domain.recall": "Budget Candidate ChannelRank Degraded Evidence Hit Query RecallResult Recollection StageTime Stance",
    "perdure.domain.record": "Record",
    "perdure.domain.time": "AsOf Window",
    "perdure.engine": "Perdure",
    "perdure.errors": "Busy Conflict DeadlineExceeded InvalidInput ModelError ModelMismatch ModelMissing ModelTampered NotFound PerdureError ProviderError StoreCorrupt StoreError StoreFull StoreLocked StoreReadOnly StoreTooNew Unauthorised Unavailable",
    "perdure.forget.target": "Forgotten",
    "perdure.options": "FactFields ItemFields RecallOptions SettingOptions",
    "perdure.ports.clock": "Clock",
    "perdure.ports.embedder": "Embedder LateInteraction Matrix Vector",
    "perdure.ports.extractor": "Cause ExtractedFact Extractor Triple Turn",
    "perdure.ports.notes": "Notes",
    "perdure.ports.reranker": "Reranker",
    "perdure.ports.store": "BankStats FactPage Order Store Traces",
    "perdure.ports.tagger": "Mention Sentence Tagger Token",
    "perdure.ports.tokens": "Tokens",
    "perdure.recall.options": "Hints Include MinScores Situation",
    "perdure.recall.recipe": "Blend ChannelSpec Recipe View ViewSpec",
    "perdure.recipes": "RECIPES find_recipe",
    "perdure.reflect.directive_rules": "DirectiveText",
    "perdure.reflect.reflection": "DirectiveUse MentalModelText Reflection ReflectionSentence ReflectionStep ReflectionTrace ReflectionUsage",
    "perdure.retain.request": "Content",
    "perdure.settings": "Settings",
}
_HOME_OF = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = [
    "RECIPES", "AsOf", "AsyncPerdure", "Bank", "BankStats", "Blend", "Budget", "Busy", "Candidate", "Cause",
    "ChannelRank", "ChannelSpec", "Chunk", "Clock", "Conflict", "Content", "DeadlineExceeded", "Degraded", "DirectiveText",
    "DirectiveUse", "Disposition", "Document", "Embedder", "EmbeddingModel", "Entity", "Evidence", "ExtractedFact",
    "Extractor", "Fact", "FactFields", "FactPage", "FactType", "Filter", "Forgotten", "Hints", "Hit",
    "Include", "InvalidInput", "Item", "ItemFields", "LateInteraction", "Link", "LinkKind", "Matrix",
    "MentalModelText", "Mention", "MinScores", "ModelError", "ModelMismatch", "ModelMissing", "ModelTampered", "NotFound",
    "Notes", "Operation", "OperationStatus", "Order", "PassedOver", "Perdure", "PerdureError", "ProviderError", "Query",
    "RecallOptions", "RecallResult", "Recipe", "Recollection", "Record", "Reflection",
    "ReflectionSentence", "ReflectionStep", "ReflectionTrace", "ReflectionUsage", "Reranker",
    "RetainResult", "Sentence", "SettingOptions", "Settings", "Situation", "StageTime", "Stance", "Store",
    "StoreCorrupt", "StoreError", "StoreFull", "StoreLocked", "StoreReadOnly", "StoreTooNew", "Superseded",
    "TagAnd", "TagExpression", "TagLeaf", "TagNot", "TagOr", "Tagger", "TagsMatch", "Tier", "Token",
    "Tokens", "Traces", "Triple", "Turn", "TurnSpan", "Unauthorised", "Unavailable", "UpdateMode", "Vector",
    "View", "ViewSpec", "Window", "__version__", "find_recipe",
]  # fmt: skip


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
