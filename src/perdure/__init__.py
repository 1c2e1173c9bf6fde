"""Perdure: long-term memory for AI agents.

What most programs need is exported here; types that only rare verbs return are in `perdure.domain`, and the ports of own
components in `perdure.ports`. Names load when they are first used: `import perdure` itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.aio import AsyncPerdure
    from perdure.arguments import RecallArguments, SettingArguments
    from perdure.domain.bank import Bank, Disposition, EmbeddingModel
    from perdure.domain.damage import Verification
    from perdure.domain.directive import Directive
    from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier
    from perdure.domain.filter import Filter, TagAnd, TagLeaf, TagNot, TagOr, TagsMatch
    from perdure.domain.imported import ImportedDocument, ImportedFact, ImportProgress, ImportReport
    from perdure.domain.item import Item, RetainResult, UpdateMode
    from perdure.domain.knowledge import KnowledgeNode
    from perdure.domain.llm_call import LlmCall, LlmCost
    from perdure.domain.mental_model import MentalModel, RefreshMode, RefreshTrigger
    from perdure.domain.note import Note
    from perdure.domain.observation import Observation
    from perdure.domain.operation import Operation, OperationStatus
    from perdure.domain.opinion import Opinion
    from perdure.domain.question import Question
    from perdure.domain.recall import Budget, Evidence, Precision, RecallResult, Recollection
    from perdure.domain.record import Record
    from perdure.domain.time import AsOf, Window
    from perdure.domain.webhook import Webhook, WebhookHttp
    from perdure.engine import Perdure
    from perdure.errors import (
        Busy,
        Cancelled,
        Conflict,
        DamagedRow,
        DeadlineExceeded,
        Forbidden,
        InvalidInput,
        LlmBusy,
        LlmCapReached,
        LlmCut,
        LlmError,
        LlmInvalid,
        LlmRefused,
        ModelError,
        ModelMismatch,
        ModelMissing,
        ModelTampered,
        NotFound,
        PerdureError,
        ProviderError,
        RefreshFailed,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreLocked,
        StoreReadOnly,
        StoreUnreachable,
        StoreVersion,
        Unauthorised,
        Unavailable,
        Unreachable,
    )
    from perdure.forget.preview import ForgetPreview
    from perdure.forget.target import Forgotten
    from perdure.manage.exporting import ExportReport
    from perdure.ports.clock import Clock
    from perdure.ports.embedder import Embedder, Matrix, Vector
    from perdure.ports.extractor import ExtractedFact, Extractor
    from perdure.ports.import_source import ImportSource
    from perdure.ports.llm import ChatMessage, Llm, LlmReply, LlmRequest, TokenUsage
    from perdure.ports.notes import Notes
    from perdure.ports.reranker import Reranker
    from perdure.ports.store import BankStats, FactPage, Order, Store
    from perdure.ports.tagger import Tagger
    from perdure.ports.telemetry import Telemetry
    from perdure.ports.tokens import Tokens
    from perdure.recall.option_groups import Hints, Include, MinScores
    from perdure.recall.recipe import ChannelSpec, Recipe
    from perdure.recall.recipes import RECIPES
    from perdure.reflect.reflection import Reflection
    from perdure.remote.client import connect, connect_async
    from perdure.retain.request import Content
    from perdure.settings import Settings
    from perdure.telemetry.otel import OpenTelemetry

__version__ = "0.1.0"

_EXPORTS = {
    "perdure.aio": "AsyncPerdure",
    "perdure.arguments": "RecallArguments SettingArguments",
    "perdure.domain.bank": "Bank Disposition EmbeddingModel",
    "perdure.domain.damage": "Verification",
    "perdure.domain.directive": "Directive",
    "perdure.domain.fact": "Chunk Document Entity Fact FactType Link LinkKind Tier",
    "perdure.domain.filter": "Filter TagAnd TagLeaf TagNot TagOr TagsMatch",
    "perdure.domain.imported": "ImportProgress ImportReport ImportedDocument ImportedFact",
    "perdure.domain.item": "Item RetainResult UpdateMode",
    "perdure.domain.knowledge": "KnowledgeNode",
    "perdure.domain.llm_call": "LlmCall LlmCost",
    "perdure.domain.mental_model": "MentalModel RefreshMode RefreshTrigger",
    "perdure.domain.note": "Note",
    "perdure.domain.observation": "Observation",
    "perdure.domain.operation": "Operation OperationStatus",
    "perdure.domain.opinion": "Opinion",
    "perdure.domain.question": "Question",
    "perdure.domain.recall": "Budget Evidence Precision RecallResult Recollection",
    "perdure.domain.record": "Record",
    "perdure.domain.time": "AsOf Window",
    "perdure.domain.webhook": "Webhook WebhookHttp",
    "perdure.engine": "Perdure",
    "perdure.errors": "Busy Cancelled Conflict DamagedRow DeadlineExceeded Forbidden InvalidInput LlmBusy LlmCapReached LlmCut LlmError LlmInvalid LlmRefused ModelError ModelMismatch ModelMissing ModelTampered NotFound PerdureError ProviderError RefreshFailed StoreCorrupt StoreError StoreFull StoreLocked StoreReadOnly StoreUnreachable StoreVersion Unauthorised Unavailable Unreachable",
    "perdure.forget.preview": "ForgetPreview",
    "perdure.forget.target": "Forgotten",
    "perdure.manage.exporting": "ExportReport",
    "perdure.ports.clock": "Clock",
    "perdure.ports.embedder": "Embedder Matrix Vector",
    "perdure.ports.extractor": "ExtractedFact Extractor",
    "perdure.ports.import_source": "ImportSource",
    "perdure.ports.llm": "ChatMessage Llm LlmReply LlmRequest TokenUsage",
    "perdure.ports.notes": "Notes",
    "perdure.ports.reranker": "Reranker",
    "perdure.ports.store": "BankStats FactPage Order Store",
    "perdure.ports.tagger": "Tagger",
    "perdure.ports.telemetry": "Telemetry",
    "perdure.ports.tokens": "Tokens",
    "perdure.recall.option_groups": "Hints Include MinScores",
    "perdure.recall.recipe": "ChannelSpec Recipe",
    "perdure.recall.recipes": "RECIPES",
    "perdure.reflect.reflection": "Reflection",
    "perdure.remote.client": "connect connect_async",
    "perdure.retain.request": "Content",
    "perdure.settings": "Settings",
    "perdure.telemetry.otel": "OpenTelemetry",
}
_HOME_OF = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = [
    "RECIPES",
    "AsOf",
    "AsyncPerdure",
    "Bank",
    "BankStats",
    "Budget",
    "Busy",
    "Cancelled",
    "ChannelSpec",
    "ChatMessage",
    "Chunk",
    "Clock",
    "Conflict",
    "Content",
    "DamagedRow",
    "DeadlineExceeded",
    "Directive",
    "Disposition",
    "Document",
    "Embedder",
    "EmbeddingModel",
    "Entity",
    "Evidence",
    "ExportReport",
    "ExtractedFact",
    "Extractor",
    "Fact",
    "FactPage",
    "FactType",
    "Filter",
    "Forbidden",
    "ForgetPreview",
    "Forgotten",
    "Hints",
    "ImportProgress",
    "ImportReport",
    "ImportSource",
    "ImportedDocument",
    "ImportedFact",
    "Include",
    "InvalidInput",
    "Item",
    "KnowledgeNode",
    "Link",
    "LinkKind",
    "Llm",
    "LlmBusy",
    "LlmCall",
    "LlmCapReached",
    "LlmCost",
    "LlmCut",
    "LlmError",
    "LlmInvalid",
    "LlmRefused",
    "LlmReply",
    "LlmRequest",
    "Matrix",
    "MentalModel",
    "MinScores",
    "ModelError",
    "ModelMismatch",
    "ModelMissing",
    "ModelTampered",
    "NotFound",
    "Note",
    "Notes",
    "Observation",
    "OpenTelemetry",
    "Operation",
    "OperationStatus",
    "Opinion",
    "Order",
    "Perdure",
    "PerdureError",
    "Precision",
    "ProviderError",
    "Question",
    "RecallArguments",
    "RecallResult",
    "Recipe",
    "Recollection",
    "Record",
    "Reflection",
    "RefreshFailed",
    "RefreshMode",
    "RefreshTrigger",
    "Reranker",
    "RetainResult",
    "SettingArguments",
    "Settings",
    "Store",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "StoreReadOnly",
    "StoreUnreachable",
    "StoreVersion",
    "TagAnd",
    "TagLeaf",
    "TagNot",
    "TagOr",
    "Tagger",
    "TagsMatch",
    "Telemetry",
    "Tier",
    "TokenUsage",
    "Tokens",
    "Unauthorised",
    "Unavailable",
    "Unreachable",
    "UpdateMode",
    "Vector",
    "Verification",
    "Webhook",
    "WebhookHttp",
    "Window",
    "connect",
    "connect_async",
]


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
