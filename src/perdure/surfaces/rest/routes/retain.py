"""Retain: at once, in the background, or from uploaded files."""

from __future__ import annotations

import json
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, File, Form, Header, UploadFile
from fastapi.responses import Response
from pydantic import ValidationError

from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.surfaces.rest.auth import WriteBank
from perdure.surfaces.rest.idempotency import once
from perdure.surfaces.rest.items import item_fields, split_by_mode, warnings_of
from perdure.surfaces.rest.schemas.retain import (
    FileRetainResponse,
    MemoryItem,
    RetainRequest,
    RetainResponse,
)
from perdure.surfaces.rest.schemas.shared import ERRORS, TokenUsage
from perdure.surfaces.rest.service import Service, Serving, exists, reply

router = APIRouter(prefix="/v1/default/banks/{bank_id}", tags=["Memory"], responses=ERRORS)
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=256,
        description="The same key again is the same call",
    ),
]


@router.post("/memories", operation_id="retain_memories", response_model=RetainResponse)
async def retain(
    service: Serving, bank: WriteBank, body: RetainRequest, idempotency_key: IdempotencyKey = None
) -> Response:
    """Remember texts; with `async` the answer names an operation to ask about."""
    if not body.items:
        raise InvalidInput("items", "at least one item")
    work = _retain_later if body.later else _retain_now
    if idempotency_key is None:
        return reply(await service.workers.run(work, service, bank, body))
    answer = await service.workers.run(
        once, service.engine, bank, idempotency_key, body, lambda: work(service, bank, body)
    )
    return Response(answer, media_type="application/json")


def _retain_now(service: Service, bank: str, body: RetainRequest) -> RetainResponse:
    done = [
        service.engine.retain(bank, items, update_mode=mode)
        for mode, items in split_by_mode(body.items, body.document_tags)
    ]
    fact_ids = [fact_id for result in done for fact_id in result.fact_ids]
    service.metrics.facts.inc(len(fact_ids))
    return RetainResponse(
        success=True,
        bank_id=bank,
        items_count=len(body.items),
        later=False,
        usage=TokenUsage(),
        document_ids=[document_id for result in done for document_id in result.document_ids],
        fact_ids=fact_ids,
        superseded=[closed.fact_id for result in done for closed in result.superseded],
        warnings=warnings_of(body.items),
    )


def _retain_later(service: Service, bank: str, body: RetainRequest) -> RetainResponse:
    groups = split_by_mode(body.items, body.document_tags)
    _ensure_bank(service.engine, bank)
    first = body.operation_id or str(uuid4())
    names = [first, *(f"{first}-{mode}" for mode, _ in groups[1:])]
    for name, (mode, items) in zip(names, groups, strict=True):
        service.engine.retain_later(bank, items, update_mode=mode, operation_id=name)
    return RetainResponse(
        success=True,
        bank_id=bank,
        items_count=len(body.items),
        later=True,
        operation_id=first,
        operation_ids=names if len(names) > 1 else None,
        warnings=warnings_of(body.items),
    )


def _ensure_bank(engine: Perdure, bank: str) -> None:
    """Background work is found again after a crash by its bank, which must exist for that."""
    if not exists(engine, bank):
        engine.configure_bank(bank)


@router.post("/files/retain", operation_id="file_retain", response_model=FileRetainResponse, tags=["Files"])
async def retain_files(
    service: Serving,
    bank: WriteBank,
    files: Annotated[list[UploadFile], File(description="Text files in UTF-8")],
    request: Annotated[str, Form(description='JSON: {"files_metadata": [{"context", "document_id", ...}]}')],
) -> Response:
    """Remember text files in the background, one operation a file."""
    described = _files_metadata(request, len(files))
    items = [
        _file_item(index, upload.filename or f"file {index + 1}", await upload.read(), described[index])
        for index, upload in enumerate(files)
    ]
    return reply(await service.workers.run(_retain_files, service.engine, bank, items))


def _retain_files(engine: Perdure, bank: str, items: list[dict[str, Any]]) -> FileRetainResponse:
    _ensure_bank(engine, bank)
    operations = [engine.retain_later(bank, item, operation_id=str(uuid4())) for item in items]
    return FileRetainResponse(operation_ids=[operation.id for operation in operations])


def _files_metadata(request: str, count: int) -> list[dict[str, Any]]:
    try:
        described = json.loads(request)["files_metadata"] if request.strip() not in ("", "{}") else None
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput("request", 'a JSON object with "files_metadata"') from error
    if described is None:
        return [{} for _ in range(count)]
    if (
        not isinstance(described, list)
        or len(described) != count
        or not all(isinstance(part, dict) for part in described)
    ):
        raise InvalidInput("files_metadata", f"a list of {count} objects, one a file")
    return described


def _file_item(index: int, filename: str, data: bytes, described: dict[str, Any]) -> dict[str, Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"files[{index}]", "a text file in UTF-8; other formats are not built yet"
        ) from error
    known = {name: value for name, value in described.items() if name in MemoryItem.model_fields}
    try:
        item = MemoryItem.model_validate({"title": filename, **known, "content": text})
    except ValidationError as error:
        raise InvalidInput(f"files_metadata[{index}]", error.errors()[0]["msg"]) from error
    fields = item_fields(item, index, ())
    fields.setdefault("document_id", f"{filename}-{uuid4().hex[:12]}")
    return fields
