"""Names of speakers: the record of one goes with the last fact that he or she said."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.domain.filter import Filter
from perdure.domain.item import SPEAKER
from perdure.ports.store import Selection, Store, Transaction

_EVERYTHING = Filter(include_closed=True, include_expired=True)


def forget_speakers(store: Store, tx: Transaction, bank: str, erased: Mapping[str, int]) -> None:
    """Delete the records of speakers of whom no fact is left; `erased` says how many of each go in the transaction."""
    recorded = [record.id for record in tx.records(SPEAKER, sorted(erased))] if erased else []
    if not recorded:
        return
    # A reading sees what was committed, and nobody else writes while the transaction lasts.
    with store.reading(bank) as reading:
        for name in recorded:
            said = reading.browse(Selection(where=_EVERYTHING, speaker=name, limit=0)).total
            if said <= erased[name]:
                tx.delete_records(SPEAKER, [name])
