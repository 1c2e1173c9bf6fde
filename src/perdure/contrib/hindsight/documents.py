"""Documents, their chunks, and tags."""

from __future__ import annotations

from collections import Counter
from fnmatch import translate
from re import IGNORECASE
from re import compile as compile_pattern
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel

from perdure import Perdure
from perdure.contrib.hindsight.bodies import Body, Limit, Offset, Page, Tags, TagsMatch, fields_of, iso
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.listing import Listing
from perdure.domain.fact import Chunk, Document
from perdure.domain.filter import Filter, TagLeaf
from perdure.domain.filter import TagsMatch as Match
from perdure.domain.observation import SCOPES_RECORD, read_scope_rule
from perdure.errors import InvalidInput, NotFound
from perdure.extending import DocumentEvent
from perdure.surfaces.plugins.rest import Known, ReadBank, Resource, Scope, Serving, WriteBank

router = Resource("Documents", "/v1/default")
_DOCUMENTS = "/banks/{bank_id}/documents"
_DOCUMENT = _DOCUMENTS + "/{document_id:path}"
MAX_IDS = 100


class DocumentListItem(BaseModel):
    """A document in a listing."""

    id: str
    bank_id: str
    content_hash: str
    created_at: str
    updated_at: str
    text_length: int
    memory_unit_count: int
    tags: list[str]
    document_metadata: dict[str, Any]
    retain_params: dict[str, Any]


class ListDocumentsResponse(Page[DocumentListItem]):
    """A page of documents, newest first."""


class DocumentResponse(BaseModel):
    """A document with its text."""

    id: str
    bank_id: str
    original_text: str | None
    content_hash: str | None
    created_at: str
    updated_at: str
    memory_unit_count: int
    nodes_by_fact_type: dict[str, int] | None = None
    tags: list[str] = []
    document_metadata: dict[str, Any] | None = None
    retain_params: dict[str, Any] | None = None
    observation_scopes: str | list[list[str]] | None = None


class UpdateDocumentRequest(Body):
    """Other tags."""

    tags: list[str] | None = None


class UpdateDocumentResponse(BaseModel):
    """Done."""

    success: bool = True


class DeleteDocumentResponse(BaseModel):
    """What went."""

    success: bool
    message: str
    document_id: str
    memory_units_deleted: int


class ChunkResponse(BaseModel):
    """A chunk."""

    chunk_id: str
    document_id: str
    bank_id: str
    chunk_index: int
    chunk_text: str
    created_at: str


class ListChunksResponse(Page[ChunkResponse]):
    """A page of chunks, in order."""


class TagItem(BaseModel):
    """A tag and how many facts carry it."""

    tag: str
    count: int


class ListTagsResponse(Page[TagItem]):
    """A page of tags, most used first."""


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


class DocumentHistoryResponse(Page[DocumentEventResponse]):
    """A page of changes, newest first."""

    document_id: str


class ReprocessDocumentResponse(BaseModel):
    """Background work that was taken in."""

    success: bool
    operation_id: str
    items_count: int


@router.get(_DOCUMENT + "/history", operation_id="get_document_history")
def get_history(
    service: Serving,
    bank: ReadBank,
    document_id: str,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most changes to return")] = 100,
    offset: Offset = 0,
) -> DocumentHistoryResponse:
    """Return what each retain, correction and consolidation did to the facts of a document and the observations on them."""
    every = service.engine.documents.history(bank, document_id)
    return DocumentHistoryResponse.cut(every, offset, limit, _event, document_id=document_id)


@router.post(_DOCUMENT + "/reprocess", operation_id="reprocess_document")
def reprocess(service: Serving, bank: WriteBank, document_id: str) -> ReprocessDocumentResponse:
    """Draw the document's facts anew from its stored text, in the background."""
    operation = service.engine.documents.reprocess(bank, document_id)
    return ReprocessDocumentResponse(success=True, operation_id=operation.id, items_count=1)


def _event(event: DocumentEvent) -> DocumentEventResponse:
    return DocumentEventResponse(
        **fields_of(event, ("document_id", "kind", "fact_id", "facts_added", "facts_removed")),
        created_at=iso(event.at),
        observations_created=_sample(event.observations_created),
        observations_removed=_sample(event.observations_removed),
    )


def _sample(ids: tuple[str, ...]) -> ObservationIdSample | None:
    return ObservationIdSample(count=len(ids), ids=list(ids[:MAX_IDS])) if ids else None


@router.get(_DOCUMENTS, operation_id="list_documents", dependencies=[StrictClients])
def list_documents(
    service: Serving,
    bank: ReadBank,
    q: Annotated[str | None, Query(description="Part of an id")] = None,
    tags: Tags = None,
    tags_match: TagsMatch = "any_strict",
    limit: Limit = 100,
    offset: Offset = 0,
) -> ListDocumentsResponse:
    """Return a page of documents, newest first."""
    part = (q or "").casefold()
    leaf = TagLeaf(frozenset(tags or ()), Match(tags_match))
    documents = [
        document
        for document in service.engine.documents.list(bank)
        if part in document.id.casefold() and leaf.admits(document.tags)
    ]

    def item(document: Document) -> DocumentListItem:
        facts = service.engine.facts.list(
            bank, where=Filter(document_ids=frozenset({document.id})), limit=1
        ).total
        return DocumentListItem(**_fields(document), text_length=document.characters, memory_unit_count=facts)

    return ListDocumentsResponse.cut(documents, offset, limit, item)


