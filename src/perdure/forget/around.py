"""Titles, contexts, tags and entities that share words with erased facts, without quoting them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import Document, Fact, without_entities
from perdure.forget.person import Names, redact_facts
from perdure.ports.store import FactsWhere, Transaction
from perdure.text.terms import index_terms


@dataclass(frozen=True, slots=True)
class Around:
    """A text near erased facts that shares words with them."""

    kind: str
    """`title`, `context`, `tag`, `metadata` or `entity`."""
    text: str
    record_id: str
    """The document that has it, or the entity whose name it is."""


def find_around(tx: Transaction, erased: Collection[Fact], document_ids: Collection[str]) -> list[Around]:
    """Return what shares words with erased facts in these documents, and the entities that they name."""
    words = {term for fact in erased for term in index_terms(fact.text) if len(term) > 2}
    around: list[Around] = []
    for document in tx.documents(sorted(document_ids)):
        fields = [("title", document.title), ("context", document.context)]
        fields += [("tag", tag) for tag in sorted(document.tags)]
        fields += [("metadata", value) for value in document.metadata.values()]
        around += [Around(kind, text, document.id) for kind, text in fields if _shares(text, words)]
    entity_ids = {entity_id for fact in erased for entity_id in fact.entity_ids}
    entities = [keyed.entity for keyed in tx.entities(ids=sorted(entity_ids))] if entity_ids else []
    around += [
        Around("entity", entity.name, entity.id)
        for entity in entities
        if words.issuperset(index_terms(entity.name))
    ]
    return around


def _shares(text: str, words: Collection[str]) -> bool:
    return any(term in words for term in index_terms(text))


def erase_around(tx: Transaction, around: Sequence[Around]) -> frozenset[str]:
    """Erase these texts, and what facts have of them; returns the facts that lost their vectors by that."""
    unembedded: set[str] = set()
    by_document: dict[str, list[Around]] = {}
    for one in around:
        if one.kind != "entity":
            by_document.setdefault(one.record_id, []).append(one)
    for document in tx.documents(list(by_document)):
        texts = [one.text for one in by_document[document.id]]
        tx.put_documents([_without(document, texts)])
        facts = tx.find_facts(FactsWhere(document_ids=[document.id]))
        chunks = {chunk.id: chunk for chunk in tx.chunks(document_id=document.id)}
        unembedded |= redact_facts(
            tx, dict.fromkeys((fact.id for fact in facts), Names(texts)), facts, chunks
        )
    entity_ids = [one.record_id for one in around if one.kind == "entity"]
    members = tx.find_facts(FactsWhere(entity_ids=entity_ids)) if entity_ids else []
    tx.update_facts([without_entities(fact, entity_ids) for fact in members])
    tx.delete_entities(entity_ids)
    return frozenset(unembedded)


def _without(document: Document, texts: Collection[str]) -> Document:
    metadata: Mapping[str, str] = {
        key: value for key, value in document.metadata.items() if value not in texts
    }
    return replace(
        document,
        title="" if document.title in texts else document.title,
        context="" if document.context in texts else document.context,
        tags=document.tags.difference(texts),
        metadata=metadata,
    )
