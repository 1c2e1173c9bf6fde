"""Maintenance in the background: clearing traces of erased content, building search tables."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.errors import Busy
from perdure.jobs.kind import SingleStepJob, Step
from perdure.ports.store import Store, Traces

CLEAR_TRACES = "clear_traces"
"""Name of the kind and id of its only operation, which concerns the whole store.

It belongs to no bank, so that it neither revives an erased bank nor waits for one. Its lease is a shared
record, which cannot be taken atomically: two processes may both clear, which is harmless.
"""
SEARCH_TABLES = "search_tables"
"""Name of the kind and id of its only operation in a bank."""
PERCENT = 100
"""Total of both, which report their progress as a share."""


def clear_traces_job(store: Store) -> SingleStepJob:
    """Return the job that removes what erased content left in the store's files."""

    def run(step: Step) -> Mapping[str, object]:
        step.progress = store.traces_progress
        if store.clear_traces() is Traces.PENDING:
            raise Busy("a reader of an earlier state keeps traces of erased content in the files")
        return {}

    return SingleStepJob(CLEAR_TRACES, run)


def search_tables_job(store: Store) -> SingleStepJob:
    """Return the job that fills or empties the search tables of a bank, as its size demands."""

    def run(step: Step) -> Mapping[str, object]:
        share = 0.0

        def note(now: float) -> None:
            nonlocal share
            share = now

        step.progress = lambda: share
        step.unfinished = not store.build_search_tables(step.bank, note, wait=False)
        return {}

    return SingleStepJob(SEARCH_TABLES, run)
