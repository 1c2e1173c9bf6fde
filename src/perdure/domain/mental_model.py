"""A mental model: a standing question of the user, and the document that answers it from memory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import unified_diff
from enum import StrEnum

from perdure.domain.cron import Cron
from perdure.domain.fact import FactType
from perdure.domain.filter import TagsMatch, read_tags
from perdure.domain.item import check_tags
from perdure.domain.options import NOT_MCP, Options, option, read_name, read_strings
from perdure.domain.plain import to_plain
from perdure.errors import InvalidInput

PLACEHOLDER = "Generating content..."
"""The content until the first refresh."""
MIN_TOKENS, MAX_TOKENS, DEFAULT_TOKENS = 256, 8192, 2048
MAX_HISTORY = 50
MAX_COUNT = 1_000_000_000
"""Seconds of an interval, or tokens; dates cannot overflow below it."""
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


def _read_json(value: object, name: str) -> object:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(name, "JSON without lone surrogates, NaN and infinities") from error
    return value


def _read_cron(value: object, name: str) -> str | None:
    text = value.strip() if isinstance(value, str) else value
    if not text:
        return None
    Cron.read(text, name)  # type: ignore[arg-type]
    return str(text)


def _read_types(value: object, name: str) -> tuple[FactType, ...] | None:
    if value is None:
        return None
    types = tuple(dict.fromkeys(read_name(FactType, kind, name) for kind in read_strings(value, name)))
    if not types:
        raise InvalidInput(name, "at least one type, or none at all", value)
    return types


def _read_groups(value: object, name: str) -> tuple[Mapping[str, object], ...] | None:
    if value is None:
        return None
    groups: Sequence[Mapping[str, object]] = value  # type: ignore[assignment]
    read_tags(None, TagsMatch.ANY, groups)
    _read_json(groups, name)
    return tuple(groups)


def _read_schema(value: object, name: str) -> object:
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput(name, "a JSON Schema of an object", value)
    return _read_json(value, name)


class RefreshMode(StrEnum):
    """How a refresh writes the document."""

    FULL = "full"
    """From everything in scope."""
    DELTA = "delta"
    """As `full`, but only if something in scope is new or no longer holds."""


class RefreshOutcome(StrEnum):
    """What a refresh did with the document."""

    WRITTEN = "content_written"
    UNCHANGED = "content_unchanged"
    NO_NEW_FACTS = "content_preserved_no_new_facts"
    EMPTY = "refresh_failed_empty_candidate"
    STRUCTURED_FAILED = "refresh_failed_structured_output"
    MODEL_FAILED = "refresh_failed_language_model"

    @property
    def failed(self) -> bool:
        """Return whether content and watermark stay as they were."""
        return self in (
            RefreshOutcome.EMPTY,
            RefreshOutcome.STRUCTURED_FAILED,
            RefreshOutcome.MODEL_FAILED,
        )


REFRESH_FAILURES = {
    RefreshOutcome.EMPTY: "memory holds nothing in scope that answers its question",
    RefreshOutcome.STRUCTURED_FAILED: "a required field of its response_schema needs a language model",
    RefreshOutcome.MODEL_FAILED: "the language model gave no document; the one that there is was kept",
}
"""Why a refresh kept the content, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTrigger(Options):
    """When a model refreshes automatically, how, and from which facts."""

    mode: RefreshMode = option(RefreshMode.FULL, "From everything in scope, or sentence by sentence.")
    refresh_after_consolidation: bool = option(False, "Whether a consolidation refreshes it.")
    refresh_cron: str | None = option(
        None, "Schedule of five fields, in UTC; not with refresh_after_consolidation.", read=_read_cron
    )
    min_refresh_interval_seconds: int | None = option(
        None, "Between two automatic refreshes; as the bank says by default.", at_least=0, at_most=MAX_COUNT
    )
    fact_types: tuple[FactType, ...] | None = option(None, "Only facts of these types.", read=_read_types)
    exclude_mental_models: bool = option(False, "Whether other models are left out.")
    exclude_mental_model_ids: tuple[str, ...] | None = option(None, "Models that are left out.")
    tags_match: TagsMatch | None = option(
        None, "How tags must match: by default all_strict for a model with tags, any for one without."
    )
    tag_groups: tuple[Mapping[str, object], ...] | None = option(
        None, "Expressions on tags in place of the model's own tags.", read=_read_groups
    )
    include_chunks: bool | None = option(None, "Accepted for compatibility with Hindsight.")
    recall_max_tokens: int | None = option(None, "Tokens of facts to read.", at_least=0, at_most=MAX_COUNT)
    recall_chunks_max_tokens: int | None = option(
        None, "Tokens of chunks to read.", at_least=0, at_most=MAX_COUNT
    )
    response_schema: Mapping[str, object] | None = option(
        None, "JSON Schema of the structured output.", read=_read_schema
    )
    keep_trace: bool = option(False, "Whether a refresh keeps how it came to its result.")

    def _complete(self) -> None:
        if self.refresh_cron is not None and self.refresh_after_consolidation:
            raise InvalidInput("refresh_cron", "a schedule or refresh_after_consolidation, not both")

    def merged(self, changes: Mapping[str, object]) -> RefreshTrigger:
        """Return the trigger with changed fields; setting one kind of automatic refresh clears the other."""
        merged = {**self.given(), **changes}
        cron = changes.get("refresh_cron")
        if isinstance(cron, str) and cron.strip() and "refresh_after_consolidation" not in changes:
            merged["refresh_after_consolidation"] = False
        if changes.get("refresh_after_consolidation") and "refresh_cron" not in changes:
            merged["refresh_cron"] = None
        return read_trigger(merged, "trigger")


