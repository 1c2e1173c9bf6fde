"""What happened to a document, and reading it anew."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from perdure.contrib.hindsight.bodies import Offset, iso
from perdure.domain.document_event import DocumentEvent
from perdure.surfaces.plugins.rest import ReadBank, Resource, Serving, WriteBank

router = Resource("Documents", "/v1/default/banks/{bank_id}/documents/{document_id:path}")
MAX_IDS = 100


class ObservationIdSample(BaseModel):
    """How many observations, and which, up to a hundred."""

    count: int = 0
    ids: list[str] = []


class DocumentEventResponse(BaseModel):
    """One change of a document."""

    document_id: str
    kind: str
    created_at: str | None = None
    operation_id: str | None = None
    fact_id: str | None = None
    facts_added: int = 0
    facts_removed: int = 0
    observations_created: ObservationIdSample | None = None
    observations_updated: ObservationIdSample | None = None
    observations_removed: ObservationIdSample | None = None


class DocumentHistoryResponse(BaseModel):
    """A page of changes, newest first."""

    document_id: str
    total: int
    limit: int
    offset: int
    items: list[DocumentEventResponse]


class ReprocessDocumentResponse(BaseModel):
    """Background work that was taken in."""

    success: bool
    operation_id: str
    items_count: int


@router.get("/history", operation_id="get_document_history")
def get_history(
    service: Serving,
    bank: ReadBank,
    document_id: str,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most changes to return")] = 100,
    offset: Offset = 0,
) -> DocumentHistoryResponse:
    """Return what each retain, correction and consolidation did to the facts of a document and the observations on them."""
    every = service.engine.documents.history(bank, document_id)
    page = [_view(event) for event in every[offset : offset + limit]]
    return DocumentHistoryResponse(
        document_id=document_id, total=len(every), limit=limit, offset=offset, items=page
    )


@router.post("/reprocess", operation_id="reprocess_document")
def reprocess(service: Serving, bank: WriteBank, document_id: str) -> ReprocessDocumentResponse:
    """Draw the document's facts anew from its stored text, in the background."""
    operation = service.engine.documents.reprocess(bank, document_id)
    return ReprocessDocumentResponse(success=True, operation_id=operation.id, items_count=1)


def _view(event: DocumentEvent) -> DocumentEventResponse:
    return DocumentEventResponse(
        document_id=event.document_id,
        kind=event.kind.value,
        created_at=iso(event.at),
        fact_id=event.fact_id,
        facts_added=event.facts_added,
        facts_removed=event.facts_removed,
        observations_created=_sample(event.observations_created),
        observations_removed=_sample(event.observations_removed),
    )


def _sample(ids: tuple[str, ...]) -> ObservationIdSample | None:
    return ObservationIdSample(count=len(ids), ids=list(ids[:MAX_IDS])) if ids else None
