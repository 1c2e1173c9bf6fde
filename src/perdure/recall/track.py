"""Tracking: counts what was recalled and records activity in the background, so that no answer waits for it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from threading import Condition, Thread

from perdure.domain.activity import ACTIVITY, SETTING, Activity
from perdure.domain.plain import to_record
from perdure.domain.recall import RecallResult
from perdure.domain.record import LAST_ERASURE
from perdure.ports.notes import NOTE_PREFIX
from perdure.ports.store import Store

GATHER_SECONDS = 0.25
"""How long a batch waits for more."""
MAX_PENDING = 50_000
"""Recalled facts that may wait to be counted; beyond it recalls are not counted."""
CLOSE_SECONDS = 5.0
MAX_ENTRIES = 500
"""Entries of activity kept per bank, the newest."""

log = logging.getLogger(__name__)


class RecallTracker:
    """Counts recalled facts in batches on a thread of its own; never slows or fails an answer."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed = Condition()
        self._pending: list[tuple[str, str, datetime]] = []
        """(bank, fact id, moment)."""
        self._entries: list[Activity] = []
        self._writing = 0
        """Recalled facts and entries that are being written."""
        self._hurried = False
        """Whether somebody waits for what is pending."""
        self._closed = False
        self._thread: Thread | None = None

    def track(self, bank: str, result: RecallResult, moment: datetime) -> None:
        """Count the recalled facts some time soon."""
        ids = [one.fact.id for one in result.recollections if not one.fact.id.startswith(NOTE_PREFIX)]
        with self._changed:
            if not ids or self._closed or self._store.read_only:
                return
            if len(self._pending) + len(ids) > MAX_PENDING:
                log.warning("recall statistics of bank %s were not updated: too many are waiting", bank)
                return
            self._pending += [(bank, fact_id, moment) for fact_id in ids]
            self._wake()

    def note(self, entry: Activity) -> None:
        """Record an entry of activity some time soon, unless too many wait."""
        with self._changed:
            if self._closed or self._store.read_only or len(self._entries) >= MAX_ENTRIES:
                return
            self._entries.append(entry)
            self._wake()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="perdure-recall-tracker", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def flush(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Wait until everything is counted, at most so long; whether it is."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()
            return self._changed.wait_for(
                lambda: not (self._pending or self._entries or self._writing), seconds
            )

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Count what waits, at most so long, and end the thread; nothing is counted from now on."""
        with self._changed:
            self._closed = True
        if not self.flush(seconds):
            uncounted = len(self._pending) + self._writing
            log.warning("closed before %d recalled facts were counted", uncounted)
        if self._thread is not None:
            self._thread.join(seconds)  # so that its connection is released before the file is

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._entries or self._closed)
                self._changed.wait_for(lambda: self._hurried, GATHER_SECONDS)
                batch, self._pending = self._pending, []
                entries, self._entries = self._entries, []
                self._writing, self._hurried = len(batch) + len(entries), False
            self._write(batch)
            self._record(entries)
            with self._changed:
                self._writing = 0
                self._changed.notify_all()
                if self._closed and not (self._pending or self._entries):
                    return

    def _write(self, batch: Sequence[tuple[str, str, datetime]]) -> None:
        by_bank: defaultdict[str, list[tuple[str, datetime]]] = defaultdict(list)
        for bank, fact_id, moment in batch:
            by_bank[bank].append((fact_id, moment))
        for bank, recalls in by_bank.items():
            try:
                self._store.record_recalls(bank, recalls)
            except Exception as error:  # noqa: BLE001 - statistics that fail must not end the thread
                log.warning("recall statistics of bank %s were not updated: %s", bank, error)

    def _record(self, entries: Sequence[Activity]) -> None:
        for bank, own in groupby(
            sorted(entries, key=lambda entry: (entry.bank, entry.at)), lambda entry: entry.bank
        ):
            try:
                record_activity(self._store, bank, list(own))
            except Exception as error:  # noqa: BLE001 - a record that fails must not end the thread
                log.warning("activity of bank %s was not recorded: %s", bank, error)


def record_activity(store: Store, bank: str, entries: Sequence[Activity]) -> None:
    """Record entries if the bank wants them; those from before its last erasure may quote what went, and are dropped."""
    if not any(stored.settings.get(SETTING) is not False for stored in store.banks([bank])):
        return
    with store.transaction(bank) as tx:
        if tx.bank() is None:
            return
        erased_at = max((one.updated_at for one in tx.records(LAST_ERASURE) if one.updated_at), default=None)
        kept = [entry for entry in entries if erased_at is None or entry.at > erased_at]
        tx.put_records([to_record(ACTIVITY, entry, created_at=entry.at) for entry in kept])
        ids = [record.id for record in tx.records(ACTIVITY)]
        tx.delete_records(ACTIVITY, ids[: max(len(ids) - MAX_ENTRIES, 0)])
