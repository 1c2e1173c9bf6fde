"""Opinions: what a bank believes, with the evidence and the curve of its confidence. Perdure's own paths."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from perdure.contrib.hindsight.bodies import Limit, Offset, Page
from perdure.contrib.hindsight.clients import StrictClients
from perdure.domain.opinion import Opinion, OpinionEvidence
from perdure.domain.time import AsOf, parse_utc
from perdure.surfaces.rest.service import ReadBank, Resource, Serving

router = Resource("Opinions", "/v1/default/banks/{bank_id}/opinions")
ValidAt = Annotated[datetime | None, Query(alias="as_of", description="What was believed of this time")]
KnownAt = Annotated[datetime | None, Query(description="As far as was known at this time")]


class OpinionItem(BaseModel):
    """An opinion at the moment asked for."""

    id: str
    text: str = Field(description="The statement, worded as surely as it is believed")
    statement: str
    subject: str
    entity_id: str | None
    polarity: str
    confidence: float
    formed_at: str
    evidence_count: int


class OpinionListResponse(Page[OpinionItem]):
    """A page of opinions, surest first."""


class EvidenceItem(BaseModel):
    """What a fact says of an opinion."""

    fact_id: str
    label: str = Field(description="supporting, weak or contradicting")
    strength: float
    at: str
    counts: bool = Field(description="Whether the fact holds and is believed at the moment asked for")


class CurvePoint(BaseModel):
    """A confidence from a moment on."""

    at: str
    confidence: float


class OpinionDetailResponse(OpinionItem):
    """An opinion with its log of evidence and the curve of its confidence."""

    c0: float
    evidence: list[EvidenceItem]
    curve: list[CurvePoint]


@router.get("", operation_id="list_opinions", dependencies=[StrictClients])
def list_opinions(
    service: Serving,
    bank: ReadBank,
    subject: Annotated[str | None, Query(description="A name, or the id of an entity")] = None,
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> OpinionListResponse:
    """A page of what the bank believes, surest first."""
    opinions = service.engine.opinions.list(bank, subject, min_confidence, _moment(as_of, known_at))
    return OpinionListResponse.cut(opinions, offset, limit, _item)


@router.get("/{opinion_id}", operation_id="get_opinion", dependencies=[StrictClients])
def get_opinion(
    service: Serving, bank: ReadBank, opinion_id: str, as_of: ValidAt = None, known_at: KnownAt = None
) -> OpinionDetailResponse:
    """One opinion with its evidence; 404 when it is not held at that moment."""
    opinion = service.engine.opinions.get(bank, opinion_id, _moment(as_of, known_at))
    log = [_evidence(row, True) for row in opinion.evidence]
    log += [_evidence(row, False) for row in opinion.left_out]
    return OpinionDetailResponse(
        **_item(opinion).model_dump(),
        c0=opinion.c0,
        evidence=sorted(log, key=lambda row: row.at),
        curve=[CurvePoint(at=at.isoformat(), confidence=c) for at, c in opinion.curve()],
    )


def _moment(valid: datetime | None, known_at: datetime | None) -> AsOf:
    return AsOf(valid=parse_utc(valid, "as_of"), known=parse_utc(known_at, "known_at"))


def _item(opinion: Opinion) -> OpinionItem:
    return OpinionItem(
        id=opinion.id,
        text=opinion.text,
        statement=opinion.statement,
        subject=opinion.subject,
        entity_id=opinion.entity_id,
        polarity=opinion.polarity.value,
        confidence=opinion.confidence,
        formed_at=opinion.formed_at.isoformat(),
        evidence_count=len(opinion.evidence),
    )


def _evidence(row: OpinionEvidence, counts: bool) -> EvidenceItem:
    return EvidenceItem(
        fact_id=row.fact_id,
        label=row.label.value,
        strength=row.strength,
        at=row.at.isoformat(),
        counts=counts,
    )
