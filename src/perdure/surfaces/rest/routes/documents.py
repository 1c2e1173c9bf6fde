"""Documents, their chunks, and tags."""

from __future__ import annotations

from collections import Counter
from fnmatch import translate
from re import IGNORECASE
from re import compile as compile_pattern
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.domain.fact import Document
from perdure.domain.filter import TagLeaf
from perdure.domain.filter import TagsMatch as Match
from perdure.engine import Perdure
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.keys import Scope
from perdure.surfaces.rest.auth import Known, ReadBank, WriteBank
from perdure.surfaces.rest.browsing import Wanted, every_fact
from perdure.surfaces.rest.present import chunk_body, document_detail, document_item
from perdure.surfaces.rest.schemas.browse import (
    ChunkResponse,
    DeleteDocumentResponse,
    DocumentResponse,
    ListChunksResponse,
    ListDocumentsResponse,
    ListTagsResponse,
    TagItem,
    UpdateDocumentRequest,
    UpdateDocumentResponse,
)
from perdure.surfaces.rest.schemas.shared import ERRORS, Limit, Offset, Tags, TagsMatch
from perdure.surfaces.rest.service import Serving, StrictClients, reply

router = APIRouter(prefix="/v1/default", tags=["Documents"], responses=ERRORS)
_DOCUMENTS = "/banks/{bank_id}/documents"
_DOCUMENT = _DOCUMENTS + "/{document_id:path}"


@router.get(
    _DOCUMENTS,
    operation_id="list_documents",
    response_model=ListDocumentsResponse,
    dependencies=[StrictClients],
)
async def list_documents(
    service: Serving,
    bank: ReadBank,
    q: Annotated[str | None, Query(description="Part of an id")] = None,
    tags: Tags = None,
    tags_match: TagsMatch = "any_strict",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """A page of documents, newest first."""
    leaf = TagLeaf(frozenset(tags or ()), Match(tags_match))
    return reply(await service.workers.run(_list, service.engine, bank, q or "", leaf, limit, offset))


def _list(
    engine: Perdure, bank: str, q: str, leaf: TagLeaf, limit: int, offset: int
) -> ListDocumentsResponse:
    found = [
        document
        for document in engine.documents(bank)
        if q.casefold() in document.id.casefold() and leaf.admits(document.tags)
    ]
    items = [
        document_item(document, engine.facts(bank, document_id=document.id, limit=1).total)
        for document in found[offset : offset + limit]
    ]
    return ListDocumentsResponse(items=items, total=len(found), limit=limit, offset=offset)


@router.get(_DOCUMENT + "/chunks", operation_id="list_document_chunks", response_model=ListChunksResponse)
async def list_chunks(
    service: Serving,
    bank: ReadBank,
    document_id: str,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Offset = 0,
) -> Response:
    """A page of a document's chunks, in order."""
    return reply(await service.workers.run(_chunks, service.engine, bank, document_id, limit, offset))


def _chunks(engine: Perdure, bank: str, document_id: str, limit: int, offset: int) -> ListChunksResponse:
    document = find_document(engine, bank, document_id)
    chunks = engine.chunks(bank, document_id=document_id)
    items = [chunk_body(chunk, document) for chunk in chunks[offset : offset + limit]]
    return ListChunksResponse(items=items, total=len(chunks), limit=limit, offset=offset)


@router.get(_DOCUMENT, operation_id="get_document", response_model=DocumentResponse)
async def get_document(service: Serving, bank: ReadBank, document_id: str) -> Response:
    """A document with its text."""
    return reply(await service.workers.run(_document, service.engine, bank, document_id))


def _document(engine: Perdure, bank: str, document_id: str) -> DocumentResponse:
    document = find_document(engine, bank, document_id)
    counts = Counter(fact.type.value for fact in every_fact(engine, bank, Wanted(document_id=document_id)))
    return document_detail(document, engine.chunks(bank, document_id=document_id), dict(counts))


def find_document(engine: Perdure, bank: str, document_id: str) -> Document:
    """The document, or NotFound."""
    found = engine.documents(bank, [document_id])
    if not found:
        raise NotFound("document", document_id)
    return found[0]


@router.patch(_DOCUMENT, operation_id="update_document", response_model=UpdateDocumentResponse)
async def update_document(
    service: Serving, bank: WriteBank, document_id: str, body: UpdateDocumentRequest
) -> Response:
    """Other tags, for the document and the facts drawn from it."""
    if body.tags is None:
        raise InvalidInput("tags", "a list of tags")
    await service.workers.run(service.engine.retag_document, bank, document_id, body.tags)
    return reply(UpdateDocumentResponse())


@router.delete(_DOCUMENT, operation_id="delete_document", response_model=DeleteDocumentResponse)
async def delete_document(service: Serving, bank: WriteBank, document_id: str) -> Response:
    """Erase a document with its chunks and facts."""
    return reply(await service.workers.run(_delete, service.engine, bank, document_id))


def _delete(engine: Perdure, bank: str, document_id: str) -> DeleteDocumentResponse:
    find_document(engine, bank, document_id)
    count = engine.forget(bank, document_id=document_id)
    return DeleteDocumentResponse(
        success=True,
        message=f"Document '{document_id}' and {count} facts were erased",
        document_id=document_id,
        memory_units_deleted=count,
    )


@router.get("/chunks/{chunk_id:path}", operation_id="get_chunk", response_model=ChunkResponse)
async def get_chunk(service: Serving, caller: Known, chunk_id: str) -> Response:
    """A chunk of any bank that the caller may read."""
    return reply(await service.workers.run(_chunk, service.engine, caller, chunk_id))


def _chunk(engine: Perdure, caller: Known, chunk_id: str) -> ChunkResponse:
    readable = [bank.id for bank in engine.banks() if caller.may(Scope.READ, bank.id)]
    bank = engine.chunk_home(chunk_id, readable)
    chunk = engine.chunks(bank, ids=[chunk_id])[0]
    return chunk_body(chunk, find_document(engine, bank, chunk.document_id))


@router.get(
    "/banks/{bank_id}/tags",
    operation_id="list_tags",
    response_model=ListTagsResponse,
    dependencies=[StrictClients],
)
async def list_tags(
    service: Serving,
    bank: ReadBank,
    q: Annotated[str | None, Query(description="A pattern with * as wildcard")] = None,
    source: Annotated[Literal["memories"], Query()] = "memories",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Tags of facts, most used first."""
    stats = await service.workers.run(service.engine.stats, bank)
    pattern = compile_pattern(_wildcard(q), IGNORECASE)
    counted = [(tag, count) for tag, count in stats.tags.items() if pattern.match(tag)]
    counted.sort(key=lambda pair: (-pair[1], pair[0]))
    items = [TagItem(tag=tag, count=count) for tag, count in counted[offset : offset + limit]]
    return reply(ListTagsResponse(items=items, total=len(counted), limit=limit, offset=offset))


def _wildcard(q: str | None) -> str:
    """`*` stands for anything; without one the text must be the whole tag."""
    plain = (q or "*").replace("[", "[[]").replace("?", "[?]")
    return translate(plain)
