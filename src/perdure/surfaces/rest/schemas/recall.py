"""Bodies of recall and reflect."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from perdure.surfaces.rest.schemas.shared import (
    Body,
    BudgetName,
    FactTypeName,
    TagGroup,
    TagsMatch,
    TokenUsage,
)

MOST_TOKENS = 10_000_000


class EntityIncludeOptions(Body):
    """Entities of the results, with observations about them."""

    max_tokens: int = Field(default=500, ge=0, le=MOST_TOKENS)


class ChunkIncludeOptions(Body):
    """Source text of the results."""

    max_tokens: int = Field(default=8192, ge=0, le=MOST_TOKENS)


class SourceFactsIncludeOptions(Body):
    """Facts that observations rest on; -1 means no bound."""

    max_tokens: int = Field(default=4096, ge=-1, le=MOST_TOKENS)
    max_tokens_per_observation: int = Field(default=-1, ge=-1, le=MOST_TOKENS)


class IncludeOptions(Body):
    """What to give beside the results."""

    entities: EntityIncludeOptions | None = Field(default=EntityIncludeOptions())
    chunks: ChunkIncludeOptions | None = None
    source_facts: SourceFactsIncludeOptions | None = None


class MinScoresBody(Body):
    """Floors, all inclusive."""

    semantic: float | None = Field(default=None, allow_inf_nan=False)
    keyword: float | None = Field(default=None, allow_inf_nan=False)
    reranker: float | None = Field(default=None, allow_inf_nan=False)
    final: float | None = Field(default=None, allow_inf_nan=False)


class TemporalWindow(Body):
    """From start to end, both included."""

    start: datetime
    end: datetime


class AsOfBody(Body):
    """The moment asked for: in the world, and in what the memory knew."""

    valid: datetime | None = None
    known: datetime | None = None


class SurroundingsBody(Body):
    """The conversation's present circumstances."""

    hour: int | None = Field(default=None, ge=0, le=23)
    day_of_week: int | None = Field(default=None, ge=0, le=6, description="Monday is 0")
    topic: str | None = None


class RecallRequest(Body):
    """A question to memory."""

    query: str
    types: list[FactTypeName] | None = None
    prefer_observations: bool | None = None
    budget: BudgetName = "mid"
    max_tokens: int | None = Field(
        default=None, ge=0, le=MOST_TOKENS, description="4096 unless the bank says otherwise"
    )
    trace: bool = False
    query_timestamp: str | None = Field(default=None, description="ISO 8601; when the question is asked")
    include: IncludeOptions = Field(default_factory=IncludeOptions)
    tags: list[str] | None = None
    tags_match: TagsMatch = "any"
    tag_groups: list[TagGroup] | None = None
    min_scores: MinScoresBody | None = None
    temporal_window: TemporalWindow | None = None

    recipe: str | None = Field(default=None, description="Perdure: default, tempr, memoria, abmind, fast")
    as_of: datetime | AsOfBody | None = Field(default=None, description="Perdure: memory as of a moment")
    entity_hints: list[str] = Field(default=[], description="Perdure: entities that the question is about")
    explain: bool = Field(
        default=False, description="Perdure: channels, ranks, scores and boosts of every result"
    )
    limit: int | None = Field(default=None, ge=1, le=100_000, description="Perdure: most results")
    metadata: dict[str, str] | None = Field(default=None, description="Perdure: only facts with these values")
    topic: str | None = Field(default=None, description="Perdure: only facts of this topic")
    tier: Literal["core", "general"] | None = Field(
        default=None, description="Perdure: only facts of this tier"
    )
    max_classification: int | None = Field(
        default=None, ge=0, le=3, description="Perdure: nothing above this"
    )
    document_ids: list[str] | None = Field(default=None, description="Perdure: only facts of these documents")
    during: TemporalWindow | None = Field(default=None, description="Perdure: only facts of this time")
    include_expired: bool = Field(default=False, description="Perdure: facts past their expiry too")
    surroundings: SurroundingsBody | None = Field(
        default=None, description="Perdure: for abmind's context boost"
    )
    context_string: bool = Field(
        default=False, description="Perdure: the answer as a fenced text for a prompt, too"
    )
    track: bool = Field(default=True, description="Perdure: count this recall in the facts' statistics")


