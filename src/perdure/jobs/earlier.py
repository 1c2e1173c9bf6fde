"""Operations as earlier versions stored them: one record of kind "operation" with the whole request in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from perdure.domain.item import UpdateMode
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.record import Record
from perdure.jobs.records import PlannedStep, Records, submit_steps
from perdure.jobs.retain_job import decode_item, plan_steps, request_digest
from perdure.ports.store import Store
from perdure.retain.request import RetainRequest

EARLIER = "operation"


def convert_earlier_operations(store: Store) -> None:
    """Give operations of earlier versions today's shape; items that are not done yet become steps."""
    for bank in store.banks_with_records(EARLIER):
        with store.transaction(bank) as tx:
            records = [record for record in tx.records(EARLIER) if "request" in record.body]
            for record in records:
                _convert(tx, record)
            tx.delete_records(EARLIER, [record.id for record in records])


def _convert(tx: Records, record: Record) -> None:
    body: Mapping[str, Any] = record.body
    items, done, status = body["request"]["items"], int(body["done"]), OperationStatus(body["status"])
    mode, submitted = UpdateMode(body["request"]["mode"]), record.created_at or datetime.now(UTC)
    documents = [item.get("document_id") for item in items]
    steps: list[PlannedStep] = []
    if status is not OperationStatus.COMPLETED and done < len(items):
        undone = RetainRequest(bank=record.bank, items=tuple(map(decode_item, items[done:])), mode=mode)
        steps = list(plan_steps(undone, submitted, begun=documents[:done]))
    # The texts of stored items may have been taken out: then an equal request cannot be told any more.
    digest = str(body.get("digest"))
    if all("content" in item for item in items):
        digest = request_digest(
            RetainRequest(bank=record.bank, items=tuple(map(decode_item, items)), mode=mode)
        )
    operation = Operation(
        id=record.id,
        bank=record.bank,
        kind=body["kind"],
        status=status if steps else OperationStatus.COMPLETED,
        done=done,
        total=int(body["total"]),
        error=body.get("error"),
        result=body.get("result"),
        document_id=documents[0] if len(set(documents)) == 1 else None,
        created_at=submitted,
        updated_at=record.updated_at,
    )
    submit_steps(tx, operation, digest, steps)
