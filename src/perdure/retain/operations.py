"""Background retain: operations that survive a crash and can be asked how far they are."""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from perdure.domain.item import Item, RetainResult, UpdateMode
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.record import Record
from perdure.errors import Conflict, NotFound, PerdureError
from perdure.ports.clock import Clock
from perdure.ports.store import Store
from perdure.retain.identity import digest
from perdure.retain.request import RetainRequest, read_item

log = logging.getLogger(__name__)

KIND = "operation"
BATCH = 32
"""Items a step; each step is one transaction, and a resumed operation begins at the first unfinished one."""
STALE_AFTER = timedelta(seconds=60)

Retain = Callable[[RetainRequest], RetainResult]


class Operations:
    """Runs retains one after another on a thread of its own; started when first needed."""

    def __init__(self, store: Store, retain: Retain, clock: Clock) -> None:
        self._store, self._retain, self._clock = store, retain, clock
        self._queue: queue.Queue[tuple[str, str] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def submit(self, request: RetainRequest, operation_id: str | None = None) -> Operation:
        """Keep the request, so that it will be carried out whatever happens; the same id again is the same work."""
        now = self._clock()
        body = _encode(request)
        key = operation_id or request.idempotency_key or digest(request.bank, json.dumps(body), now.isoformat())
        known = self._store.records(KIND, bank=request.bank, ids=[key])
        if known:
            if known[0].body.get("request") != body:
                raise Conflict(f"operation {key!r} exists with other content")
            return _read(known[0])
        operation = Operation(
            id=key, bank=request.bank, kind="retain", total=len(request.items), created_at=now, updated_at=now
        )
        self._save(operation, body)
        self._enqueue(operation)
        return operation

    def get(self, bank: str, operation_id: str) -> Operation:
        """The operation as it stands."""
        return _read(self._record(bank, operation_id))

    def list(self, bank: str) -> list[Operation]:
        """All operations of the bank, oldest first."""
        return [_read(record) for record in self._store.records(KIND, bank=bank)]

    def cancel(self, bank: str, operation_id: str) -> Operation:
        """Stop it before its next step; what it stored so far stays."""
        record = self._record(bank, operation_id)
        operation = _read(record)
        if operation.finished:
            raise Conflict(f"operation {operation_id!r} is already {operation.status.value}")
        return self._mark(record, replace(operation, status=OperationStatus.CANCELLED))

    def retry(self, bank: str, operation_id: str) -> Operation:
        """Go on with a failed or cancelled one from its first unfinished step."""
        record = self._record(bank, operation_id)
        operation = _read(record)
        if operation.status not in (OperationStatus.FAILED, OperationStatus.CANCELLED):
            raise Conflict(f"operation {operation_id!r} is {operation.status.value}, not failed or cancelled")
        revived = self._mark(record, replace(operation, status=OperationStatus.PENDING, error=None))
        self._enqueue(revived)
        return revived

    def resume(self, banks: Sequence[str]) -> int:
        """Take up operations that a process left unfinished; returns how many."""
        count = 0
        for bank in banks:
            for operation in self.list(bank):
                touched = operation.updated_at or self._clock()
                stale = self._clock() - touched > STALE_AFTER
                if not operation.finished and stale:
                    self._enqueue(operation)
                    count += 1
        return count

    def wait(self, bank: str, operation_id: str, timeout: float | None = None) -> Operation:
        """Block until the operation has finished or the time is up."""
        waited = threading.Event()
        deadline = None if timeout is None else self._clock() + timedelta(seconds=timeout)
        while True:
            operation = self.get(bank, operation_id)
            if operation.finished or (deadline is not None and self._clock() >= deadline):
                return operation
            waited.wait(0.02)

    def close(self) -> None:
        """Finish the step at hand and stop; the rest is resumed at the next opening."""
        self._closing.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _record(self, bank: str, operation_id: str) -> Record:
        found = self._store.records(KIND, bank=bank, ids=[operation_id])
        if not found:
            raise NotFound("operation", operation_id)
        return found[0]

    def _enqueue(self, operation: Operation) -> None:
        self._queue.put((operation.bank, operation.id))
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="perdure-operations", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            if self._closing.is_set():
                return
            bank, operation_id = job
            try:
                self._carry_out(bank, operation_id)
            except PerdureError as error:
                log.warning("operation %s of bank %s: %s", operation_id, bank, error)

    def _carry_out(self, bank: str, operation_id: str) -> None:
        record = self._record(bank, operation_id)
        request = _decode(bank, record.body["request"])
        operation = _read(record)
        stored = 0
        while operation.done < operation.total and not self._closing.is_set():
            operation = _read(self._record(bank, operation_id))
            if operation.finished:
                return
            step = request.items[operation.done : operation.done + BATCH]
            try:
                result = self._retain(_step_request(request, step, operation.done))
            except PerdureError as error:
                self._mark(record, replace(operation, status=OperationStatus.FAILED, error=str(error)))
                return
            stored += len(result.fact_ids)
            done = operation.done + len(step)
            status = OperationStatus.COMPLETED if done >= operation.total else OperationStatus.PROCESSING
            operation = self._mark(
                record, replace(operation, done=done, status=status, result={"facts": stored})
            )

    def _mark(self, record: Record, operation: Operation) -> Operation:
        marked = replace(operation, updated_at=self._clock())
        self._save(marked, record.body["request"])
        return marked

    def _save(self, operation: Operation, request: object) -> None:
        body = asdict(operation)
        for name in ("id", "bank", "created_at", "updated_at"):
            body.pop(name)
        self._store.save_records(
            [
                Record(
                    kind=KIND,
                    id=operation.id,
                    bank=operation.bank,
                    body={**body, "status": operation.status.value, "request": request},
                    created_at=operation.created_at,
                    updated_at=operation.updated_at,
                )
            ]
        )


def _step_request(request: RetainRequest, step: Sequence[Item], done: int) -> RetainRequest:
    """A step of a document that an earlier step began adds to it."""
    begun = {item.document_id for item in request.items[:done]} - {None}
    appending = done > 0 and any(item.document_id in begun for item in step)
    return replace(request, items=tuple(step), mode=UpdateMode.APPEND if appending else request.mode)


def _encode(request: RetainRequest) -> dict[str, Any]:
    return {"mode": request.mode.value, "items": [_encode_item(item) for item in request.items]}


def _encode_item(item: Item) -> dict[str, Any]:
    given = {name: value for name, value in asdict(item).items() if value not in (None, "", (), {}, frozenset())}
    for name, value in given.items():
        if isinstance(value, datetime):
            given[name] = value.isoformat()
        elif isinstance(value, frozenset):
            given[name] = sorted(value)
        elif isinstance(value, tuple):
            given[name] = [{"text": text, "type": kind} for text, kind in value]
    return given


def _decode(bank: str, body: object) -> RetainRequest:
    assert isinstance(body, Mapping)
    items = tuple(read_item(item, {}, "content") for item in body["items"])
    return RetainRequest(bank=bank, items=items, mode=UpdateMode(body["mode"]))


def _read(record: Record) -> Operation:
    body: Mapping[str, Any] = record.body
    return Operation(
        id=record.id,
        bank=record.bank,
        kind=str(body["kind"]),
        status=OperationStatus(body["status"]),
        done=int(body["done"]),
        total=int(body["total"]),
        error=body.get("error"),
        result=body.get("result"),
        created_at=record.created_at,
        updated_at=record.updated_at,
    )