def _fields(document: Document) -> dict[str, Any]:
    """Return what a document has in a listing and by itself."""
    retain_params = {"title": document.title, "context": document.context}
    return {
        "id": document.id,
        "bank_id": document.bank,
        "content_hash": document.content_hash,
        "created_at": iso(document.created_at) or "",
        "updated_at": iso(document.updated_at) or "",
        "tags": sorted(document.tags),
        "document_metadata": dict(document.metadata),
        "retain_params": {name: value for name, value in retain_params.items() if value},
    }


@router.get(_DOCUMENT + "/chunks", operation_id="list_document_chunks")
def list_chunks(
    service: Serving,
    bank: ReadBank,
    document_id: str,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Offset = 0,
) -> ListChunksResponse:
    """Return a page of a document's chunks, in order."""
    document = service.engine.documents.get(bank, document_id)
    chunks = service.engine.documents.chunks(bank, document_id=document_id)
    return ListChunksResponse.cut(chunks, offset, limit, lambda chunk: _chunk(chunk, document))


def _chunk(chunk: Chunk, document: Document) -> ChunkResponse:
    """Return a chunk; it is as old as its document's last change."""
    return ChunkResponse(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        bank_id=chunk.bank,
        chunk_index=chunk.ordinal,
        chunk_text=chunk.text,
        created_at=iso(document.updated_at) or "",
    )


@router.get(_DOCUMENT, operation_id="get_document")
def get_document(service: Serving, bank: ReadBank, document_id: str) -> DocumentResponse:
    """Return a document with its text."""
    document = service.engine.documents.get(bank, document_id)
    facts = Listing(document_id=document_id).every(service.engine, bank)
    counts = Counter(fact.type.value for fact in facts)
    chunks = service.engine.documents.chunks(bank, document_id=document_id)
    return DocumentResponse(
        **_fields(document),
        original_text="\n".join(chunk.text for chunk in chunks),
        memory_unit_count=counts.total(),
        nodes_by_fact_type=dict(counts),
        observation_scopes=_scope_rule(service.engine, bank, document_id),
    )


def _scope_rule(engine: Perdure, bank: str, document_id: str) -> str | list[list[str]] | None:
    """How the document's facts are scoped, where its retain said so."""
    for record in engine.records.list(SCOPES_RECORD, bank=bank, ids=[document_id]):
        rule = read_scope_rule(record.body["scopes"])
        return rule if isinstance(rule, str) else [list(scope) for scope in rule]
    return None


@router.patch(_DOCUMENT, operation_id="update_document")
def update_document(
    service: Serving, bank: WriteBank, document_id: str, body: UpdateDocumentRequest
) -> UpdateDocumentResponse:
    """Other tags, for the document and the facts drawn from it."""
    if body.tags is None:
        raise InvalidInput("tags", "a list of tags")
    service.engine.documents.retag(bank, document_id, body.tags)
    return UpdateDocumentResponse()


@router.delete(_DOCUMENT, operation_id="delete_document")
def delete_document(service: Serving, bank: WriteBank, document_id: str) -> DeleteDocumentResponse:
    """Erase a document with its chunks and facts."""
    service.engine.documents.get(bank, document_id)
    count = service.forget(bank, document_id=document_id).facts
    return DeleteDocumentResponse(
        success=True,
        message=f"Document '{document_id}' and {count} facts were erased",
        document_id=document_id,
        memory_units_deleted=count,
    )


@router.get("/chunks/{chunk_id:path}", operation_id="get_chunk")
def get_chunk(service: Serving, caller: Known, chunk_id: str) -> ChunkResponse:
    """Return a chunk of any bank that the caller may read."""
    engine = service.engine
    readable = [bank.id for bank in engine.banks.list() if caller.may(Scope.READ, bank.id)]
    for bank in readable:
        for chunk in engine.documents.chunks(bank, ids=[chunk_id]):
            return _chunk(chunk, engine.documents.get(bank, chunk.document_id))
    raise NotFound("chunk", chunk_id)


@router.get("/banks/{bank_id}/tags", operation_id="list_tags", dependencies=[StrictClients])
def list_tags(
    service: Serving,
    bank: ReadBank,
    q: Annotated[str | None, Query(description="A pattern with * as wildcard")] = None,
    source: Annotated[Literal["memories", "mental_models"], Query(description="Whose tags")] = "memories",
    limit: Limit = 100,
    offset: Offset = 0,
) -> ListTagsResponse:
    """Tags of facts or of mental models, most used first."""
    pattern = compile_pattern(_wildcard(q), IGNORECASE)
    if source == "memories":
        tags = service.engine.banks.stats(bank).tags
    else:
        tags = Counter(tag for model in service.engine.models.list(bank) for tag in model.tags)
    counted = [TagItem(tag=tag, count=count) for tag, count in tags.items() if pattern.match(tag)]
    counted.sort(key=lambda item: (-item.count, item.tag))
    return ListTagsResponse.cut(counted, offset, limit, lambda item: item)


def _wildcard(q: str | None) -> str:
    """`*` stands for anything; without one the text must be the whole tag."""
    plain = (q or "*").replace("[", "[[]").replace("?", "[?]")
    return translate(plain)
