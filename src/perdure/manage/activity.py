"""The activity of a bank: what was recalled, put into prompts and retained lately."""

from __future__ import annotations

from perdure.domain.activity import ACTIVITY, Activity, ActivityKind
from perdure.domain.bank import check_bank_id
from perdure.domain.plain import from_record
from perdure.domain.verb import READ, verb
from perdure.errors import InvalidInput
from perdure.ports.store import Store


class ActivityLog:
    """What was done with a memory lately: `memory.activity`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @verb(READ)
    def list(
        self, bank: str, *, kind: ActivityKind | str | None = None, text: str = "", limit: int = 100
    ) -> list[Activity]:
        """Return the newest recalls, prompts and retains of a bank, newest first, optionally of one kind or with a text.

        They are kept while the bank's setting `activity_log` is not false; a forget in the bank deletes them.
        """
        if kind is not None and kind not in set(ActivityKind):
            raise InvalidInput("kind", "one of " + ", ".join(ActivityKind), kind)
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise InvalidInput("limit", "an integer of at least 0", limit)
        with self._store.reading(check_bank_id(bank)) as reading:
            entries = [from_record(Activity, record) for record in reading.records(ACTIVITY)]
        words = text.casefold()
        matching = (
            entry
            for entry in sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)
            if (kind is None or entry.kind == kind)
            and (
                words in entry.query.casefold() or any(words in one.casefold() for one in entry.document_ids)
            )
        )
        return list(matching)[:limit]
