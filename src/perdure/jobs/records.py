"""Storage of background work: small records of the bank that it belongs to.

kind         id                      what
job          <operation>             the operation, with the range of its unfinished steps; stays when it has ended
job_queued   <operation>             its place in the bank's queue; deleted when the operation ends
job_step     <operation>/<00000017>  one step; deleted in the transaction that does it
job_lease    job_lease               which process does the bank's steps, and until when
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Protocol, TypeVar

from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.plain import from_record, readable, to_record
from perdure.domain.record import Record

JOB = "job"
QUEUED = "job_queued"
STEP = "job_step"
LEASE = "job_lease"

STEPS_AT_ONCE = 256
"""Steps that are read or written together."""
ERROR_ERASED = "failed; the message went with an erased document"

_PLACE_FIELDS = ("digest", "steps", "next_step", "partial")

Body = Mapping[str, object]
"""A step's input. Texts of documents are in its list `items`, each with its `document_id`."""
T = TypeVar("T")


class ReadRecords(Protocol):
    """The records of a bank."""

    def records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]: ...


class Records(ReadRecords, Protocol):
    """Writable records; a transaction is one."""

    def put_records(self, records: Sequence[Record]) -> None: ...

    def delete_records(self, kind: str, ids: Sequence[str]) -> None: ...


# Operations


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOperation:
    """An operation and the range of its steps."""

    operation: Operation
    """`done` counts whole steps."""
    digest: str
    """What tells equal work; empty once something of the bank was erased after it ended."""
    steps: int
    next_step: int = 0
    partial: int = 0
    """Progress of the next step, as far as its process has reported it."""

    @property
    def visible(self) -> Operation:
        """Return the operation as users see it."""
        return replace(self.operation, done=self.operation.done + self.partial)

    @property
    def unfinished_steps(self) -> list[str]:
        """Return the ids of the steps that are left, in order."""
        return [self.step_id(number) for number in range(self.next_step, self.steps)]

    def step_id(self, number: int) -> str:
        return f"{self.operation.id}/{number:08d}"


def read_operation(record: Record) -> StoredOperation:
    places: dict[str, Any] = {name: record.body[name] for name in _PLACE_FIELDS}
    return StoredOperation(operation=from_record(Operation, record), **places)


def find_operation(rows: ReadRecords, operation_id: str) -> StoredOperation | None:
    return next(readable(rows.records(JOB, [operation_id]), read_operation), None)


def put_operation(rows: Records, stored: StoredOperation) -> None:
    """Insert or replace an operation; one that has ended leaves the queue."""
    record = to_record(JOB, stored.operation)
    places = {name: getattr(stored, name) for name in _PLACE_FIELDS}
    rows.put_records([replace(record, body={**record.body, **places})])
    if stored.operation.finished:
        rows.delete_records(QUEUED, [stored.operation.id])


def find_waiting(rows: ReadRecords, kind: str, digest: str, running: str | None) -> StoredOperation | None:
    """Return a waiting operation of the same work; `running` is the one that is being done."""
    for place in rows.records(QUEUED):
        stored = find_operation(rows, place.id)
        if stored is None or place.id == running or stored.operation.status is not OperationStatus.PENDING:
            continue
        if stored.operation.kind == kind and stored.digest == digest:
            return stored
    return None


def enqueue(rows: Records, operation: Operation) -> None:
    """Put an operation into its bank's queue, which is ordered by `created_at`."""
    place = Record(kind=QUEUED, id=operation.id, bank=operation.bank, created_at=operation.created_at)
    rows.put_records([place])


def delete_operation(rows: Records, stored: StoredOperation) -> None:
    """Delete an operation with its unfinished steps."""
    rows.delete_records(STEP, stored.unfinished_steps)
    rows.delete_records(QUEUED, [stored.operation.id])
    rows.delete_records(JOB, [stored.operation.id])


# Steps


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A part of an operation that is done in one transaction."""

    body: Body
    count: int = 1
    """Its share of the operation's total."""


def submit_steps(rows: Records, operation: Operation, digest: str, steps: Sequence[PlannedStep]) -> None:
    """Write an operation with its steps, and put it into the queue."""
    stored = StoredOperation(operation=operation, digest=digest, steps=len(steps))
    for batch in batches(zip(stored.unfinished_steps, steps, strict=True), STEPS_AT_ONCE):
        rows.put_records(
            [
                Record(
                    kind=STEP, id=step_id, bank=operation.bank, body={"count": step.count, "body": step.body}
                )
                for step_id, step in batch
            ]
        )
    # In this order, so that also without a transaction an operation that exists is in the queue.
    if not operation.finished:
        enqueue(rows, operation)
    put_operation(rows, stored)


