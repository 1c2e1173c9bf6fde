"""Consolidation in the background: one step that is repeated until the run is over, in a transaction each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from perdure.domain.operation import Operation
from perdure.jobs.kind import SingleStepJob, Step
from perdure.jobs.records import find_operation
from perdure.ports.store import Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.consolidate import (
    FACT_STAGES,
    ConsolidationRun,
    ModelStage,
    consolidate_step,
)

CONSOLIDATION = "consolidation"
PERCENT = 100


def consolidate_job(
    components: ReflectComponents, model_stage: ModelStage, announce: Callable[[Transaction, Operation], None]
) -> SingleStepJob:
    """Return the job whose runs store their progress in records of the bank.

    `announce` is called in the transaction that ends a run, with what it did in all.
    """

    def run(step: Step) -> Mapping[str, object]:
        body: Mapping[str, Any] = step.body
        told: dict[str, object] = {}

        def commit(tx: Transaction, result: Mapping[str, object], progress: float) -> None:
            told.update(result)
            step.unfinished = progress < 1.0
            step.progress = lambda: progress
            step.commit(tx, result)
            stored = None if step.unfinished else find_operation(tx, step.operation_id)
            if stored is not None:
                announce(tx, stored.operation)

        scopes = body.get("scopes")
        consolidate_step(
            ConsolidationRun(
                components=components,
                bank=step.bank,
                operation_id=step.operation_id,
                commit=commit,
                guard=step.require,
                scopes=None if scopes is None else tuple(tuple(scope) for scope in scopes),
                fact_stages=FACT_STAGES,
                model_stages=(model_stage,),
            )
        )
        return told

    return SingleStepJob(CONSOLIDATION, run)
