"""What goes from thoughts when facts are forgotten: a scrubber per kind of record, each called in the transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from perdure.domain.fact import Fact
from perdure.ports.store import Transaction
from perdure.reflect.notes.write import scrub_notes
from perdure.reflect.observations.erasure import scrub_observations
from perdure.reflect.questions import scrub_questions

Scrubber = Callable[[Transaction, Mapping[str, Fact]], bool]
SCRUBBERS: tuple[Scrubber, ...] = (scrub_observations, scrub_questions, scrub_notes)


def scrub_records(tx: Transaction, erased: Mapping[str, Fact]) -> bool:
    """Scrub everything that was thought on erased facts; says whether there was any."""
    scrubbed = [scrubber(tx, erased) for scrubber in SCRUBBERS]
    return any(scrubbed)
