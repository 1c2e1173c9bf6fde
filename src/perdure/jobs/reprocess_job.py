"""Reprocessing: extracting the facts of a stored document again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from perdure.domain.fact import Chunk, Document, Fact
from perdure.domain.item import UNFINISHED_DOCUMENT, Item, RetainResult, UpdateMode
from perdure.domain.record import Record
from perdure.errors import NotFound
from perdure.jobs.kind import SingleStepJob, Step
from perdure.ports.store import FactsWhere, Reading
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest

REPROCESS = "reprocess"


def reprocess_job(
    components: RetainComponents, after_retain: Callable[[RetainResult], RetainResult]
) -> SingleStepJob:
    """Return the job that reads the documents of a step anew."""

    def run(step: Step) -> Mapping[str, object]:
        items: Sequence[Mapping[str, str]] = step.body["items"]  # type: ignore[assignment]
        facts = 0
        for item in items:
            result = reprocess_document(components, step.bank, item["document_id"])
            facts += len(after_retain(result).fact_ids)
        return {"facts": facts}

    return SingleStepJob(REPROCESS, run)


def document_items(reading: Reading, document_id: str) -> list[Item]:
    """Return the turns of a stored document as items for retain; raise `NotFound` if there is none.

    Other fields of items are stored with facts: the strictest of the document's facts applies to all of them.
    """
    stored = reading.documents([document_id])
    if not stored:
        raise NotFound("document", document_id)
    facts = reading.find_facts(FactsWhere(document_ids=[document_id]))
    return [
        item for chunk in reading.chunks(document_id=document_id) for item in _items(stored[0], chunk, facts)
    ]


def _items(document: Document, chunk: Chunk, facts: list[Fact]) -> Iterator[Item]:
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
                role="assistant" if is_agent else "",
                timestamp=said_at,
                timeless=said_at is None,
                title=document.title,
                context=document.context,
                tags=document.tags,
                metadata=document.metadata,
                classification=max((fact.classification for fact in facts), default=defaults.classification),
                trust=min((fact.trust for fact in facts), default=defaults.trust),
                credibility=max((fact.credibility for fact in facts), default=defaults.credibility),
                expires_at=min(ends) if facts and len(ends) == len(facts) else None,
            )


def reprocess_document(components: RetainComponents, bank: str, document_id: str) -> RetainResult:
    """Extract a document's facts again: those that are found again stay, the others are retired.

    The document is marked as unfinished, which makes retain read it from its beginning. After a crash, the
    next retain of the document does the same.
    """
    with components.store.reading(bank) as reading:
        items = document_items(reading, document_id)
    with components.store.transaction(bank) as tx:
        if not tx.documents([document_id]):
            raise NotFound("document", document_id)
        reason = {"reason": "it is being read anew"}
        tx.put_records([Record(kind=UNFINISHED_DOCUMENT, id=document_id, bank=bank, body=reason)])
    request = RetainRequest(bank=bank, items=tuple(items), mode=UpdateMode.REPLACE)
    return retain(components, request)
