"""Refreshes of mental models in the background, one operation per model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from perdure.domain.mental_model import RefreshMode
from perdure.domain.operation import Operation
from perdure.jobs.kind import SingleStepJob, Step
from perdure.jobs.runner import JobRunner
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.refresh import refresh_mental_model

REFRESH = "refresh_mental_model"


def refresh_job(components: ReflectComponents) -> SingleStepJob:
    """Return the job that refreshes the model named in the step; planned by `submit_refresh`."""

    def run(step: Step) -> Mapping[str, object]:
        mode = step.body.get("mode")
        preview = refresh_mental_model(
            components,
            step.bank,
            str(step.body["mental_model_id"]),
            None if mode is None else RefreshMode(str(mode)),
            within=step.commit,
        )
        return {"mental_model_id": preview.model.id, "outcome": preview.outcome.value}

    return SingleStepJob(REFRESH, run)


def submit_refresh(
    jobs: JobRunner,
    job: SingleStepJob,
    bank: str,
    model_id: str,
    *,
    mode: RefreshMode | None = None,
    not_before: datetime | None = None,
) -> Operation:
    """Queue a refresh, or return the one that waits already; with `not_before` it is parked until then.

    A parked refresh includes later changes; one without `not_before` releases it. A running refresh is not reused.
    """
    plan = job.plan({"mental_model_id": model_id, "mode": None if mode is None else mode.value})
    return jobs.submit(bank, plan, not_before=not_before, reuse=True)
