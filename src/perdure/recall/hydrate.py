"""Hydration: the facts of a pool, of which outlines are known at once and the facts themselves are read when needed.

Hundreds of candidates are ranked and some dozens returned, and to read a fact takes several times as long as to outline it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from perdure.domain.fact import Fact
from perdure.domain.ranking import RankingFields, ranking_fields
from perdure.domain.recall import Candidate
from perdure.ports.notes import NOTE_PREFIX
from perdure.recall.parts import RecallComponents

SHORT = 40
"""Tokens of a rather short fact: at first as many facts are read as would fit of such."""
FEWEST = 16
"""So many are read in any case."""


class PoolFacts(Mapping[str, Fact]):
    """Fact id -> fact, read when it is asked for, together with those that come after it. What vanished is not there."""

    def __init__(self, parts: RecallComponents, bank: str, ids: Sequence[str]) -> None:
        self._parts, self._bank = parts, bank
        noted = [fact_id for fact_id in ids if fact_id.startswith(NOTE_PREFIX)]
        notes = parts.notes.read(bank, noted) if noted and parts.notes is not None else []
        stored = [fact_id for fact_id in ids if not fact_id.startswith(NOTE_PREFIX)] if noted else ids
        self._held: dict[str, Fact | None] = {note.id: note for note in notes}
        self._place: Mapping[str, int] = {}
        self._queue: Sequence[str] = ()
        self._at_once = 1
        self.outlines: Mapping[str, RankingFields] = {
            **parts.store.outlines(bank, stored),
            **{note.id: ranking_fields(note) for note in notes},
        }
        """What is known of each without reading it."""

    def expect(self, ids: Sequence[str], at_once: int) -> None:
        """Say in which order facts will be asked for, and how many of them to read at once."""
        self._queue, self._at_once = ids, at_once
        self._place = {fact_id: place for place, fact_id in enumerate(ids)}

    def read(self, ids: Iterable[str]) -> None:
        """Read facts at once that will be asked for."""
        wanted = [fact_id for fact_id in ids if fact_id not in self._held]
        if wanted:
            self._held |= dict.fromkeys(wanted)
            self._held |= {fact.id: fact for fact in self._parts.store.facts(self._bank, wanted)}

    def __getitem__(self, fact_id: str) -> Fact:
        if fact_id not in self._held:
            place = self._place.get(fact_id)
            self.read([fact_id] if place is None else self._queue[place : place + self._at_once])
        fact = self._held[fact_id]
        if fact is None:
            raise KeyError(fact_id)
        return fact

    def __iter__(self) -> Iterator[str]:
        return iter(self.outlines)

    def __len__(self) -> int:
        return len(self.outlines)


def hydrate(facts: PoolFacts, candidates: Sequence[Candidate], max_tokens: int, limit: int | None) -> None:
    """Read what will likely be returned; more is read when it turns out to be needed."""
    ids = [candidate.fact_id for candidate in candidates]
    likely = max(FEWEST, max_tokens // SHORT)
    facts.expect(ids, likely)
    facts.read(ids[: likely if limit is None else min(likely, limit)])
