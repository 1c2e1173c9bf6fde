"""Consolidation in the background: one step that is repeated until the run is over, in a transaction each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from perdure.domain.observation import Scope
from perdure.domain.operation import Operation
from perdure.jobs.kind import JobPlan, SingleStepJob, Step
from perdure.jobs.records import find_operation
from perdure.ports.store import Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.consolidate import (
    FACT_STAGES,
    ConsolidationRun,
    FactStage,
    ModelStage,
    consolidate_step,
)

CONSOLIDATION = "consolidation"
PERCENT = 100


class ConsolidateJob:
    """Runs of consolidation, whose progress is stored in records of the bank."""

    name = CONSOLIDATION

    def __init__(
        self,
        components: ReflectComponents,
        *,
        fact_stages: tuple[FactStage, ...] = FACT_STAGES,
        model_stages: tuple[ModelStage, ...] = (),
        announce: Callable[[Transaction, Operation], None] | None = None,
    ) -> None:
        self._announce = announce
        """Called in the transaction that ends a run, with what it did in all."""
        self._components = components
        self._fact_stages, self._model_stages = fact_stages, model_stages

    def plan(self, scopes: Sequence[Scope] | None = None) -> JobPlan:
        """Plan a run over everything new, or over the facts with all tags of one of the scopes."""
        body = {"scopes": None if scopes is None else [list(scope) for scope in scopes]}
        return SingleStepJob(self.name, lambda _: {}).plan(body, total=PERCENT)

    def run_step(self, step: Step) -> Mapping[str, object]:
        """Do a part of the run; the bank's next turn continues it."""
        body: Mapping[str, Any] = step.body
        told: dict[str, object] = {}

        def commit(tx: Transaction, result: Mapping[str, object], progress: float) -> None:
            told.update(result)
            step.unfinished = progress < 1.0
            step.progress = lambda: progress
            step.commit(tx, result)
            if self._announce is not None and not step.unfinished:
                stored = find_operation(tx, step.operation_id)
                if stored is not None:
                    self._announce(tx, stored.operation)

        scopes = body["scopes"]
        consolidate_step(
            ConsolidationRun(
                components=self._components,
                bank=step.bank,
                operation_id=step.operation_id,
                commit=commit,
                guard=step.require,
                scopes=None if scopes is None else tuple(tuple(scope) for scope in scopes),
                fact_stages=self._fact_stages,
                model_stages=self._model_stages,
            )
        )
        return told
