"""Domain objects as the bodies that clients know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from perdure.domain.bank import Disposition
from perdure.domain.fact import Chunk, Document, Entity, Fact
from perdure.domain.time import Window, parse_instant
from perdure.errors import InvalidInput
from perdure.surfaces.rest.schemas import browse
from perdure.surfaces.rest.schemas.recall import AsOfBody, TemporalWindow
from perdure.surfaces.rest.schemas.shared import DispositionTraits

INVALIDATED = "invalidated: "
"""Flag of a fact that somebody declared wrong; the reason follows."""
_FIRST_YEAR, _LAST_YEAR = 2, 9998
_INCLUSIVE = timedelta(microseconds=1)


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 text."""
    return moment.isoformat() if moment is not None else None


def instant(value: str | datetime | None, field: str) -> datetime | None:
    """A moment in UTC that calendar arithmetic cannot overflow."""
    moment = parse_instant(value, field)
    if moment is None:
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise InvalidInput(field, f"a year from {_FIRST_YEAR} to {_LAST_YEAR}", value)
    return moment.astimezone(UTC)


def window(given: TemporalWindow | None, field: str) -> Window | None:
    """A window that includes its end."""
    if given is None:
        return None
    start, end = instant(given.start, f"{field}.start"), instant(given.end, f"{field}.end")
    if start is None or end is None or start > end:
        raise InvalidInput(field, "a start that is not after the end")
    return Window(start, end + _INCLUSIVE)


def as_of_parts(given: datetime | AsOfBody | None) -> tuple[datetime | None, datetime | None]:
    """The moments on the two axes of time; a single moment stands for both."""
    if isinstance(given, AsOfBody):
        return instant(given.valid, "as_of.valid"), instant(given.known, "as_of.known")
    moment = instant(given, "as_of")
    return moment, moment


def traits(disposition: Disposition) -> DispositionTraits:
    """The traits that clients know."""
    return DispositionTraits(
        skepticism=disposition.skepticism,
        literalism=disposition.literalism,
        empathy=disposition.empathy,
    )


def state_of(fact: Fact) -> Literal["valid", "invalidated"]:
    """Hindsight's word for whether a fact is still believed."""
    return "valid" if fact.retired_at is None else "invalidated"


def reason_of(fact: Fact) -> str | None:
    """Why somebody declared the fact wrong."""
    return next((flag.removeprefix(INVALIDATED) for flag in fact.flags if flag.startswith(INVALIDATED)), None)


def memory_unit(fact: Fact) -> browse.MemoryUnit:
    """A fact in a listing."""
    return browse.MemoryUnit.model_construct(
        id=fact.id,
        text=fact.text,
        context=fact.context,
        date=iso(fact.dated),
        type=fact.type.value,
        fact_type=fact.type.value,
        document_id=fact.document_id,
        chunk_id=fact.chunk_id,
        mentioned_at=iso(fact.mentioned_at),
        occurred_start=iso(fact.occurred_start),
        occurred_end=iso(fact.occurred_end),
        entities=", ".join(fact.entities),
        proof_count=fact.proof_count,
        tags=sorted(fact.tags),
        metadata=dict(fact.metadata),
        state=state_of(fact),
        invalidated_at=iso(fact.retired_at),
        invalidation_reason=reason_of(fact),
        source_memory_ids=list(fact.source_fact_ids) or None,
        superseded_by=fact.superseded_by,
    )


def memory_detail(fact: Fact, previous_id: str | None = None) -> browse.MemoryDetail:
    """One fact with everything."""
    return browse.MemoryDetail.model_construct(
        id=fact.id,
        bank_id=fact.bank,
        text=fact.text,
        context=fact.context,
        date=iso(fact.dated),
        type=fact.type.value,
        mentioned_at=iso(fact.mentioned_at),
        occurred_start=iso(fact.occurred_start),
        occurred_end=iso(fact.occurred_end),
        valid_from=iso(fact.valid_from),
        valid_to=iso(fact.valid_to),
        recorded_at=iso(fact.recorded_at),
        retired_at=iso(fact.retired_at),
        superseded_by=fact.superseded_by,
        previous_id=previous_id,
        entities=list(fact.entities),
        entity_ids=list(fact.entity_ids),
        document_id=fact.document_id,
        chunk_id=fact.chunk_id,
        tags=sorted(fact.tags),
        metadata=dict(fact.metadata),
        state=state_of(fact),
        invalidation_reason=reason_of(fact),
        proof_count=fact.proof_count,
        source_memory_ids=list(fact.source_fact_ids),
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        topic=fact.topic,
        tier=fact.tier.value,
        classification=fact.classification,
        trust=fact.trust,
        confidence=fact.confidence,
        emotion=fact.emotion,
        language=fact.language,
        speaker=fact.speaker,
        recall_count=fact.recall_count,
        last_recalled_at=iso(fact.last_recalled_at),
    )


def entity_item(entity: Entity) -> browse.EntityListItem:
    """An entity in a listing."""
    return browse.EntityListItem(
        id=entity.id,
        canonical_name=entity.name,
        mention_count=entity.mentions,
        first_seen=iso(entity.first_seen),
        last_seen=iso(entity.last_seen),
        metadata={"type": entity.type, "aliases": list(entity.aliases)},
    )


def document_item(document: Document, facts: int) -> browse.DocumentListItem:
    """A document in a listing."""
    return browse.DocumentListItem(
        id=document.id,
        bank_id=document.bank,
        content_hash=document.content_hash,
        created_at=iso(document.created_at) or "",
        updated_at=iso(document.updated_at) or "",
        text_length=document.characters,
        memory_unit_count=facts,
        tags=sorted(document.tags),
        document_metadata=dict(document.metadata),
        retain_params=_retain_params(document),
    )


def document_detail(
    document: Document, chunks: list[Chunk], counts: dict[str, int]
) -> browse.DocumentResponse:
    """A document with its text."""
    return browse.DocumentResponse(
        id=document.id,
        bank_id=document.bank,
        original_text="\n".join(chunk.text for chunk in chunks),
        content_hash=document.content_hash,
        created_at=iso(document.created_at) or "",
        updated_at=iso(document.updated_at) or "",
        memory_unit_count=sum(counts.values()),
        nodes_by_fact_type=counts,
        tags=sorted(document.tags),
        document_metadata=dict(document.metadata),
        retain_params=_retain_params(document),
    )


def chunk_body(chunk: Chunk, document: Document | None) -> browse.ChunkResponse:
    """A chunk; it is as old as its document's last change."""
    return browse.ChunkResponse(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        bank_id=chunk.bank,
        chunk_index=chunk.ordinal,
        chunk_text=chunk.text,
        created_at=iso(document.updated_at if document else None) or "",
    )


def _retain_params(document: Document) -> dict[str, object]:
    given = {"title": document.title, "context": document.context}
    return {name: value for name, value in given.items() if value}
