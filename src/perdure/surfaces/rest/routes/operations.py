"""Background work: listing, asking, cancelling, trying again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from perdure.domain.operation import Operation
from perdure.engine import Perdure
from perdure.errors import Conflict, NotFound
from perdure.jobs.operations import KIND
from perdure.surfaces.rest.auth import ReadBank, WriteBank
from perdure.surfaces.rest.present import iso
from perdure.surfaces.rest.schemas.retain import (
    OperationChangeResponse,
    OperationProgress,
    OperationResponse,
    OperationsListResponse,
    OperationStatusResponse,
)
from perdure.surfaces.rest.schemas.shared import ERRORS, Offset
from perdure.surfaces.rest.service import Service, Serving, StrictClients, reply
from perdure.surfaces.rest.transfers import TRANSFER, find_transfer, list_transfers

router = APIRouter(prefix="/v1/default/banks/{bank_id}/operations", tags=["Operations"], responses=ERRORS)


@router.get(
    "", operation_id="list_operations", response_model=OperationsListResponse, dependencies=[StrictClients]
)
async def list_operations(
    service: Serving,
    bank: ReadBank,
    status: Annotated[
        str | None, Query(description="pending, processing, completed, failed, cancelled")
    ] = None,
    kind: Annotated[str | None, Query(alias="type", description="retain, export, import")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Offset = 0,
    exclude_parents: bool = False,
) -> Response:
    """A page of background work, newest first; none of it has children, so there are no parents to exclude."""
    every = await service.workers.run(_every, service, bank)
    found = [
        operation
        for operation in every
        if (status is None or operation.status.value == status) and (kind is None or operation.kind == kind)
    ]
    shown = found[offset : offset + limit]
    documents = await service.workers.run(_documents, service.engine, bank, [work.id for work in shown])
    page = [_item(operation, documents.get(operation.id)) for operation in shown]
    return reply(
        OperationsListResponse(bank_id=bank, total=len(found), limit=limit, offset=offset, operations=page)
    )


def _documents(engine: Perdure, bank: str, operation_ids: list[str]) -> dict[str, str]:
    """Operation id -> the document that all its items belong to, where there is one."""
    found: dict[str, str] = {}
    for record in engine.records(KIND, bank=bank, ids=operation_ids):
        request = record.body.get("request")
        items = request.get("items") if isinstance(request, dict) else None
        names = {item.get("document_id") for item in items or ()}
        if len(names) == 1 and None not in names:
            found[record.id] = str(names.pop())
    return found


def _every(service: Service, bank: str) -> list[Operation]:
    both = [*service.engine.operations(bank), *list_transfers(service, bank)]
    return sorted(both, key=lambda operation: (iso(operation.created_at) or "", operation.id), reverse=True)


@router.get("/{operation_id}", operation_id="get_operation_status", response_model=OperationStatusResponse)
async def get_operation(
    service: Serving,
    bank: ReadBank,
    operation_id: str,
    include_payload: Annotated[bool, Query(description="What was submitted, too")] = False,
) -> Response:
    """How far background work is; `not_found` when there is none of that id."""
    return reply(await service.workers.run(_status, service, bank, operation_id, include_payload))


def _status(service: Service, bank: str, operation_id: str, payload: bool) -> OperationStatusResponse:
    operation = find_operation(service, bank, operation_id)
    if operation is None:
        return OperationStatusResponse(operation_id=operation_id, status="not_found")
    return OperationStatusResponse(
        operation_id=operation.id,
        status=operation.status.value,
        operation_type=operation.kind,
        created_at=iso(operation.created_at),
        updated_at=iso(operation.updated_at),
        completed_at=iso(operation.updated_at) if operation.finished else None,
        error_message=operation.error,
        progress=_progress(operation),
        result_metadata=operation.result,
        task_payload=_payload(service.engine, bank, operation_id) if payload else None,
    )


def find_operation(service: Service, bank: str, operation_id: str) -> Operation | None:
    """A retain or a transfer."""
    try:
        return service.engine.operation(bank, operation_id)
    except NotFound:
        return find_transfer(service, bank, operation_id)


def _payload(engine: Perdure, bank: str, operation_id: str) -> dict[str, object] | None:
    for record in engine.records(KIND, bank=bank, ids=[operation_id]):
        request = record.body.get("request")
        return dict(request) if isinstance(request, dict) else None
    return None


@router.delete("/{operation_id}", operation_id="cancel_operation", response_model=OperationChangeResponse)
async def cancel_operation(service: Serving, bank: WriteBank, operation_id: str) -> Response:
    """Stop background work before its next step."""
    await service.workers.run(_check_retain, service, bank, operation_id)
    await service.workers.run(service.engine.cancel_operation, bank, operation_id)
    return _changed(operation_id, "cancelled")


@router.post("/{operation_id}/retry", operation_id="retry_operation", response_model=OperationChangeResponse)
async def retry_operation(service: Serving, bank: WriteBank, operation_id: str) -> Response:
    """Go on with failed or cancelled work."""
    await service.workers.run(_check_retain, service, bank, operation_id)
    await service.workers.run(service.engine.retry_operation, bank, operation_id)
    return _changed(operation_id, "queued again")


def _check_retain(service: Service, bank: str, operation_id: str) -> None:
    """Exports and imports are one step: there is nothing to stop before, nor to go on with."""
    if find_transfer(service, bank, operation_id) is not None:
        raise Conflict(
            f"operation {operation_id!r} is an export or import, which runs to its end; submit it anew"
        )


@router.delete(
    "/{operation_id}/delete", operation_id="delete_operation", response_model=OperationChangeResponse
)
async def delete_operation(service: Serving, bank: WriteBank, operation_id: str) -> Response:
    """Drop the record of work that has ended."""
    await service.workers.run(_delete, service, bank, operation_id)
    return _changed(operation_id, "deleted")


def _delete(service: Service, bank: str, operation_id: str) -> None:
    transfer = find_transfer(service, bank, operation_id)
    if transfer is not None and transfer.finished:
        service.engine.forget_record(TRANSFER, operation_id, bank=bank)
    else:
        service.engine.delete_operation(bank, operation_id)


def _changed(operation_id: str, what: str) -> Response:
    message = f"Operation {operation_id} was {what}"
    return reply(OperationChangeResponse(success=True, message=message, operation_id=operation_id))


def _item(operation: Operation, document_id: str | None) -> OperationResponse:
    return OperationResponse(
        id=operation.id,
        task_type=operation.kind,
        operation_id=operation.id,
        operation_type=operation.kind,
        items_count=operation.total,
        document_id=document_id,
        created_at=iso(operation.created_at) or "",
        updated_at=iso(operation.updated_at),
        status=operation.status.value,
        error_message=operation.error,
        progress=_progress(operation),
    )


def _progress(operation: Operation) -> OperationProgress:
    return OperationProgress(
        stage=operation.status.value,
        at=iso(operation.updated_at) or "",
        processed=operation.done,
        total=operation.total,
    )
