"""Recall tracking: counts what was recalled, after the answer is out."""

from __future__ import annotations

import logging
from concurrent.futures import Future

from perdure.domain.recall import RecallResult
from perdure.errors import StoreError
from perdure.ports.notes import NOTE_PREFIX
from perdure.recall.parts import RecallComponents

log = logging.getLogger(__name__)


def track_recall(parts: RecallComponents, bank: str, result: RecallResult) -> list[Future[None]]:
    """Hand the recalled facts to a thread that counts them; never slows or fails the answer."""
    ids = [r.fact.id for r in result.recollections if not r.fact.id.startswith(NOTE_PREFIX)]
    if not ids:
        return []
    moment = parts.clock()

    def count() -> None:
        try:
            parts.store.record_recalls(bank, ids, moment)
        except StoreError as error:
            log.warning("recall statistics of bank %s were not updated: %s", bank, error)

    return [parts.executor.submit(count)]