def read_trigger(value: object, name: str = "trigger") -> RefreshTrigger:
    """Return a trigger from its fields; missing ones, and None, mean the default."""
    if isinstance(value, RefreshTrigger):
        return value
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput(name, "a RefreshTrigger or an object with its fields", value)
    try:
        return RefreshTrigger.read({key: part for key, part in (value or {}).items() if part is not None})
    except InvalidInput as error:
        raise error.renamed(f"{name}.{error.field}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class MentalModelOptions(Options):
    """Options of a mental model when it is created."""

    tags: frozenset[str] = option(
        frozenset(), "Tags that its facts must all carry; also found by them.", flag="--tag"
    )
    max_tokens: int = option(
        DEFAULT_TOKENS, "Size of the document in tokens.", at_least=MIN_TOKENS, at_most=MAX_TOKENS
    )
    trigger: RefreshTrigger = option(
        RefreshTrigger(), "When it is refreshed by itself, how, and from which facts.", on=NOT_MCP,
        read=read_trigger, accepts=RefreshTrigger | Mapping[str, object] | None,
    )  # fmt: skip

    def _complete(self) -> None:
        check_tags(self.tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class MentalModelChanges(MentalModelOptions):
    """What may be changed of a mental model; its content is written by refreshes alone."""

    name: str = option("", "What it is called.", at_least=1)
    source_query: str = option("", "The question that it answers.", at_least=1, flag="--question")


@dataclass(frozen=True, slots=True)
class ModelSentence:
    """A sentence of a document and the facts that it cites."""

    text: str
    fact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelSection:
    """Sentences about one topic; without a heading if the document has only one section."""

    heading: str
    sentences: tuple[ModelSentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFacts:
    """The watermark of a document: the facts in scope when it was written."""

    newest: tuple[str, ...] = ()
    """Ids of the facts in scope that were recorded last, newest first."""
    total: int = 0
    """Number of facts in scope, closed ones included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MentalModel(MentalModelChanges):
    """A standing question with the document that answers it; every sentence cites facts."""

    id: str
    bank: str
    sections: tuple[ModelSection, ...] = ()
    generated: bool = False
    """Whether it was ever written or cleared; before, its content is the placeholder."""
    seen: SeenFacts = field(default_factory=SeenFacts)
    retracted: bool = False
    """Whether sentences were removed with forgotten facts since the last refresh."""
    last_query: str | None = None
    """The question of the last refresh; None if the next one has to be full."""
    last_refreshed_at: datetime | None = None
    last_full_refreshed_at: datetime | None = None
    last_refresh_failed_at: datetime | None = None
    last_memory_seen_at: datetime | None = None
    cron_ticked_at: datetime | None = None
    """The last moment of the schedule that was handled, with or without a refresh."""
    refresh_skipped: str | None = None
    """Why the last refresh wrote nothing although it should have."""
    written_by: str = ""
    """The version of the prompt and the model that wrote the document; empty for one without a model."""
    refresh_failures: int = 0
    """Number of consecutive failures of the language model to refresh it."""
    structured_output: Mapping[str, object] | None = None
    structured_fact_ids: tuple[str, ...] = ()
    trace: Mapping[str, object] | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def tags_match(self) -> TagsMatch:
        """Return how tags are matched: by default strictly if the model has some."""
        default = TagsMatch.ALL_STRICT if self.tags else TagsMatch.ANY
        return self.trigger.tags_match or default

    def _complete(self) -> None:
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise InvalidInput("id", "lower case letters, digits and hyphens, at most 128", self.id)
        MentalModelOptions._complete(self)

    @property
    def content(self) -> str:
        """Return the document as Markdown."""
        return render_sections(self.sections) if self.generated else PLACEHOLDER

    @property
    def cited_fact_ids(self) -> tuple[str, ...]:
        return cited_ids(self.sections)


@dataclass(frozen=True, slots=True, kw_only=True)
class MentalModelVersion:
    """A previous state of a document."""

    content: str
    fact_ids: tuple[str, ...]
    changed_at: datetime
    trace: Mapping[str, object] | None = None
    written_by: str = ""


@dataclass(frozen=True, slots=True)
class MentalModelMatch:
    """A search result; the score is the sum of reciprocal ranks, as a share of the highest possible."""

    model: MentalModel
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaOperations:
    """The changes of a delta refresh to the sentences of a document."""

    applied: tuple[Mapping[str, object], ...] = ()
    skipped: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """Facts that a document cites and that no longer hold; their sentences are removed."""

    fact_ids: tuple[str, ...]
    fact_texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshPreview:
    """Everything that a refresh would do, or did."""

    model: MentalModel
    """As it was before."""
    requested_mode: RefreshMode
    effective_mode: RefreshMode
    mode_fallback_reason: str | None = None
    outcome: RefreshOutcome
    candidate: tuple[ModelSection, ...] = ()
    """A document made of the retrieved facts alone."""
    sections: tuple[ModelSection, ...] = ()
    """The document after the refresh."""
    seen: SeenFacts = field(default_factory=SeenFacts)
    newest_seen_at: datetime | None = None
    snapshot_at: datetime
    read_after: datetime | None = None
    """Of a delta: only facts recorded after this watermark were read."""
    retrieved: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    operations: DeltaOperations | None = None
    retraction: Retraction | None = None
    structured_output: Mapping[str, object] | None = None
    structured_fact_ids: tuple[str, ...] = ()
    duration_ms: int = 0
    recall_ms: int = 0
    warnings: tuple[str, ...] = ()
    written_by: str = ""
    llm_calls: tuple[Mapping[str, object], ...] = ()
    model_failed: bool = False
    """Whether the configured language model failed, so that the document was only shortened or composed."""

    def trace(self, now: datetime) -> dict[str, object]:
        """Return how the refresh came to its result, without any text of memory."""
        retraction = self.retraction
        return {
            "recorded_at": now.isoformat(),
            "effective_mode": self.effective_mode.value,
            "mode_fallback_reason": self.mode_fallback_reason,
            "outcome": self.outcome.value,
            "tool_calls": [
                {
                    "tool": "recall",
                    "input": {"query": self.model.source_query},
                    "result_count": sum(self.retrieved.values()),
                    "duration_ms": self.recall_ms,
                    "iteration": 1,
                }
            ],
            "llm_calls": [dict(call) for call in self.llm_calls],
            "delta_operations": to_plain(self.operations),
            "retraction": None
            if retraction is None
            else {
                "fact_ids": list(retraction.fact_ids),
                "fact_texts": [],
                "applied": not self.outcome.failed,
            },
            "duration_ms": self.duration_ms,
            "warnings": list(self.warnings),
        }

    @property
    def would_persist(self) -> bool:
        return self.outcome is RefreshOutcome.WRITTEN

    @property
    def current_content(self) -> str:
        return self.model.content

    @property
    def candidate_content(self) -> str:
        return render_sections(self.candidate)

    @property
    def preview_content(self) -> str:
        """Return the document as it is after the refresh."""
        return render_sections(self.sections) if self.would_persist else self.model.content

    @property
    def diff(self) -> str:
        """Return the unified diff from the document to the refreshed one."""
        before, after = self.current_content.splitlines(), self.preview_content.splitlines()
        return "\n".join(unified_diff(before, after, "current", "preview", lineterm=""))


def render_sections(sections: Sequence[ModelSection]) -> str:
    """Return Markdown: a heading per section, a list item per sentence."""
    parts = []
    for section in sections:
        lines = [f"- {sentence.text}" for sentence in section.sentences]
        parts.append("\n".join([f"## {section.heading}", "", *lines] if section.heading else lines))
    return "\n\n".join(parts)


def cited_ids(sections: Sequence[ModelSection]) -> tuple[str, ...]:
    """Return the facts that sentences cite, each once, in their order."""
    return tuple(
        dict.fromkeys(
            fact_id for section in sections for sentence in section.sentences for fact_id in sentence.fact_ids
        )
    )
