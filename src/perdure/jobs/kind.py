"""Kinds of background work: what each plans when it is submitted and does when its turn comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from perdure.jobs.records import Body, PlannedStep, Records
from perdure.retain.identity import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """What is submitted: a kind of work and its steps, in order."""

    kind: str
    steps: Sequence[PlannedStep]
    total: int
    digest: str
    """Equal for equal requests: tells whether an operation's id is used again for the same work."""
    document_id: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """A step whose turn has come."""

    id: str
    bank: str
    operation_id: str
    kind: str
    body: Body
    count: int
    record: Callable[[Step, Records, Mapping[str, object]], None] = field(repr=False)
    progress: Callable[[], float] | None = None
    """Set by the kind in a long step: tells from 0 to 1 how far it is. Called from other threads."""
    check: Callable[[Step, Records], object] | None = field(default=None, repr=False)
    committed: bool = False
    unfinished: bool = False
    """Set by the kind before it commits when the step has more to do: it is then taken again, in the bank's next turn."""

    def commit(self, tx: Records, result: Mapping[str, object]) -> None:
        """Record in the transaction that does the step that it is done. Raises when it must not be done (any more).

        Numbers in `result` are added to those of earlier steps, other values replace them.
        """
        self.record(self, tx, result)
        self.committed = True

    def require(self, tx: Records) -> None:
        """Raise within a transaction when the step is no longer this process's to do."""
        if self.check is not None:
            self.check(self, tx)


class JobKind(Protocol):
    """Does the steps of one kind of operation. How it plans them is its own affair."""

    @property
    def name(self) -> str: ...

    def run_step(self, step: Step) -> Mapping[str, object]:
        """Do the step, calling `step.commit` in the transaction that writes; returns the result to merge.

        A step that writes nothing to its bank need not call it: it is committed afterwards, and may run twice when the
        process dies in between. Busy, StoreLocked and StoreUnreachable mean "later", any other error ends the operation as failed.
        """


@dataclass(frozen=True, slots=True)
class SingleStepJob:
    """Work that is one step around a function."""

    name: str
    run: Callable[[Step], Mapping[str, object]]

    def plan(self, body: Body | None = None, *, total: int = 1) -> JobPlan:
        """The step's body; `total` is the number of units in which progress is told."""
        work = dict(body or {})
        return JobPlan(
            kind=self.name,
            steps=(PlannedStep(work, total),),
            total=total,
            digest=digest(self.name, json.dumps(work, sort_keys=True)),
        )

    def run_step(self, step: Step) -> Mapping[str, object]:
        return self.run(step)
