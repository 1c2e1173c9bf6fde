"""The runner of all background work.

An operation is a list of steps. Each step is done and recorded in one transaction, so a step that a crash
interrupted is done again as if it had never begun, and none is done twice. Per bank one process at a time
does the steps: the one with the bank's lease, which a step checks in the transaction that it commits.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.plain import readable
from perdure.domain.work import Work, working
from perdure.errors import TRY_AGAIN, Busy, Cancelled, Conflict, NotFound, PerdureError, StoreFull
from perdure.jobs.kind import JobKind, JobPlan, SingleStepJob, Step
from perdure.jobs.records import (
    JOB,
    QUEUED,
    STEP,
    STEPS_AT_ONCE,
    Body,
    ReadRecords,
    Records,
    StoredOperation,
    batches,
    delete_operation,
    enqueue,
    find_operation,
    find_step,
    find_waiting,
    has_lease,
    leased_to_other,
    put_operation,
    read_operation,
    read_step,
    release_lease,
    submit_steps,
    take_lease,
)
from perdure.jobs.rota import Rota, Turn
from perdure.ports.clock import Clock
from perdure.ports.store import Store

log = logging.getLogger(__name__)

LEASE_LENGTH = timedelta(seconds=60)
"""A process that has not renewed its lease for so long is considered dead. Renewed after half of it."""
LOOK_AGAIN = 5.0
"""Seconds until a bank is retried whose lease another process has, or whose step has to wait."""
SHORTEST_PARKING, LONGEST_PARKING = 0.05, 60.0
ROOM_AGAIN = 60.0
"""Seconds until a step that found the disk full is done again, in which it may have asked models for everything."""
"""Seconds between looks at a bank whose work is parked; clocks are set, so none is trusted for longer."""
POLL = 0.2
"""Seconds between checks while waiting for work of another process."""


class StepRevoked(Exception):
    """The step no longer belongs to this process, or has changed: its transaction is rolled back."""


class JobRunner:
    """Submits operations and carries them out on threads that start when first needed.

    Banks take turns with one step each; within a bank the order is that of submission. Every method is
    thread-safe.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        kinds: Iterable[JobKind],
        *,
        threads: int = 1,
        lease: timedelta = LEASE_LENGTH,
        look_again: float = LOOK_AGAIN,
    ) -> None:
        self._store, self._clock = store, clock
        self._kinds = {kind.name: kind for kind in kinds}
        self._lease = lease
        self._look_again = look_again
        self._owner = uuid4().hex
        self._rota = Rota(self._take_turn, threads=threads, look_again=look_again)
        self._queues: dict[str, deque[str]] = {}
        """Bank -> operations of its queue. This and what follows: touched only during the bank's turn."""
        self._running: dict[str, Step] = {}
        self._leased: set[str] = set()
        self._work = Work()
        self._last_submission: datetime | None = None
        self._submission_lock = threading.Lock()

    # What users ask for

    def submit(
        self,
        bank: str,
        plan: JobPlan,
        operation_id: str | None = None,
        *,
        again: bool = False,
        reuse: bool = False,
        not_before: datetime | None = None,
    ) -> Operation:
        """Store the work durably, so that it is carried out even after a crash.

        The same id with the same content is the same operation, with other content a `Conflict`. With `again`
        an ended operation of that id is done anew. With `reuse` a waiting operation of equal work is returned
        instead of a second one. `not_before` parks the work until then; equal work submitted meanwhile with
        `reuse` folds into it, and without `not_before` releases it.
        """
        now = self._submission_time()
        operation = Operation(
            id=operation_id or str(uuid4()),
            bank=bank,
            kind=plan.kind,
            total=plan.total,
            document_id=plan.document_id,
            created_at=now,
            updated_at=now,
            next_retry_at=not_before,
        )
        with self._store.transaction(bank) as tx:
            waiting = self._waiting_twin(tx, bank, plan) if reuse else None
            if waiting is not None:
                operation = self._fold_into(tx, waiting, not_before)
            else:
                earlier = find_operation(tx, operation.id)
                if earlier is not None and again and earlier.operation.finished:
                    delete_operation(tx, earlier)
                elif earlier is not None:
                    if earlier.digest and earlier.digest != plan.digest:
                        raise Conflict(f"operation {operation.id!r} exists with other content")
                    return self._with_progress(earlier)
                submit_steps(tx, operation, plan.digest, plan.steps)
        self._rota.offer([bank])
        return operation

    def get(self, bank: str, operation_id: str) -> Operation:
        """Return the current state of the operation."""
        with self._store.reading(bank) as rows:
            return self._with_progress(self._require(rows, operation_id))

    def list(self, bank: str) -> Sequence[Operation]:
        """Return all operations of the bank, oldest first."""
        with self._store.reading(bank) as rows:
            return [self._with_progress(stored) for stored in readable(rows.records(JOB), read_operation)]

    def unfinished_steps(self, bank: str, operation_id: str) -> Sequence[Body]:
        """Return the steps of an operation that are left, in order."""
        with self._store.reading(bank) as rows:
            ids = self._require(rows, operation_id).unfinished_steps
            return [
                read_step(record).body
                for batch in batches(ids, STEPS_AT_ONCE)
                for record in sorted(rows.records(STEP, batch), key=lambda record: record.id)
            ]

    def wait(self, bank: str, operation_id: str, timeout: float | None = None) -> Operation:
        """Block until the operation has ended or the time is up."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            events = self._rota.events
            operation = self.get(bank, operation_id)
            left = float("inf") if deadline is None else deadline - time.monotonic()
            if operation.finished or left <= 0:
                return operation
            self._rota.wait_for_news(events, min(left, self._look_again if self._rota.has(bank) else POLL))

    def cancel(self, bank: str, operation_id: str) -> Operation:
        """Stop it before its next step; what it stored so far stays."""
        with self._store.transaction(bank) as tx:
            stored = self._require(tx, operation_id)
            if stored.operation.finished:
                raise Conflict(f"operation {operation_id!r} is already {stored.operation.status.value}")
            cancelled = self._change(tx, stored, OperationStatus.CANCELLED)
        self._rota.announce()
        return cancelled.visible

    def retry(self, bank: str, operation_id: str) -> Operation:
        """Continue a failed or cancelled operation from its first unfinished step."""
        with self._store.transaction(bank) as tx:
            stored = self._require(tx, operation_id)
            status = stored.operation.status
            if status not in (OperationStatus.FAILED, OperationStatus.CANCELLED):
                raise Conflict(f"operation {operation_id!r} is {status.value}, not failed or cancelled")
            enqueue(tx, replace(stored.operation, created_at=self._submission_time()))
            revived = self._change(tx, stored, OperationStatus.PENDING)
        self._rota.offer([bank])
        return revived.visible

    def delete(self, bank: str, operation_id: str) -> None:
        """Delete an ended operation with its unfinished steps."""
        with self._store.transaction(bank) as tx:
            stored = self._require(tx, operation_id)
            if not stored.operation.finished:
                status = stored.operation.status.value
                raise Conflict(f"operation {operation_id!r} is {status}; cancel it first")
            delete_operation(tx, stored)

    def register(self, kind: JobKind) -> None:
        """Add a kind of work, and resume what earlier processes left of it."""
        self._kinds[kind.name] = kind
        self._rota.offer(self._store.banks_with_records(QUEUED))

    def add(self, name: str, run: Callable[[str, str, Body], Mapping[str, object]]) -> None:
        """Add a kind of work that is one call of a function of bank, operation id and submitted body."""
        self.register(SingleStepJob(name, lambda step: run(step.bank, step.operation_id, step.body)))

    def start(self, bank: str, name: str, body: Body) -> Operation:
        """Submit work of a kind registered by `add`."""
        kind = self._kinds[name]
        assert isinstance(kind, SingleStepJob)
        return self.submit(bank, kind.plan(body))

    def resume(self) -> int:
        """Resume the work that earlier processes left unfinished; return the number of banks with some."""
        banks = self._store.banks_with_records(QUEUED)
        self._rota.offer(banks)
        return len(banks)

    def interrupt(self) -> None:
        """Cancel running steps in a process that must end soon; the next opening repeats them."""
        self._work.stop("the process ends")

    def close(self) -> None:
        """Finish running steps and release the leases; the next opening continues with the rest."""
        self._rota.close()
        for bank in sorted(self._leased):
            try:
                with self._store.transaction(bank) as tx:
                    release_lease(tx, self._owner)
            except PerdureError as error:
                log.warning("the lease of bank %r was not given back: %s", bank, error)
        self._leased.clear()

    # Rows

    def _require(self, rows: ReadRecords, operation_id: str) -> StoredOperation:
        stored = find_operation(rows, operation_id)
        if stored is None:
            raise NotFound("operation", operation_id)
        return stored

    def _waiting_twin(self, tx: Records, bank: str, plan: JobPlan) -> StoredOperation | None:
        step = self._running.get(bank)
        return find_waiting(tx, plan.kind, plan.digest, None if step is None else step.operation_id)

    def _fold_into(self, tx: Records, waiting: StoredOperation, not_before: datetime | None) -> Operation:
        """Let waiting work stand for equal work; what may begin at once releases what is parked."""
        operation = waiting.operation
        if not_before is None and operation.next_retry_at is not None:
            operation = replace(operation, next_retry_at=None, updated_at=self._clock())
            put_operation(tx, replace(waiting, operation=operation))
        return operation

    def _change(
        self, tx: Records, stored: StoredOperation, status: OperationStatus, error: str | None = None
    ) -> StoredOperation:
        """Change the status of an operation outside of a step."""
        operation = replace(stored.operation, status=status, error=error, updated_at=self._clock())
        changed = replace(stored, operation=operation, partial=0)
        put_operation(tx, changed)
        return changed

    def _submission_time(self) -> datetime:
        """Return the present, later than any earlier submission: queues are ordered by it."""
        with self._submission_lock:
            now = self._clock()
            if self._last_submission is not None:
                now = max(now, self._last_submission + timedelta(microseconds=1))
            self._last_submission = now
            return now

    def _with_progress(self, stored: StoredOperation) -> Operation:
        """Return the operation, with the progress of its step if that runs here."""
        step = self._running.get(stored.operation.bank)
        if step is None or step.operation_id != stored.operation.id or stored.operation.finished:
            return stored.visible
        return _with_partial(stored, step).visible

    # Turns

    def _take_turn(self, bank: str) -> Turn | float:
        """Do the next step of a bank."""
        try:
            step = self._next_step(bank)
            if isinstance(step, Turn | float):
                return step
            self._running[bank] = step
            with self._heartbeat(step), working(self._work):
                result = self._kinds[step.kind].run_step(step)
                if not step.committed:
                    with self._store.transaction(bank) as tx:
                        step.commit(tx, result)
        except Exception as error:  # noqa: BLE001 - the edge of the thread: recorded, and other work goes on
            return self._record_error(bank, self._running.get(bank), error)
        finally:
            self._running.pop(bank, None)
        return Turn.MORE

    def _next_step(self, bank: str) -> Step | Turn | float:
        """Return the first step of the bank's queue, or the seconds to wait if all work is parked."""
        with self._store.reading(bank) as rows:
            if leased_to_other(rows, self._owner, self._clock(), self._lease):
                return Turn.LATER
        queue = self._queues.pop(bank, deque())
        parked: list[datetime] = []
        with self._store.transaction(bank) as tx:
            for refill in (False, True):
                if refill:
                    queue.extend(record.id for record in tx.records(QUEUED))
                while queue:
                    step = self._first_step(tx, bank, queue[0])
                    if isinstance(step, datetime):
                        parked.append(step)
                        queue.popleft()
                    elif step is None:
                        queue.popleft()
                    elif take_lease(tx, bank, self._owner, self._clock(), self._lease):
                        self._queues[bank] = queue
                        self._leased.add(bank)
                        return step
                    else:
                        return Turn.LATER
            release_lease(tx, self._owner)
        self._leased.discard(bank)
        if parked:
            left = (min(parked) - self._clock()).total_seconds()
            return min(max(left, SHORTEST_PARKING), LONGEST_PARKING)
        return Turn.IDLE

    def _first_step(self, tx: Records, bank: str, operation_id: str) -> Step | datetime | None:
        """Return the first unfinished step of an operation; None if there is none for this process.

        For a parked operation, return the moment at which it may begin.
        """
        stored = find_operation(tx, operation_id)
        if stored is None or stored.operation.kind not in self._kinds:
            return None
        if stored.operation.finished:
            tx.delete_records(QUEUED, [operation_id])
            return None
        not_before = stored.operation.next_retry_at
        if not_before is not None and not_before > self._clock():
            return not_before
        step_id = stored.step_id(stored.next_step)
        planned = find_step(tx, step_id)
        if planned is None:
            self._change(tx, stored, OperationStatus.FAILED, f"step {stored.next_step} is missing")
            return None
        return Step(
            id=step_id,
            bank=bank,
            operation_id=operation_id,
            kind=stored.operation.kind,
            body=planned.body,
            count=planned.count,
            record=self._record_step,
            check=self._check_running,
        )

    # Steps

    def _check_step(self, tx: Records, step: Step) -> StoredOperation:
        """Return the step's operation. Raise `StepRevoked` if it belongs to another process or changed."""
        stored = find_operation(tx, step.operation_id)
        planned = find_step(tx, step.id)
        if stored is None or planned is None or planned.body != step.body or not has_lease(tx, self._owner):
            raise StepRevoked(step.id)
        return stored

    def _check_running(self, step: Step, tx: Records) -> None:
        self._check_step(tx, step)

    def _record_step(self, step: Step, tx: Records, result: Mapping[str, object]) -> None:
        """Record in the transaction of a step that it is done, or a part of it."""
        stored = self._check_step(tx, step)
        told = _merged(stored.operation.result or {}, result)
        operation = replace(stored.operation, result=told, updated_at=self._clock())
        if step.unfinished:
            changed = replace(stored, operation=operation)
            put_operation(tx, changed if operation.finished else _with_partial(changed, step))
        else:
            reached = stored.next_step + 1
            if reached == stored.steps:
                status = OperationStatus.COMPLETED
            elif operation.status is OperationStatus.CANCELLED:
                status = OperationStatus.CANCELLED
            else:
                status = OperationStatus.PROCESSING
            operation = replace(operation, status=status, done=operation.done + step.count)
            put_operation(tx, replace(stored, operation=operation, next_step=reached, partial=0))
            tx.delete_records(STEP, [step.id])
        take_lease(tx, step.bank, self._owner, self._clock(), self._lease)

    def _record_error(self, bank: str, step: Step | None, error: Exception) -> Turn | float:
        """End the operation whose step failed, or schedule a retry."""
        if isinstance(error, StepRevoked):
            return Turn.MORE
        if isinstance(error, Cancelled):
            return Turn.LATER
        message = error.public if isinstance(error, PerdureError) else f"{type(error).__name__}: {error}"
        if not isinstance(error, PerdureError):
            log.error("background work of bank %r", bank, exc_info=error)
        if step is None or isinstance(error, (Busy, *TRY_AGAIN)):
            log.warning("background work of bank %r has to wait: %s", bank, message)
            return Turn.LATER
        if isinstance(error, StoreFull):
            log.warning("background work of bank %r waits until the disk has room", bank)
            return ROOM_AGAIN
        try:
            with self._store.transaction(bank) as tx:
                stored = self._check_step(tx, step)
                if not stored.operation.finished:
                    self._change(tx, stored, OperationStatus.FAILED, message)
        except StepRevoked:
            return Turn.MORE
        except PerdureError as failure:
            log.warning("operation %s failed (%s), not recorded: %s", step.operation_id, message, failure)
            return Turn.LATER
        return Turn.MORE

    @contextmanager
    def _heartbeat(self, step: Step) -> Iterator[None]:
        """Renew the lease while the step runs."""
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(self._lease.total_seconds() / 4):
                try:
                    self._renew(step)
                except PerdureError as error:
                    log.info("the lease of bank %r was not renewed: %s", step.bank, error)
                except StepRevoked:
                    return

        thread = threading.Thread(target=beat, name="perdure-jobs-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _renew(self, step: Step) -> None:
        """Renew the lease, and publish the step's progress."""
        with self._store.transaction(step.bank) as tx:
            stored = self._check_step(tx, step)
            take_lease(tx, step.bank, self._owner, self._clock(), self._lease)
            if not stored.operation.finished:
                put_operation(tx, _with_partial(stored, step))


def _with_partial(stored: StoredOperation, step: Step) -> StoredOperation:
    """Return an operation with the progress of its running step."""
    partial = 0 if step.progress is None else int(step.count * min(1.0, max(0.0, step.progress())))
    operation = replace(stored.operation, status=OperationStatus.PROCESSING)
    return replace(stored, operation=operation, partial=partial)


def _merged(earlier: Mapping[str, object], result: Mapping[str, object]) -> dict[str, object]:
    """Merge the results of two steps: numbers are added, other values replaced."""
    merged = dict(earlier)
    for name, value in result.items():
        before = merged.get(name)
        merged[name] = value + before if isinstance(value, int) and isinstance(before, int) else value
    return merged
