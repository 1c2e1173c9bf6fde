"""Background retain: operations that survive a crash and can be asked how far they are."""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from perdure.domain.item import Item, RetainResult, UpdateMode
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.record import Record
from perdure.errors import Conflict, NotFound, PerdureError
from perdure.ports.clock import Clock
from perdure.ports.store import Store, WriteBatch
from perdure.retain.identity import digest
from perdure.retain.request import RetainRequest, read_item

log = logging.getLogger(__name__)

KIND = "operation"
BATCH = 32
"""Items a step; each step is one transaction, and a resumed operation begins at the first unfinished one."""
STALE_AFTER = timedelta(seconds=60)
"""Work of another process that shows no progress for so long is taken over."""
LOOK_AGAIN = 5.0
"""Seconds between looks at what other processes work on."""

Retain = Callable[[RetainRequest], RetainResult]


class Operations:
    """Runs retains one after another on a thread of its own; started when first needed."""

    def __init__(self, store: Store, retain: Retain, clock: Clock) -> None:
        self._store, self._retain, self._clock = store, retain, clock
        self._name = uuid4().hex
        """Marks the operations that are carried out here."""
        self._others: list[tuple[str, str]] = []
        """Unfinished work that another process may be carrying out, or may have died over."""
        self._queue: queue.Queue[tuple[str, str] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._held: set[tuple[str, str]] = set()

    def submit(self, request: RetainRequest, operation_id: str | None = None) -> Operation:
        """Keep the request, so that it will be carried out whatever happens; the same id again is the same work."""
        now = self._clock()
        body = _encode(request)
        key = (
            operation_id or request.idempotency_key or digest(request.bank, json.dumps(body), now.isoformat())
        )
        known = self._store.records(KIND, bank=request.bank, ids=[key])
        if known:
            if _digest_of(known[0]) != _request_digest(body):
                raise Conflict(f"operation {key!r} exists with other content")
            return _read(known[0])
        operation = Operation(
            id=key, bank=request.bank, kind="retain", total=len(request.items), created_at=now, updated_at=now
        )
        asked = {"request": body, "digest": _request_digest(body)}
        # In one transaction with the bank, which may be new: what is unfinished is looked for by bank.
        self._store.write(WriteBatch(bank=request.bank, records=[_to_record(operation, asked, self._name)]))
        self._enqueue(operation.bank, operation.id)
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
        return self._mark(record, replace(operation, status=OperationStatus.CANCELLED), _owner(record))

    def retry(self, bank: str, operation_id: str) -> Operation:
        """Go on with a failed or cancelled one from its first unfinished step."""
        record = self._record(bank, operation_id)
        operation = _read(record)
        if operation.status not in (OperationStatus.FAILED, OperationStatus.CANCELLED):
            raise Conflict(f"operation {operation_id!r} is {operation.status.value}, not failed or cancelled")
        revived = self._mark(record, replace(operation, status=OperationStatus.PENDING, error=None))
        self._enqueue(bank, operation_id)
        return revived

    def resume(self, banks: Sequence[str]) -> int:
        """Take up operations that a process left unfinished; returns how many.

        What a process gave back when it closed is taken up at once, what one may have died over when it is stale.
        """
        unfinished = [
            (bank, record.id)
            for bank in banks
            for record in self._store.records(KIND, bank=bank)
            if not _read(record).finished
        ]
        taken = [(bank, ident) for bank, ident in unfinished if self._take(bank, ident)]
        self._others += [job for job in unfinished if job not in taken]
        if self._others:
            self._start()
        return len(taken)

    def drop_texts(self, bank: str) -> None:
        """Take out of all operations the text that they have stored by now, so that it can be erased."""
        for record in self._store.records(KIND, bank=bank):
            operation = _read(record)
            stripped = _without_texts(record.body["request"], operation.done)
            if stripped != record.body["request"]:
                body = {**record.body, "digest": _digest_of(record), "request": stripped}
                self._store.save_records([replace(record, body=body)])

    def wait(self, bank: str, operation_id: str, timeout: float | None = None) -> Operation:
        """Block until the operation has finished or the time is up."""
        waited = threading.Event()
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            operation = self.get(bank, operation_id)
            if operation.finished or (deadline is not None and time.monotonic() >= deadline):
                return operation
            waited.wait(0.02)

    def close(self) -> None:
        """Finish the step at hand and give back the rest, which the next opening resumes."""
        self._closing.set()
        with self._lock:
            thread = self._thread
        if thread is None:
            return
        self._queue.put(None)
        thread.join()
        while self._held:
            bank, operation_id = self._held.pop()
            try:
                record = self._record(bank, operation_id)
                if _owner(record) == self._name and not _read(record).finished:
                    self._store.save_records([replace(record, body={**record.body, "owner": None})])
            except PerdureError as error:
                log.warning("operation %s of bank %s was not given back: %s", operation_id, bank, error)

    def _record(self, bank: str, operation_id: str) -> Record:
        found = self._store.records(KIND, bank=bank, ids=[operation_id])
        if not found:
            raise NotFound("operation", operation_id)
        return found[0]

    def _take(self, bank: str, operation_id: str) -> bool:
        """Carry out here what nobody else seems to be carrying out; False when somebody does."""
        record = self._record(bank, operation_id)
        touched = record.updated_at or self._clock()
        # A time far in the future is one of a clock that was set back since.
        stale = abs(self._clock() - touched) > STALE_AFTER
        if _owner(record) is not None and not stale:
            return False
        self._mark(record, _read(record))
        self._enqueue(bank, operation_id)
        return True

    def _take_over(self) -> None:
        """Look again at what others were working on."""
        for job in list(self._others):
            found = self._store.records(KIND, bank=job[0], ids=[job[1]])
            if not found or _read(found[0]).finished or self._take(*job):
                self._others.remove(job)

    def _enqueue(self, bank: str, operation_id: str) -> None:
        self._held.add((bank, operation_id))
        self._queue.put((bank, operation_id))
        self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="perdure-operations", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                job = self._queue.get(timeout=LOOK_AGAIN if self._others else None)
            except queue.Empty:
                job = None
            if self._closing.is_set():
                return
            try:
                if job is None:
                    self._take_over()
                else:
                    self._carry_out(*job)
            except PerdureError as error:
                log.warning("background work %s: %s", job, error)
                self._others += [job] if job is not None else []

    def _carry_out(self, bank: str, operation_id: str) -> None:
        while not self._closing.is_set():
            found = self._store.records(KIND, bank=bank, ids=[operation_id])
            if not found or _read(found[0]).finished or _owner(found[0]) != self._name:
                self._held.discard((bank, operation_id))
                return
            operation = _read(found[0])
            try:
                request = _step_request(bank, found[0].body["request"], operation.done)
                result = self._retain(request)
            except PerdureError as error:
                self._end_step(operation, OperationStatus.FAILED, error=str(error))
                return
            except Exception as error:
                # The edge of the thread: who asked for the work learns of it, and the work after it goes on.
                log.exception("operation %s of bank %s", operation_id, bank)
                self._end_step(operation, OperationStatus.FAILED, error=f"{type(error).__name__}: {error}")
                return
            stored = int(str((operation.result or {}).get("facts", 0))) + len(result.fact_ids)
            done = operation.done + len(request.items)
            status = OperationStatus.COMPLETED if done >= operation.total else OperationStatus.PROCESSING
            self._end_step(operation, status, done=done, result={"facts": stored})

    def _end_step(self, operation: Operation, status: OperationStatus, **changes: Any) -> None:
        """Save how far it is, unless it was erased or taken over meanwhile; what was cancelled meanwhile stays so."""
        for record in self._store.records(KIND, bank=operation.bank, ids=[operation.id]):
            if _owner(record) != self._name:
                return
            cancelled = _read(record).status is OperationStatus.CANCELLED
            if cancelled and status is not OperationStatus.COMPLETED:
                status = OperationStatus.CANCELLED
            self._mark(record, replace(operation, status=status, **changes))

    def _mark(self, record: Record, operation: Operation, owner: str | None = None) -> Operation:
        marked = replace(operation, updated_at=self._clock())
        asked = {"request": record.body["request"], "digest": _digest_of(record)}
        self._store.save_records([_to_record(marked, asked, owner or self._name)])
        return marked


def _to_record(operation: Operation, asked: Mapping[str, object], owner: str | None) -> Record:
    body = asdict(operation)
    for name in ("id", "bank", "created_at", "updated_at"):
        body.pop(name)
    return Record(
        kind=KIND,
        id=operation.id,
        bank=operation.bank,
        body={**body, "status": operation.status.value, "owner": owner, **asked},
        created_at=operation.created_at,
        updated_at=operation.updated_at,
    )


def _step_request(bank: str, body: object, done: int) -> RetainRequest:
    """The next step; one of a document that an earlier step began adds to it."""
    assert isinstance(body, Mapping)
    items = [read_item(item, {}, "content") for item in body["items"][done : done + BATCH]]
    begun = {item.get("document_id") for item in body["items"][:done]} - {None}
    appending = any(item.document_id in begun for item in items)
    mode = UpdateMode.APPEND if appending else UpdateMode(body["mode"])
    return RetainRequest(bank=bank, items=tuple(items), mode=mode)


def _without_texts(body: object, done: int) -> dict[str, Any]:
    """A request of whose first items only the documents are named."""
    assert isinstance(body, Mapping)
    named = [{name: item[name] for name in ("document_id",) if name in item} for item in body["items"][:done]]
    return {**body, "items": [*named, *body["items"][done:]]}


def _request_digest(body: Mapping[str, Any]) -> str:
    return digest(json.dumps(body, sort_keys=True))


def _digest_of(record: Record) -> str:
    """Tells whether a request is the same, also after its texts were taken out."""
    held = record.body.get("digest")
    request = record.body["request"]
    assert isinstance(request, dict)
    return str(held) if held else _request_digest(request)


def _owner(record: Record) -> str | None:
    """Who carries the operation out; those of before this was noted belong to somebody."""
    owner = record.body.get("owner", "")
    return None if owner is None else str(owner)


def _encode(request: RetainRequest) -> dict[str, Any]:
    return {"mode": request.mode.value, "items": [_encode_item(item) for item in request.items]}


def _encode_item(item: Item) -> dict[str, Any]:
    given = {
        name: value for name, value in asdict(item).items() if value not in (None, "", (), {}, frozenset())
    }
    for name, value in given.items():
        if isinstance(value, datetime):
            given[name] = value.isoformat()
        elif isinstance(value, frozenset):
            given[name] = sorted(value)
        elif isinstance(value, tuple):
            given[name] = [{"text": text, "type": kind} for text, kind in value]
    return given


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
