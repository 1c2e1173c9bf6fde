"""Erasure from a bank held in dictionaries."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.erasure import (
    needles,
    own_terms,
    pieces,
    scrub_chunk,
    scrub_document,
    scrub_passage,
    scrub_sibling,
    scrub_terms,
)
from perdure.testing.memory_state import BankState, remove_sources, replace_features


def forget_document(state: BankState, document_id: str) -> int:
    """Erase the document, its chunks and the facts that nothing else proves."""
    housed = {fact.id for fact in state.facts.values() if fact.document_id == document_id}
    homeless = remove_sources(state, lambda source: source[0] == document_id, erase=True)
    for ident in housed.difference(homeless):
        features = state.features[ident]
        bare = own_terms(state.facts[ident], features.terms)
        replace_features(state, ident, replace(features, passage="", terms=bare))
    state.documents.pop(document_id, None)
    state.chunks = {ident: chunk for ident, chunk in state.chunks.items() if chunk.document_id != document_id}
    return forget_facts(state, homeless)


def forget_facts(state: BankState, ids: list[str]) -> int:
    """Erase facts, all that was synthesised from them, and what quotes them."""
    doomed = set(ids) & state.facts.keys()
    while True:
        derived = {fact.id for fact in state.facts.values() if doomed & set(fact.source_fact_ids)} - doomed
        if not derived:
            break
        doomed |= derived
    _scrub_surroundings(state, doomed)
    _drop_entities(state, doomed)
    state.links = {key: link for key, link in state.links.items() if not {key[0], key[1]} & doomed}
    for ident in doomed:
        del state.facts[ident], state.features[ident]
        state.proofs.pop(ident, None)
        for held in state.staged.values():
            held.pop(ident, None)
    return len(doomed)


def _scrub_surroundings(state: BankState, doomed: set[str]) -> None:
    gone = [state.facts[ident] for ident in doomed]
    wordings = needles(gone)
    sources = {(fact.document_id, fact.chunk_id) for fact in gone}
    sources |= {(p.document_id, p.chunk_id) for ident in doomed for p in state.proofs.get(ident, [])}
    documents = {document for document, _ in sources if document is not None}
    for ident in {chunk for _, chunk in sources if chunk is not None} & state.chunks.keys():
        state.chunks[ident] = scrub_chunk(state.chunks[ident], wordings)
    for ident in documents & state.documents.keys():
        state.documents[ident] = scrub_document(state.documents[ident], wordings)
    erased = {term for fact in gone for term in own_terms(fact, state.features[fact.id].terms)}
    for fact in list(state.facts.values()):
        if fact.document_id in documents and fact.id not in doomed:
            state.facts[fact.id] = scrubbed = scrub_sibling(fact, wordings)
            features = state.features[fact.id]
            passage = scrub_passage(features.passage, wordings, pieces(wordings), scrubbed)
            terms = scrub_terms(scrubbed, features.terms, erased, passage)
            if (passage, terms) != (features.passage, features.terms):
                replace_features(state, fact.id, replace(features, passage=passage, terms=terms))


def _drop_entities(state: BankState, doomed: set[str]) -> None:
    """Entities lose a mention for each erased fact, and go with the last one."""
    kept = {entity for fact in state.facts.values() if fact.id not in doomed for entity in fact.entity_ids}
    for ident in doomed:
        for entity_id in set(state.facts[ident].entity_ids):
            keyed = state.entities.get(entity_id)
            if keyed is not None and entity_id in kept:
                fewer = max(0, keyed.entity.mentions - 1)
                state.entities[entity_id] = replace(keyed, entity=replace(keyed.entity, mentions=fewer))
            elif keyed is not None:
                del state.entities[entity_id]