class RecallScores(BaseModel):
    """How a result was scored."""

    final: float
    reranker: float | None = None
    semantic: float | None = None
    keyword: float | None = None


class RecallResultBody(BaseModel):
    """A recalled fact."""

    id: str
    text: str
    type: str | None = None
    entities: list[str] | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    metadata: dict[str, str] | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    source_fact_ids: list[str] | None = None
    scores: RecallScores | None = None
    citation: int | None = None
    evidence: str | None = None
    subject: str | None = None
    relation: str | None = None
    object: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None
    proof_count: int | None = None
    notes: list[str] | None = None
    explain: dict[str, Any] | None = None


class EntityObservation(BaseModel):
    """An observation about an entity."""

    text: str
    mentioned_at: str | None = None


class EntityState(BaseModel):
    """An entity among the results."""

    entity_id: str
    canonical_name: str
    observations: list[EntityObservation]


class ChunkData(BaseModel):
    """Source text."""

    id: str
    text: str
    chunk_index: int
    truncated: bool = False


class DegradedPart(BaseModel):
    """A part that could not contribute, and why."""

    part: str
    reason: str


class RecallResponse(BaseModel):
    """What memory holds on a question, best first."""

    results: list[RecallResultBody]
    trace: dict[str, Any] | None = None
    entities: dict[str, EntityState] | None = None
    chunks: dict[str, ChunkData] | None = None
    source_facts: dict[str, RecallResultBody] | None = None
    source_facts_truncated: bool | None = None
    recipe: str
    evidence: str = Field(description="How strongly memory supports an answer: strong, weak, none")
    tokens: int
    degraded: list[DegradedPart] = []
    notes: list[str] = []
    timings_ms: dict[str, float] = {}
    context: str | None = None


class ToolCallsIncludeOptions(Body):
    """The steps that led to an answer."""

    output: bool = True


class ReflectIncludeOptions(Body):
    """What to give beside the answer."""

    facts: dict[str, Any] | None = None
    tool_calls: ToolCallsIncludeOptions | None = None


class ReflectRequest(Body):
    """A question to be answered from memory."""

    query: str
    budget: BudgetName = "low"
    context: str | None = None
    max_tokens: int = Field(default=4096, ge=1, le=MOST_TOKENS)
    include: ReflectIncludeOptions = Field(default_factory=ReflectIncludeOptions)
    response_schema: dict[str, Any] | None = None
    tags: list[str] | None = None
    tags_match: TagsMatch = "any"
    tag_groups: list[TagGroup] | None = None
    apply_all_directives: bool = False
    fact_types: list[Literal["world", "experience", "observation"]] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: list[str] | None = None
    recipe: str | None = Field(default=None, description="Perdure: as in recall")
    as_of: datetime | AsOfBody | None = Field(default=None, description="Perdure: as in recall")


class ReflectFact(BaseModel):
    """A fact that the answer rests on."""

    id: str | None = None
    text: str
    type: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, str] | None = None


class ReflectBasedOn(BaseModel):
    """Evidence; the numbers in the answer count the memories from 1."""

    memories: list[ReflectFact] = []
    mental_models: list[dict[str, Any]] = []
    directives: list[dict[str, Any]] = []


class ReflectToolCall(BaseModel):
    """A step that led to the answer."""

    tool: str
    input: dict[str, Any]
    output: dict[str, Any] | None = None
    duration_ms: int
    iteration: int = 0


class ReflectTrace(BaseModel):
    """How the answer came about."""

    tool_calls: list[ReflectToolCall] = []
    llm_calls: list[dict[str, Any]] = []


class ReflectResponse(BaseModel):
    """A cited answer."""

    text: str
    based_on: ReflectBasedOn | None = None
    structured_output: dict[str, Any] | None = None
    usage: TokenUsage | None = None
    trace: ReflectTrace | None = None
    evidence: str
