"""Maintenance in the background: clearing the traces of erased content."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.errors import Busy
from perdure.jobs.kind import SingleStepJob, Step
from perdure.ports.store import Store, Traces

CLEAR_TRACES = "clear_traces"
"""Name of the kind and id of its only operation: traces are a matter of the whole store.

It belongs to no bank, so that it neither revives an erased bank nor waits for one. Its lease is a shared record, which
cannot be taken atomically: two processes may both clear, which is harmless, as the second finds nothing to do.
"""
PERCENT = 100


def clear_traces_job(store: Store) -> SingleStepJob:
    """Removes what erased content left in the store's files; planned with `total=PERCENT`."""

    def run(step: Step) -> Mapping[str, object]:
        step.progress = store.traces_progress
        if store.clear_traces() is Traces.PENDING:
            raise Busy("a reader of an earlier state keeps traces of erased content in the files")
        return {}

    return SingleStepJob(CLEAR_TRACES, run)
