"""Reprocessing: extracting the facts of a stored document again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from perdure.domain.fact import FOREIGN, GIVEN_RELATION, Chunk, Document, Fact, FactType, Origin
from perdure.domain.item import (
    KEEPS_CORRECTIONS,
    SPEAKER,
    UNFINISHED_DOCUMENT,
    Item,
    Relation,
    ReprocessPreview,
    RetainResult,
    UpdateMode,
)
from perdure.domain.record import Record
from perdure.errors import NotFound
from perdure.jobs.kind import JobPlan, SingleStepJob, Step
from perdure.jobs.records import PlannedStep
from perdure.ports.store import FactsWhere, Reading
from perdure.retain.components import RetainComponents
from perdure.retain.identity import digest
from perdure.retain.pipeline import retain
from perdure.retain.plan import corrected_facts, item_turns
from perdure.retain.request import RetainRequest, stamp_items

REPROCESS = "reprocess"
DOCUMENTS_AT_ONCE = 200
DOCUMENTS_PER_STEP = 10
SHOWN_TEXTS = 20
"""Texts of each kind that a preview shows."""


def reprocess_job(
    components: RetainComponents, after_retain: Callable[[RetainResult], RetainResult]
) -> SingleStepJob:
    """Return the job that reads the documents of a step anew."""

    def run(step: Step) -> Mapping[str, object]:
        items: Sequence[Mapping[str, str]] = step.body["items"]  # type: ignore[assignment]
        facts = 0
        for item in items:
            keeps = KEEPS_CORRECTIONS in item
            result = reprocess_document(components, step.bank, item["document_id"], keeps_corrections=keeps)
            facts += len(after_retain(result).fact_ids)
        return {"facts": facts}

    return SingleStepJob(REPROCESS, run)


def plan_reprocess(document_ids: Sequence[str]) -> JobPlan:
    """Return the plan to read documents anew, some of them a step; what a user corrected stays."""
    parts = [
        document_ids[start : start + DOCUMENTS_PER_STEP]
        for start in range(0, max(len(document_ids), 1), DOCUMENTS_PER_STEP)
    ]
    steps = [
        PlannedStep({"items": [{"document_id": one, KEEPS_CORRECTIONS: "true"} for one in part]}, len(part))
        for part in parts
    ]
    total = len(document_ids)
    return JobPlan(kind=REPROCESS, steps=steps, total=total, digest=digest(REPROCESS, *document_ids))


def is_outdated(fact: Fact) -> bool:
    """Return whether an earlier extractor worded an open fact, or read a relation in its words.

    The words of a statement are those of its source, and its relation comes from the caller; facts of language
    models name what made them.
    """
    is_drawn = fact.chunk_id is not None and fact.source_text != "" and fact.type is not FactType.OBSERVATION
    if not is_drawn or fact.retired_at is not None or fact.made_by or GIVEN_RELATION in fact.flags:
        return False
    return fact.text != fact.source_text or fact.relation is not None


def outdated_documents(reading: Reading) -> list[str]:
    """Return the ids of the documents that have facts of an earlier extractor, oldest first."""
    corrected = corrected_facts(reading)
    outdated: dict[str, None] = {}
    ids = [document.id for document in reversed(reading.documents())]
    for start in range(0, len(ids), DOCUMENTS_AT_ONCE):
        facts = reading.find_facts(FactsWhere(document_ids=ids[start : start + DOCUMENTS_AT_ONCE]))
        outdated |= {
            fact.document_id: None
            for fact in facts
            if fact.document_id is not None and is_outdated(fact) and fact.id not in corrected
        }
    return list(outdated)


def preview_reprocess(components: RetainComponents, bank: str) -> ReprocessPreview:
    """Return what reading the outdated documents anew would change; nothing is written."""
    gone: list[str] = []
    new: list[str] = []
    unchanged = without = 0
    with components.store.reading(bank) as reading:
        documents = outdated_documents(reading)
        corrected = corrected_facts(reading)
        for document_id in documents:
            facts = reading.find_facts(FactsWhere(document_ids=[document_id]))
            stays = [fact for fact in facts if fact.retired_at is None and fact.id not in corrected]
            wrong = [fact.source_text for fact in facts if fact.invalidated_at is not None]
            items = stamp_items(document_items(reading, document_id), components.clock())
            drawn = components.extractor.extract(item_turns(items))
            texts = {one.text for one in drawn if not any(text and text in one.text for text in wrong)}
            gone += [fact.text for fact in stays if fact.text not in texts]
            new += [text for text in texts if text not in {fact.text for fact in stays}]
            kept = [fact for fact in stays if fact.text in texts]
            unchanged += len(kept)
            without += sum(is_outdated(fact) for fact in kept)
    return ReprocessPreview(
        documents=tuple(documents),
        retired=len(gone),
        new=len(new),
        unchanged=unchanged,
        without_relation=without,
        retired_texts=tuple(gone[:SHOWN_TEXTS]),
        new_texts=tuple(sorted(new)[:SHOWN_TEXTS]),
    )


def document_items(reading: Reading, document_id: str) -> list[Item]:
    """Return the turns of a stored document as items for retain; raise `NotFound` if there is none.

    Other fields of items are stored with facts: the strictest of the document's facts applies to all of them.
    """
    stored = reading.documents([document_id])
    if not stored:
        raise NotFound("document", document_id)
    facts = reading.find_facts(FactsWhere(document_ids=[document_id]))
    relations = tuple(
        Relation(
            subject=fact.subject, relation=fact.relation, object=fact.object, valid_from=fact.valid_from,
            valid_to=fact.valid_to if fact.end_recorded_at is None else None,
        )
        for fact in facts
        if GIVEN_RELATION in fact.flags and fact.retired_at is None
        if fact.subject and fact.relation and fact.object
    )  # fmt: skip
    users = {record.id for record in reading.records(SPEAKER) if record.body.get("role") == "user"}
    return [
        item
        for chunk in reading.chunks(document_id=document_id)
        for item in _items(stored[0], chunk, facts, users, relations)
    ]


def _origin_of(facts: Sequence[Fact], speaker: str) -> Origin | None:
    """Return the origin of what somebody says in a document, a foreign one first; None where there is no single one."""
    origins = {fact.origin for fact in facts if fact.speaker == speaker}
    foreign = origins & FOREIGN
    return next(iter(foreign or origins)) if foreign or len(origins) == 1 else None


def _items(
    document: Document,
    chunk: Chunk,
    facts: list[Fact],
    users: Collection[str],
    relations: tuple[Relation, ...],
) -> Iterator[Item]:
    ends = [fact.expires_at for fact in facts if fact.expires_at is not None]
    defaults = Item(content=".")
    turns = [(span.start, span.end, span.speaker, span.is_agent, span.said_at) for span in chunk.spans]
    for start, end, speaker, is_agent, said_at in turns or [(0, len(chunk.text), "", False, None)]:
        text = chunk.text[start:end]
        if text.strip():
            yield Item(
                content=text,
                document_id=document.id,
                speaker=speaker,
                role="assistant" if is_agent else "user" if speaker in users else "",
                origin=_origin_of(facts, speaker),
                timestamp=said_at,
                timeless=said_at is None,
                title=document.title,
                context=document.context,
                tags=document.tags,
                relations=relations,
                metadata=document.metadata,
                classification=max((fact.classification for fact in facts), default=defaults.classification),
                trust=min((fact.trust for fact in facts), default=defaults.trust),
                credibility=max((fact.credibility for fact in facts), default=defaults.credibility),
                expires_at=min(ends) if facts and len(ends) == len(facts) else None,
            )


def reprocess_document(
    components: RetainComponents, bank: str, document_id: str, *, keeps_corrections: bool = False
) -> RetainResult:
    """Extract a document's facts again: those that are found again stay, the others are retired.

    With `keeps_corrections`, what a user corrected stays and what was declared wrong does not come back.

    The document is marked as unfinished, which makes retain read it from its beginning. After a crash, the
    next retain of the document does the same.
    """
    with components.store.reading(bank) as reading:
        items = document_items(reading, document_id)
    with components.store.transaction(bank) as tx:
        if not tx.documents([document_id]):
            raise NotFound("document", document_id)
        reason: dict[str, object] = {"reason": "it is being read anew"}
        if keeps_corrections:
            reason[KEEPS_CORRECTIONS] = True
        tx.put_records([Record(kind=UNFINISHED_DOCUMENT, id=document_id, bank=bank, body=reason)])
    request = RetainRequest(bank=bank, items=tuple(items), mode=UpdateMode.REPLACE)
    return retain(components, request)
