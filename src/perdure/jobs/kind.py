"""Kinds of background work: how each is planned and carried out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from perdure.jobs.records import Body, PlannedStep, Records
from perdure.retain.identity import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A submission: a kind of work and its steps, in order."""

    kind: str
    steps: Sequence[PlannedStep]
    total: int
    digest: str
    """Equal for equal requests: detects the same operation id for other work."""
    document_id: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """A step that is being carried out."""

    id: str
    bank: str
    operation_id: str
    kind: str
    body: Body
    count: int
    record: Callable[[Step, Records, Mapping[str, object]], None] = field(repr=False)
    progress: Callable[[], float] | None = None
    """Set by the kind in a long step: returns its progress from 0 to 1. Called from other threads."""
    check: Callable[[Step, Records], object] | None = field(default=None, repr=False)
    committed: bool = False
    unfinished: bool = False
    """Set by the kind before it commits if the step has more to do, in the bank's next turn."""

    def commit(self, tx: Records, result: Mapping[str, object]) -> None:
        """Record in the transaction of the step that it is done. Raise if it must not be done (any more).

        Numbers in `result` are added to those of earlier steps, other values replace them.
        """
        self.record(self, tx, result)
        self.committed = True

    def require(self, tx: Records) -> None:
        """Raise within a transaction if the step no longer belongs to this process."""
        if self.check is not None:
            self.check(self, tx)


class JobKind(Protocol):
    """Carries out the steps of one kind of operation."""

    @property
    def name(self) -> str: ...

    def run_step(self, step: Step) -> Mapping[str, object]:
        """Do the step, calling `step.commit` in the transaction that writes; return the result to merge.

        A step that writes nothing to its bank need not commit: it is committed afterwards, and may run twice
        if the process dies in between. `Busy`, `StoreLocked` and `StoreUnreachable` mean "later", any other
        error ends the operation as failed.
        """


@dataclass(frozen=True, slots=True)
class SingleStepJob:
    """Work that is one call of a function."""

    name: str
    run: Callable[[Step], Mapping[str, object]]

    def plan(self, body: Body | None = None, *, total: int = 1) -> JobPlan:
        """Plan the step with its body; `total` is the number of units of progress."""
        work = dict(body or {})
        return JobPlan(
            kind=self.name,
            steps=(PlannedStep(work, total),),
            total=total,
            digest=digest(self.name, json.dumps(work, sort_keys=True)),
        )

    def run_step(self, step: Step) -> Mapping[str, object]:
        return self.run(step)
