"""What the tools return, as clients see it in their structured output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from perdure.domain.fact import Fact
    from perdure.domain.item import RetainResult
    from perdure.domain.recall import RecallResult, Recollection
    from perdure.reflect.reflection import Reflection


class Memory(BaseModel):
    """One remembered fact."""

    citation: int = Field(description="Cite the fact as [n]")
    id: str
    text: str
    type: str = Field(description="world, experience, opinion or observation")
    date: str | None = Field(None, description="When it happened, else when it was said")
    score: float
    evidence: str = Field(description="strong, weak or none: how well it fits the question")
    document_id: str | None = None
    entities: list[str] = []
    planned: bool = Field(False, description="Whether it was still ahead when it was said")
    notes: list[str] = Field([], description="Until when it held and what came then; conflicts")


class RetainOutput(BaseModel):
    """What a retain did."""

    bank: str
    facts: list[str] = Field(description="The facts as they were understood")
    fact_ids: list[str]
    document_ids: list[str]
    merged: int = Field(description="Facts that were known already and now have more proof")
    superseded: int = Field(description="Older facts that are no longer true")
    passed_over: list[str] = Field([], description="Parts of the content that were not remembered, and why")


class RecallOutput(BaseModel):
    """What memory holds on a question, best first."""

    bank: str
    evidence: str = Field(description="strong, weak or none: how well memory supports an answer")
    memories: list[Memory]
    tokens: int
    notes: list[str] = []
    degraded: list[str] = Field([], description="Parts of the search that could not contribute")


class ReflectOutput(BaseModel):
    """An answer and the facts it rests on."""

    bank: str
    text: str
    answer: str | None = Field(None, description="The answer in a few words, where memory gives one")
    evidence: str
    notes: list[str] = Field([], description="What was left out and why; how a value was worked out")
    based_on: list[Memory]


class ContextOutput(BaseModel):
    """A recall as text for a prompt."""

    bank: str
    context: str
    tokens: int


class ForgetOutput(BaseModel):
    """What was erased."""

    bank: str
    forgotten_facts: int


def retained(done: RetainResult, facts: list[Fact]) -> RetainOutput:
    return RetainOutput(
        bank=done.bank,
        facts=[fact.text for fact in facts],
        fact_ids=list(done.fact_ids),
        document_ids=list(done.document_ids),
        merged=len(done.merged),
        superseded=len(done.superseded),
        passed_over=[f"{one.path}: {one.reason}" for one in done.passed_over],
    )


def recalled(bank: str, result: RecallResult) -> RecallOutput:
    return RecallOutput(
        bank=bank,
        evidence=result.evidence.value,
        memories=[_memory(recollection, recollection.citation) for recollection in result],
        tokens=result.tokens,
        notes=list(result.notes),
        degraded=[f"{part.part}: {part.reason}" for part in result.degraded],
    )


def reflected(bank: str, answer: Reflection) -> ReflectOutput:
    return ReflectOutput(
        bank=bank,
        text=answer.text,
        answer=answer.answer,
        evidence=answer.evidence.value,
        notes=list(answer.trace.notes),
        based_on=[_memory(recollection, n) for n, recollection in enumerate(answer.based_on, start=1)],
    )


def _memory(recollection: Recollection, citation: int) -> Memory:
    fact = recollection.fact
    return Memory(
        citation=citation,
        id=fact.id,
        text=fact.text,
        type=fact.type.value,
        date=f"{fact.dated:%Y-%m-%d}" if fact.dated is not None else None,
        score=round(recollection.score, 4),
        evidence=recollection.evidence.value,
        document_id=fact.document_id,
        entities=list(fact.entities),
        planned=fact.is_planned,
        notes=list(recollection.notes),
    )
