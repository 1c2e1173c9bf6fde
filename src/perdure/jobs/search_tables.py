"""Preparing a bank that became too large for memory to be searched in SQL, in the background."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.jobs.kind import SingleStepJob, Step
from perdure.ports.store import Store

SEARCH_TABLES = "search_tables"
"""Name of the kind and id of its only operation in a bank."""


def search_tables_job(store: Store) -> SingleStepJob:
    """Fills or empties a bank's search tables; planned with `total=PERCENT`."""

    def run(step: Step) -> Mapping[str, object]:
        share = 0.0

        def note(now: float) -> None:
            nonlocal share
            share = now

        step.progress = lambda: share
        step.unfinished = not store.build_search_tables(step.bank, note, wait=False)
        return {}

    return SingleStepJob(SEARCH_TABLES, run)
