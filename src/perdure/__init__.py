"""Perdure: long-term memory for AI agents.

Everything a user touches is exported here, and this is the only supported import path. Names load when they are first used:
`import perdure` itself loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.aio import AsyncPerdure
    from perdure.arguments import RecallArguments, SettingArguments
    from perdure.compose import copy_banks, encrypt_bank, secure_database
    from perdure.domain.audit import AuditEntry, Transport
    from perdure.domain.bank import Bank, Disposition, EmbeddingModel
    from perdure.domain.cron import Cron
    from perdure.domain.damage import Damage, Verification
    from perdure.domain.directive import Directive
    from perdure.domain.document_event import DocumentEvent, DocumentEventKind
    from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier, TurnSpan
    from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagOr, TagsMatch
    from perdure.domain.imported import (
        ImportedDocument,
        ImportedFact,
        ImportProgress,
        ImportReport,
        SkippedPart,
    )
    from perdure.domain.item import FellBack, Item, PassedOver, RetainResult, Superseded, UpdateMode
    from perdure.domain.knowledge import KnowledgeFile, KnowledgeMatch, KnowledgeNode, NodeKind
    from perdure.domain.llm_call import LlmCall, LlmCost
    from perdure.domain.mental_model import (
        DeltaOperations,
        MentalModel,
        MentalModelMatch,
        MentalModelVersion,
        ModelSection,
        ModelSentence,
        RefreshMode,
        RefreshOutcome,
        RefreshPreview,
        RefreshTrigger,
        Retraction,
        SeenFacts,
    )
    from perdure.domain.note import Note, NoteLine
    from perdure.domain.observation import Clause, Observation, Scope, ScopeRule, Subject
    from perdure.domain.operation import Operation, OperationStatus
    from perdure.domain.opinion import ConfidenceRates, EvidenceLabel, Opinion, OpinionEvidence, Polarity
    from perdure.domain.prompt import Prompt, Timeline
    from perdure.domain.question import Question, QuestionOption
    from perdure.domain.recall import (
        Budget,
        Candidate,
        ChannelRank,
        Degraded,
        Evidence,
        Hit,
        Precision,
        Query,
        RecallResult,
        Recollection,
        StageTime,
        Stance,
    )
    from perdure.domain.record import Record
    from perdure.domain.signals import FactSignals, QuestionSignals
    from perdure.domain.time import AsOf, Window
    from perdure.domain.webhook import Webhook, WebhookDelivery, WebhookHttp
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
    from perdure.llm.caller import LlmOperation
    from perdure.llm.health import LlmHealth, LlmStatus
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
    from perdure.ports.embedder import Embedder, LateInteraction, Matrix, Vector
    from perdure.ports.extractor import (
        BankContext,
        BankExtractor,
        Cause,
        ExtractedFact,
        Extractor,
        LocalFallback,
        OfferedFact,
        Replacement,
        Triple,
        Turn,
    )
    from perdure.ports.import_source import ImportSource
    from perdure.ports.llm import (
        ChatMessage,
        Finish,
        JsonSchema,
        Llm,
        LlmReply,
        LlmRequest,
        TokenUsage,
        Tool,
        ToolCall,
    )
    from perdure.ports.notes import Notes, WritableNotes
    from perdure.ports.reranker import Reranker
    from perdure.ports.store import BankStats, FactPage, IndexUsage, Order, Proof, Store, Traces
    from perdure.ports.tagger import Mention, Sentence, Tagger, Token
    from perdure.ports.telemetry import MemoryOperation, Observed, RecordText, Telemetry
    from perdure.ports.tokens import Tokens
    from perdure.recall.option_groups import Hints, Include, MinScores, Situation
    from perdure.recall.recipe import Blend, ChannelSpec, Recipe, View, ViewSpec
    from perdure.recall.recipes import RECIPES, find_recipe
    from perdure.reflect.directive_rules import DirectiveText
    from perdure.reflect.observations.progress import ConsolidationStatus
    from perdure.reflect.opinions.forming import OpinionReport
    from perdure.reflect.reflection import (
        DirectiveUse,
        MentalModelText,
        Reflection,
        ReflectionSentence,
        ReflectionStep,
        ReflectionTrace,
        ReflectionUsage,
    )
    from perdure.remote.client import connect, connect_async
    from perdure.retain.request import Content
    from perdure.settings import Settings
    from perdure.stores.sql.copying import BankCopy, BankEncryption
    from perdure.telemetry.otel import OpenTelemetry

__version__ = "0.1.0"

_EXPORTS = {
    "perdure.aio": "AsyncPerdure",
    "perdure.compose": "copy_banks encrypt_bank secure_database",
    "perdure.domain.audit": "AuditEntry Transport",
    "perdure.domain.bank": "Bank Disposition EmbeddingModel",
    "perdure.domain.cron": "Cron",
    "perdure.domain.damage": "Damage Verification",
    "perdure.domain.directive": "Directive",
    "perdure.domain.document_event": "DocumentEvent DocumentEventKind",
    "perdure.domain.fact": "Chunk Document Entity Fact FactType Link LinkKind Tier TurnSpan",
    "perdure.domain.filter": "Filter TagAnd TagExpression TagLeaf TagNot TagOr TagsMatch",
    "perdure.domain.imported": "ImportProgress ImportReport ImportedDocument ImportedFact SkippedPart",
    "perdure.domain.item": "FellBack Item PassedOver RetainResult Superseded UpdateMode",
    "perdure.domain.knowledge": "KnowledgeFile KnowledgeMatch KnowledgeNode NodeKind",
    "perdure.domain.llm_call": "LlmCall LlmCost",
    "perdure.domain.mental_model": "DeltaOperations MentalModel MentalModelMatch MentalModelVersion ModelSection ModelSentence RefreshMode RefreshOutcome RefreshPreview RefreshTrigger Retraction SeenFacts",
    "perdure.domain.note": "Note NoteLine",
    "perdure.domain.observation": "Clause Observation Scope ScopeRule Subject",
    "perdure.domain.operation": "Operation OperationStatus",
    "perdure.domain.opinion": "ConfidenceRates EvidenceLabel Opinion OpinionEvidence Polarity",
    "perdure.domain.prompt": "Prompt Timeline",
    "perdure.domain.question": "Question QuestionOption",
    "perdure.domain.recall": "Budget Candidate ChannelRank Degraded Evidence Hit Precision Query RecallResult Recollection StageTime Stance",
    "perdure.domain.record": "Record",
    "perdure.domain.signals": "FactSignals QuestionSignals",
    "perdure.domain.time": "AsOf Window",
    "perdure.domain.webhook": "Webhook WebhookDelivery WebhookHttp",
    "perdure.engine": "Perdure",
    "perdure.errors": "Busy Cancelled Conflict DamagedRow DeadlineExceeded Forbidden InvalidInput LlmBusy LlmCapReached LlmCut LlmError LlmInvalid LlmRefused ModelError ModelMismatch ModelMissing ModelTampered NotFound PerdureError ProviderError RefreshFailed StoreCorrupt StoreError StoreFull StoreLocked StoreReadOnly StoreUnreachable StoreVersion Unauthorised Unavailable Unreachable",
    "perdure.forget.preview": "ForgetPreview",
    "perdure.forget.target": "Forgotten",
    "perdure.llm.caller": "LlmOperation",
    "perdure.llm.health": "LlmHealth LlmStatus",
    "perdure.manage.backup": "Backup",
    "perdure.manage.exporting": "ExportReport",
    "perdure.arguments": "RecallArguments SettingArguments",
    "perdure.options": "DirectiveFields FactFields ItemFields KnowledgeNodeFields MentalModelFields WebhookFields WebhookOptions",
    "perdure.ports.clock": "Clock",
    "perdure.ports.embedder": "Embedder LateInteraction Matrix Vector",
    "perdure.ports.extractor": "BankContext BankExtractor Cause ExtractedFact Extractor LocalFallback OfferedFact Replacement Triple Turn",
    "perdure.ports.import_source": "ImportSource",
    "perdure.ports.llm": "ChatMessage Finish JsonSchema Llm LlmReply LlmRequest TokenUsage Tool ToolCall",
    "perdure.ports.notes": "Notes WritableNotes",
    "perdure.ports.reranker": "Reranker",
    "perdure.ports.store": "BankStats FactPage IndexUsage Order Proof Store Traces",
    "perdure.ports.tagger": "Mention Sentence Tagger Token",
    "perdure.ports.telemetry": "MemoryOperation Observed RecordText Telemetry",
    "perdure.ports.tokens": "Tokens",
    "perdure.recall.option_groups": "Hints Include MinScores Situation",
    "perdure.recall.recipe": "Blend ChannelSpec Recipe View ViewSpec",
    "perdure.recall.recipes": "RECIPES find_recipe",
    "perdure.reflect.observations.progress": "ConsolidationStatus",
    "perdure.reflect.directive_rules": "DirectiveText",
    "perdure.reflect.opinions.forming": "OpinionReport",
    "perdure.reflect.reflection": "DirectiveUse MentalModelText Reflection ReflectionSentence ReflectionStep ReflectionTrace ReflectionUsage",
    "perdure.remote.client": "connect connect_async",
    "perdure.retain.request": "Content",
    "perdure.settings": "Settings",
    "perdure.stores.sql.copying": "BankCopy BankEncryption",
    "perdure.telemetry.otel": "OpenTelemetry",
}
_HOME_OF = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = [
    "RECIPES",
    "AsOf",
    "AsyncPerdure",
    "AuditEntry",
    "Backup",
    "Bank",
    "BankContext",
    "BankCopy",
    "BankEncryption",
    "BankExtractor",
    "BankStats",
    "Blend",
    "Budget",
    "Busy",
    "Cancelled",
    "Candidate",
    "Cause",
    "ChannelRank",
    "ChannelSpec",
    "ChatMessage",
    "Chunk",
    "Clause",
    "Clock",
    "ConfidenceRates",
    "Conflict",
    "ConsolidationStatus",
    "Content",
    "Cron",
    "Damage",
    "DamagedRow",
    "DeadlineExceeded",
    "Degraded",
    "DeltaOperations",
    "Directive",
    "DirectiveFields",
    "DirectiveText",
    "DirectiveUse",
    "Disposition",
    "Document",
    "DocumentEvent",
    "DocumentEventKind",
    "Embedder",
    "EmbeddingModel",
    "Entity",
    "Evidence",
    "EvidenceLabel",
    "ExportReport",
    "ExtractedFact",
    "Extractor",
    "Fact",
    "FactFields",
    "FactPage",
    "FactSignals",
    "FactType",
    "FellBack",
    "Filter",
    "Finish",
    "Forbidden",
    "ForgetPreview",
    "Forgotten",
    "Hints",
    "Hit",
    "ImportProgress",
    "ImportReport",
    "ImportSource",
    "ImportedDocument",
    "ImportedFact",
    "Include",
    "IndexUsage",
    "InvalidInput",
    "Item",
    "ItemFields",
    "JsonSchema",
    "KnowledgeFile",
    "KnowledgeMatch",
    "KnowledgeNode",
    "KnowledgeNodeFields",
    "LateInteraction",
    "Link",
    "LinkKind",
    "Llm",
    "LlmBusy",
    "LlmCall",
    "LlmCapReached",
    "LlmCost",
    "LlmCut",
    "LlmError",
    "LlmHealth",
    "LlmInvalid",
    "LlmOperation",
    "LlmRefused",
    "LlmReply",
    "LlmRequest",
    "LlmStatus",
    "LocalFallback",
    "Matrix",
    "MemoryOperation",
    "MentalModel",
    "MentalModelFields",
    "MentalModelMatch",
    "MentalModelText",
    "MentalModelVersion",
    "Mention",
    "MinScores",
    "ModelError",
    "ModelMismatch",
    "ModelMissing",
    "ModelSection",
    "ModelSentence",
    "ModelTampered",
    "NodeKind",
    "NotFound",
    "Note",
    "NoteLine",
    "Notes",
    "Observation",
    "Observed",
    "OfferedFact",
    "OpenTelemetry",
    "Operation",
    "OperationStatus",
    "Opinion",
    "OpinionEvidence",
    "OpinionReport",
    "Order",
    "PassedOver",
    "Perdure",
    "PerdureError",
    "Polarity",
    "Precision",
    "Prompt",
    "Proof",
    "ProviderError",
    "Query",
    "Question",
    "QuestionOption",
    "QuestionSignals",
    "RecallArguments",
    "RecallResult",
    "Recipe",
    "Recollection",
    "Record",
    "RecordText",
    "Reflection",
    "ReflectionSentence",
    "ReflectionStep",
    "ReflectionTrace",
    "ReflectionUsage",
    "RefreshFailed",
    "RefreshMode",
    "RefreshOutcome",
    "RefreshPreview",
    "RefreshTrigger",
    "Replacement",
    "Reranker",
    "RetainResult",
    "Retraction",
    "Scope",
    "ScopeRule",
    "SeenFacts",
    "Sentence",
    "SettingArguments",
    "Settings",
    "Situation",
    "SkippedPart",
    "StageTime",
    "Stance",
    "Store",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "StoreReadOnly",
    "StoreUnreachable",
    "StoreVersion",
    "Subject",
    "Superseded",
    "TagAnd",
    "TagExpression",
    "TagLeaf",
    "TagNot",
    "TagOr",
    "Tagger",
    "TagsMatch",
    "Telemetry",
    "Tier",
    "Timeline",
    "Token",
    "TokenUsage",
    "Tokens",
    "Tool",
    "ToolCall",
    "Traces",
    "Transport",
    "Triple",
    "Turn",
    "TurnSpan",
    "Unauthorised",
    "Unavailable",
    "Unreachable",
    "UpdateMode",
    "Vector",
    "Verification",
    "View",
    "ViewSpec",
    "Webhook",
    "WebhookDelivery",
    "WebhookFields",
    "WebhookHttp",
    "WebhookOptions",
    "Window",
    "WritableNotes",
    "connect",
    "connect_async",
    "copy_banks",
    "encrypt_bank",
    "find_recipe",
    "secure_database",
]  # fmt: skip


def __getattr__(name: str) -> object:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