def read_step(record: Record) -> PlannedStep:
    body: Mapping[str, Any] = record.body
    return PlannedStep(body["body"], body["count"])


def find_step(rows: ReadRecords, step_id: str) -> PlannedStep | None:
    return next(readable(rows.records(STEP, [step_id]), read_step), None)


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of up to `size` values."""
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch


# Leases


def leased_to_other(rows: ReadRecords, owner: str, now: datetime, length: timedelta) -> bool:
    """Return whether another process has the bank's lease.

    A lease that ends later than a new one would was made before the clock was set back: it counts as expired.
    """
    return any(
        lease.body["owner"] != owner and timedelta(0) < _expires_at(lease) - now <= length
        for lease in rows.records(LEASE, [LEASE])
    )


def take_lease(rows: Records, bank: str, owner: str, now: datetime, length: timedelta) -> bool:
    """Give the owner the lease for at least half its length. Return False if another process has it."""
    if leased_to_other(rows, owner, now, length):
        return False
    leases = rows.records(LEASE, [LEASE])
    if not any(
        lease.body["owner"] == owner and length / 2 < _expires_at(lease) - now <= length for lease in leases
    ):
        body = {"owner": owner, "expires_at": (now + length).isoformat()}
        rows.put_records([Record(kind=LEASE, id=LEASE, bank=bank, body=body)])
    return True


def has_lease(rows: ReadRecords, owner: str) -> bool:
    """Return whether the owner still has the lease, expired or not."""
    return any(lease.body["owner"] == owner for lease in rows.records(LEASE, [LEASE]))


def release_lease(rows: Records, owner: str) -> None:
    """Give the lease back, if it is still the owner's."""
    if has_lease(rows, owner):
        rows.delete_records(LEASE, [LEASE])


def _expires_at(lease: Record) -> datetime:
    return datetime.fromisoformat(str(lease.body["expires_at"]))


# Erasure


def scrub(tx: Records, document_ids: Collection[str]) -> bool:
    """Remove the ids and texts of erased documents from the bank's background work.

    A step that is under way meanwhile is rolled back and repeated without them. What cannot be read may hold any
    text, and is deleted. Return whether there was any.
    """
    erased = frozenset(document_ids)
    scrubbed_any = False
    unreadable: list[str] = []
    for stored in readable(tx.records(JOB), read_operation, lambda record: unreadable.append(record.id)):
        touched = _scrub_steps(tx, stored.unfinished_steps, erased)
        operation = stored.operation
        if operation.document_id in erased:
            operation, touched = replace(operation, document_id=None), True
        if touched:
            error = None if operation.error is None else ERROR_ERASED
            operation = replace(operation, error=error)
            put_operation(
                tx, replace(stored, operation=operation, digest="" if operation.finished else stored.digest)
            )
            scrubbed_any = True
        elif operation.finished and stored.digest:
            put_operation(tx, replace(stored, digest=""))
    if unreadable:
        steps = [record.id for record in tx.records(STEP) if record.id.rpartition("/")[0] in unreadable]
        for kind, ids in ((JOB, unreadable), (QUEUED, unreadable), (STEP, steps)):
            tx.delete_records(kind, ids)
    return scrubbed_any


def _scrub_steps(tx: Records, ids: Sequence[str], erased: frozenset[str]) -> bool:
    """Remove the items of erased documents from steps; their count stays."""
    touched = False
    unreadable: list[str] = []
    for batch in batches(ids, STEPS_AT_ONCE):
        stored = tx.records(STEP, batch)
        scrubbed = readable(
            stored, lambda record: _scrub_step(record, erased), lambda record: unreadable.append(record.id)
        )
        changed = [record for record in scrubbed if record is not None]
        if changed:
            tx.put_records(changed)
            touched = True
    tx.delete_records(STEP, unreadable)
    return touched or bool(unreadable)


def _scrub_step(record: Record, erased: frozenset[str]) -> Record | None:
    """Return the step without items of erased documents; None if it has none of them."""
    body: Mapping[str, Any] = read_step(record).body
    items: list[Mapping[str, object]] = body.get("items", [])
    kept = [item for item in items if item.get("document_id") not in erased]
    if len(kept) == len(items):
        return None
    return replace(record, body={**record.body, "body": {**body, "items": kept}})
