"""The history of a document, derived from the times of its facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from perdure.domain.fact import Fact, FactType
from perdure.errors import NotFound
from perdure.ports.store import FactsWhere, Reading


def document_history(reading: Reading, document_id: str) -> list[DocumentEvent]:
    """Return retains, invalidations and changes of observations, newest first."""
    if not reading.documents([document_id]):
        raise NotFound("document", document_id)
    facts = [
        fact
        for fact in reading.find_facts(FactsWhere(document_ids=[document_id]))
        if fact.type is not FactType.OBSERVATION
    ]
    resting = reading.find_facts(FactsWhere(source_fact_ids=[fact.id for fact in facts])) if facts else []
    observations = [fact for fact in resting if fact.type is FactType.OBSERVATION]
    events = [
        *_retains(document_id, facts),
        *_invalidations(document_id, facts),
        *_consolidations(document_id, observations),
    ]
    return sorted(events, key=lambda event: event.at, reverse=True)


def _retains(document_id: str, facts: Sequence[Fact]) -> Iterator[DocumentEvent]:
    """Yield the retains of a document: all facts of one have the same moment."""
    own = {fact.id for fact in facts}
    added: dict[datetime, int] = defaultdict(int)
    removed: dict[datetime, int] = defaultdict(int)
    for fact in facts:
        if fact.recorded_at is not None:
            added[fact.recorded_at] += 1
        by_other = fact.superseded_by is not None and fact.superseded_by not in own
        if fact.retired_at is not None and fact.invalidated_at is None and not by_other:
            removed[fact.retired_at] += 1
    moments = sorted({*added, *removed})
    for moment in moments:
        is_append = moment != moments[0] and not removed[moment]
        yield DocumentEvent(
            document_id=document_id,
            kind=DocumentEventKind.APPEND if is_append else DocumentEventKind.RETAIN,
            at=moment,
            facts_added=added[moment],
            facts_removed=removed[moment],
        )


def _invalidations(document_id: str, facts: Sequence[Fact]) -> Iterator[DocumentEvent]:
    for fact in facts:
        if fact.invalidated_at is not None:
            yield DocumentEvent(
                document_id=document_id,
                kind=DocumentEventKind.FACT_INVALIDATED,
                at=fact.invalidated_at,
                fact_id=fact.id,
                facts_removed=1,
            )


def _consolidations(document_id: str, observations: Sequence[Fact]) -> Iterator[DocumentEvent]:
    created: dict[datetime, list[str]] = defaultdict(list)
    removed: dict[datetime, list[str]] = defaultdict(list)
    for one in observations:
        if one.recorded_at is not None:
            created[one.recorded_at].append(one.id)
        if one.retired_at is not None:
            removed[one.retired_at].append(one.id)
    for moment in sorted({*created, *removed}):
        yield DocumentEvent(
            document_id=document_id,
            kind=DocumentEventKind.CONSOLIDATION,
            at=moment,
            observations_created=tuple(created[moment]),
            observations_removed=tuple(removed[moment]),
        )


class DocumentEventKind(StrEnum):
    RETAIN = "retain"
    APPEND = "append"
    FACT_INVALIDATED = "fact_invalidated"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEvent:
    """One change of a document."""

    document_id: str
    kind: DocumentEventKind
    at: datetime
    fact_id: str | None = None
    """The fact that was invalidated."""
    facts_added: int = 0
    facts_removed: int = 0
    observations_created: tuple[str, ...] = ()
    observations_removed: tuple[str, ...] = ()
