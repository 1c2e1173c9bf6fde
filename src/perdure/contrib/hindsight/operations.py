"""Background work: listing, asking, cancelling, trying again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel

from perdure.contrib.hindsight.bank_transfer import CLONE, EXPORT_BANK, IMPORT_BANK
from perdure.contrib.hindsight.bodies import Offset, iso
from perdure.contrib.hindsight.clients import StrictClients
from perdure.contrib.hindsight.transfer import EXPORT, IMPORT
from perdure.domain.mental_model import REFRESH_FAILURES, RefreshOutcome
from perdure.domain.operation import Operation, OperationStatus
from perdure.errors import Conflict, NotFound
from perdure.surfaces.plugins.rest import ReadBank, Resource, Service, Serving, WriteBank

RUN_TO_END = frozenset({EXPORT, IMPORT, CLONE, EXPORT_BANK, IMPORT_BANK})

router = Resource("Operations", "/v1/default/banks/{bank_id}/operations")
REFRESH = "refresh_mental_model"
"""The kind of operation that writes a mental model."""
FAILURE_REASONS = {
    RefreshOutcome.EMPTY: "empty_candidate",
    RefreshOutcome.STRUCTURED_FAILED: "structured_output_failed",
    RefreshOutcome.MODEL_FAILED: "language_model_failed",
}
OperationStatusName = Literal["pending", "processing", "completed", "failed", "cancelled", "not_found"]


class OperationProgress(BaseModel):
    """How far work is."""

    stage: str
    at: str
    processed: int | None = None
    total: int | None = None
    detail: dict[str, int] | None = None


class OperationResponse(BaseModel):
    """Background work in a listing."""

    id: str
    task_type: str
    operation_id: str
    operation_type: str
    items_count: int
    document_id: str | None = None
    filename: str | None = None
    mental_model_id: str | None = None
    details: dict[str, Any] | None = None
    created_at: str
    updated_at: str | None = None
    status: str
    error_message: str | None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None


class OperationsListResponse(BaseModel):
    """A page of background work, newest first."""

    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class OperationStatusResponse(BaseModel):
    """Background work."""

    operation_id: str
    status: OperationStatusName
    operation_type: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    completed_at: str | None = None
    error_message: str | None = None
    retry_count: int | None = None
    next_retry_at: str | None = None
    progress: OperationProgress | None = None
    result_metadata: dict[str, Any] | None = None
    details: dict[str, Any] | None = None
    child_operations: list[dict[str, Any]] | None = None
    task_payload: dict[str, Any] | None = None


class OperationChangeResponse(BaseModel):
    """What happened to background work."""

    success: bool
    message: str
    operation_id: str


@router.get("", operation_id="list_operations", dependencies=[StrictClients])
def list_operations(
    service: Serving,
    bank: ReadBank,
    status: Annotated[
        str | None, Query(description="pending, processing, completed, failed, cancelled")
    ] = None,
    kind: Annotated[
        str | None, Query(alias="type", description="retain, refresh_mental_model, export, import")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Offset = 0,
    exclude_parents: bool = False,
) -> OperationsListResponse:
    """Return a page of background work, newest first; none of it has children, so there are no parents to exclude."""
    every = service.engine.operations.list(bank)
    chosen = [
        operation
        for operation in every
        if status in (None, operation.status.value) and kind in (None, operation.kind)
    ]
    chosen.sort(key=lambda operation: (iso(operation.created_at) or "", operation.id), reverse=True)
    page = [_item(service, operation) for operation in chosen[offset : offset + limit]]
    return OperationsListResponse(
        bank_id=bank, total=len(chosen), limit=limit, offset=offset, operations=page
    )


def _item(service: Service, operation: Operation) -> OperationResponse:
    return OperationResponse(
        id=operation.id,
        task_type=operation.kind,
        operation_id=operation.id,
        operation_type=operation.kind,
        items_count=operation.total,
        document_id=operation.document_id,
        mental_model_id=_mental_model(service, operation),
        details=_details(operation),
        created_at=iso(operation.created_at) or "",
        updated_at=iso(operation.updated_at),
        status=operation.status.value,
        error_message=operation.error,
        next_retry_at=iso(operation.next_retry_at),
        progress=_progress(operation),
    )


def _mental_model(service: Service, operation: Operation) -> str | None:
    """Return the model that a refresh is about: told by its result, or by what is still to be done."""
    if operation.kind != REFRESH:
        return None
    told = (operation.result or {}).get("mental_model_id")
    for step in () if told else service.engine.jobs.unfinished_steps(operation.bank, operation.id):
        told = step.get("mental_model_id")
    return None if told is None else str(told)


def _details(operation: Operation) -> dict[str, Any] | None:
    """How a refresh ended."""
    if operation.kind != REFRESH or not operation.finished or operation.status is OperationStatus.CANCELLED:
        return None
    if operation.result is not None:
        return {"operation_type": REFRESH, "outcome": operation.result["outcome"]}
    for outcome, reason in REFRESH_FAILURES.items():
        if (operation.error or "").endswith(reason):
            return {
                "operation_type": REFRESH,
                "outcome": outcome.value,
                "failure_reason": FAILURE_REASONS[outcome],
            }
    return None


def _progress(operation: Operation) -> OperationProgress:
    return OperationProgress(
        stage=operation.status.value,
        at=iso(operation.updated_at) or "",
        processed=operation.done,
        total=operation.total,
    )


@router.get("/{operation_id}", operation_id="get_operation_status")
def get_operation(
    service: Serving,
    bank: ReadBank,
    operation_id: str,
    include_payload: Annotated[bool, Query(description="What was submitted, too")] = False,
) -> OperationStatusResponse:
    """How far background work is; `not_found` when there is none of that id."""
    operation = _find(service, bank, operation_id)
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
        next_retry_at=iso(operation.next_retry_at),
        progress=_progress(operation),
        result_metadata=operation.result,
        details=_details(operation),
        task_payload=_payload(service, bank, operation_id) if include_payload else None,
    )


def _payload(service: Service, bank: str, operation_id: str) -> dict[str, Any]:
    """Return what is still to be done: texts that are stored leave the operation."""
    steps = service.engine.jobs.unfinished_steps(bank, operation_id)
    items = [item for step in steps if isinstance(waiting := step.get("items"), list) for item in waiting]
    return {"items": items}


def _find(service: Service, bank: str, operation_id: str) -> Operation | None:
    try:
        return service.engine.operations.get(bank, operation_id)
    except NotFound:
        return None


@router.delete("/{operation_id}", operation_id="cancel_operation")
def cancel_operation(service: Serving, bank: WriteBank, operation_id: str) -> OperationChangeResponse:
    """Stop background work before its next step."""
    _check_retain(service, bank, operation_id)
    service.engine.operations.cancel(bank, operation_id)
    return _changed(operation_id, "cancelled")


@router.post("/{operation_id}/retry", operation_id="retry_operation")
def retry_operation(service: Serving, bank: WriteBank, operation_id: str) -> OperationChangeResponse:
    """Go on with failed or cancelled work."""
    _check_retain(service, bank, operation_id)
    service.engine.operations.retry(bank, operation_id)
    return _changed(operation_id, "queued again")


def _check_retain(service: Service, bank: str, operation_id: str) -> None:
    """Raise for exports, imports and copies: they are one step, with nothing to stop before, nor to go on with."""
    if service.engine.operations.get(bank, operation_id).kind in RUN_TO_END:
        raise Conflict(
            f"operation {operation_id!r} is an export, import or copy, which runs to its end; submit it anew"
        )


@router.delete("/{operation_id}/delete", operation_id="delete_operation")
def delete_operation(service: Serving, bank: WriteBank, operation_id: str) -> OperationChangeResponse:
    """Drop the record of work that has ended."""
    service.engine.operations.delete(bank, operation_id)
    return _changed(operation_id, "deleted")


def _changed(operation_id: str, what: str) -> OperationChangeResponse:
    message = f"Operation {operation_id} was {what}"
    return OperationChangeResponse(success=True, message=message, operation_id=operation_id)
