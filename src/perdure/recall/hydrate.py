"""Hydration: candidates' facts, from the store and from notes."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate
from perdure.ports.notes import NOTE_PREFIX
from perdure.recall.parts import RecallParts
from perdure.recall.request import RecallRequest


def hydrate(parts: RecallParts, request: RecallRequest, candidates: Sequence[Candidate]) -> dict[str, Fact]:
    """Fact id -> fact; ids that vanished meanwhile are left out."""
    ids = [candidate.fact_id for candidate in candidates]
    stored = [fact_id for fact_id in ids if not fact_id.startswith(NOTE_PREFIX)]
    facts = {fact.id: fact for fact in parts.store.facts(request.bank, stored)}
    noted = [fact_id for fact_id in ids if fact_id.startswith(NOTE_PREFIX)]
    if noted and parts.notes is not None:
        facts.update((fact.id, fact) for fact in parts.notes.read(request.bank, noted))
    return facts
