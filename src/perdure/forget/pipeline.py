"""Forget, top to bottom: find what goes -> scrub what quotes it -> names of entities -> delete -> clear traces."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from perdure.domain.fact import RESTATED_AS, Fact, FactType, Source, without_entities, without_sources
from perdure.domain.imported import IMPORTED_DOCUMENT
from perdure.domain.item import HASH_KEY, REFINED_DOCUMENT, UNFINISHED_DOCUMENT
from perdure.domain.observation import SCOPES_RECORD
from perdure.domain.plain import readable
from perdure.domain.record import LAST_ERASURE, Record
from perdure.forget.around import Around, erase_around, find_around
from perdure.forget.names import forget_names
from perdure.forget.options import Target
from perdure.forget.person import Person, count_mentions, find_person, redact_records, redact_rest
from perdure.forget.scrub import (
    ErasedWords,
    Wordings,
    erased_words,
    scrub_chunk,
    scrub_document,
    scrub_features,
    scrub_own_passage,
    scrub_sibling,
    wordings_of,
)
from perdure.forget.speakers import forget_speakers
from perdure.forget.target import Forgotten
from perdure.forget.vectors import contexts_without
from perdure.history import find_wordings, mark_changed, release_from_erased
from perdure.ports.store import FactsWhere, Store, Traces, Transaction, raise_damaged
from perdure.text.own_words import features_alone

log = logging.getLogger(__name__)
ScrubThoughts = Callable[[Transaction, Mapping[str, Fact]], frozenset[str]]
"""Takes facts that are about to be deleted out of what rests on them; returns the facts that lost their vectors by that."""


ScrubBackground = Callable[[Transaction, frozenset[str]], bool]
Readers = Mapping[str, Callable[[Record], object] | None]
"""Kinds of records, with what reads one and raises where it cannot; None where another part sees to that."""
ScrubRecords = Callable[[Transaction, Mapping[str, Fact]], object]


def _no_thoughts(tx: Transaction, erased: Mapping[str, Fact]) -> frozenset[str]:
    return frozenset()


def forget(
    store: Store,
    bank: str,
    target: Target,
    *,
    also: ScrubBackground | None = None,
    thoughts: ScrubThoughts = _no_thoughts,
    records: ScrubRecords | None = None,
    kinds: Readers = MappingProxyType({}),
) -> Forgotten:
    """Erase for good, with everything that holds the erased content, in one transaction.

    With a fact go the facts synthesised from it; its wording in chunks, in its document's title and context, and in what
    facts of the same document quote or are found by; its share in their context vectors; and names of entities that only
    it held. With a document go its chunks and facts; a fact that another document proves too moves there, without what it
    quoted. What an erased fact had ended or corrected opens again. With an entity go all statements and passages that mention
    it. With the bank goes everything.

    `also` is called within the transaction with the ids of the erased documents (none when a fact or an entity goes), to
    scrub records that other parts keep; it says whether it scrubbed any, so that a document that only stands there exists.
    `thoughts` is called with the facts before they are deleted, and with those that are still synthesised from them after that;
    `records` with all of them when they are deleted, to scrub what was thought on them. Records of `kinds` may name an entity;
    those that cannot be read are deleted, since they may quote what is erased.
    DamagedRow when a row that may hold it cannot be read: nothing is erased then. When the target went before, traces that are still pending are cleared.
    """
    bank_facts = 0
    if target.everything:
        with store.reading(bank) as reading:
            bank_facts = reading.stats().facts
    keys_destroyed = False
    with store.transaction(bank) as tx:
        if target.everything:
            erased = Erased(tx.bank() is not None, bank_facts)
            tx.delete_bank()
        else:
            erased = erase_target(
                store, tx, bank, target, also=also, thoughts=thoughts, records=records, kinds=kinds
            )
        if erased.existed:
            if not target.everything:
                tx.delete_records(HASH_KEY, [HASH_KEY])
                tx.put_records([Record(kind=LAST_ERASURE, id=LAST_ERASURE, bank=bank)])
            keys_destroyed = tx.erased_content()
    traces = store.traces()
    if traces is Traces.PENDING and store.clears_traces_at_once():
        traces = store.clear_traces()
    names = None if erased.person is None else erased.person.own_names
    return Forgotten(
        facts=erased.facts,
        kept=len(erased.kept),
        mentions_left=None if names is None else count_mentions(store, bank, names, kinds),
        existed=erased.existed,
        traces=traces,
        unembedded=tuple(sorted(erased.unembedded)),
        keys_destroyed=keys_destroyed,
        pending=() if traces is Traces.CLEARED else store.pending_traces(),
    )


def erase_target(
    store: Store,
    tx: Transaction,
    bank: str,
    target: Target,
    *,
    also: ScrubBackground | None = None,
    thoughts: ScrubThoughts = _no_thoughts,
    records: ScrubRecords | None = None,
    kinds: Readers = MappingProxyType({}),
) -> Erased:
    """Erase a fact, a document or an entity within a transaction; the arguments are those of `forget`."""
    _delete_unreadable(tx, kinds)
    if target.entity_id is not None and not target.unlink:
        erased = _erase_person(store, tx, bank, target, thoughts)
    else:
        erased = _erase(store, tx, bank, target, thoughts)
        erased = _erase_around(tx, erased, erase=target.around)
    raise_damaged(tx)  # an erasure that passes over a row that it cannot read is none
    forget_speakers(store, tx, bank, erased.speakers)
    if records is not None and erased.gone:
        records(tx, erased.gone)
    if erased.person is not None:
        redact_records(tx, erased.person.own_names, kinds)
    if also is not None and (erased.existed or erased.documents) and also(tx, erased.documents):
        return replace(erased, existed=True)
    return erased


def _delete_unreadable(tx: Transaction, kinds: Readers) -> None:
    """Delete the records that cannot be read, with what other kinds keep under their ids."""
    unreadable: list[str] = []
    for kind, read in kinds.items():
        if read is not None:
            deque(readable(tx.records(kind), read, lambda record: unreadable.append(record.id)), maxlen=0)
    if unreadable:
        log.warning("records that cannot be read are erased: %s", ", ".join(map(repr, unreadable)))
        for kind in kinds:
            tx.delete_records(kind, unreadable)


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure took out of the rows."""

    existed: bool
    facts: int = 0
    documents: frozenset[str] = frozenset()
    unembedded: frozenset[str] = frozenset()
    speakers: Mapping[str, int] = field(default_factory=dict)
    """Who said the erased facts, and how many each."""
    gone: Mapping[str, Fact] = field(default_factory=dict)
    """The erased facts, those synthesised from others included."""
    chunks: int = 0
    """Chunks that went."""
    scrubbed_chunks: frozenset[str] = frozenset()
    """Chunks that stay without the erased words."""
    around: tuple[Around, ...] = ()
    """What else shares words with erased facts."""
    person: Person | None = None
    """The erased entity with what mentioned it."""
    kept: frozenset[str] = frozenset()
    """Facts that mentioned the entity and stay without its name."""
    passages: tuple[str, ...] = ()
    """Erased sentences from which no fact was drawn."""


def _erase(store: Store, tx: Transaction, bank: str, target: Target, thoughts: ScrubThoughts) -> Erased:
    if target.document_id is not None:
        return _erase_document(store, tx, bank, target.document_id, thoughts)
    if target.entity_id is not None:
        return _unlink_entity(store, tx, bank, target.entity_id, thoughts)
    return _erase_facts(store, tx, bank, tx.facts([target.fact_id or ""]), thoughts)


def _erase_person(
    store: Store, tx: Transaction, bank: str, target: Target, thoughts: ScrubThoughts
) -> Erased:
    person = find_person(store, tx, bank, target.entity_id or "", target.keep)
    if person is None:
        return Erased(existed=False)
    going = [fact for fact in person.mentioning if fact.id not in target.keep]
    erased = _erase_facts(store, tx, bank, going, thoughts)
    kept = frozenset(fact.id for fact in person.mentioning) & set(target.keep) - erased.gone.keys()
    redacted = redact_rest(tx, person, kept, erased.gone.keys())
    return replace(
        erased,
        existed=True,
        unembedded=(erased.unembedded | redacted.unembedded) - erased.gone.keys(),
        scrubbed_chunks=erased.scrubbed_chunks | redacted.chunk_ids,
        person=person,
        kept=kept,
        passages=redacted.passages,
    )


def _erase_around(tx: Transaction, erased: Erased, *, erase: bool) -> Erased:
    """Find what shares words with erased facts in the documents that stay, and erase it too if the caller wants that."""
    document_ids = {fact.document_id for fact in erased.gone.values() if fact.document_id is not None}
    around = find_around(tx, erased.gone.values(), document_ids - erased.documents)
    unembedded = erase_around(tx, around) if erase else frozenset()
    return replace(erased, around=tuple(around), unembedded=erased.unembedded | unembedded)


def _unlink_entity(
    store: Store, tx: Transaction, bank: str, entity_id: str, thoughts: ScrubThoughts
) -> Erased:
    members = tx.find_facts(FactsWhere(entity_ids=[entity_id]))
    existed = bool(members or tx.entities(ids=[entity_id]))
    profiles = [fact for fact in members if fact.type is FactType.OBSERVATION]
    erased = _erase_facts(store, tx, bank, profiles, thoughts)
    staying = [without_entities(fact, [entity_id]) for fact in members if fact.id not in erased.gone]
    tx.update_facts(staying)
    mark_changed(tx, staying)
    tx.delete_entities([entity_id])
    return replace(erased, existed=existed)


def _erase_document(
    store: Store, tx: Transaction, bank: str, document_id: str, thoughts: ScrubThoughts
) -> Erased:
    """Facts that another document proves move there; the others are erased."""
    documents, chunks = tx.documents([document_id]), tx.chunks(document_id=document_id)
    housed = tx.find_facts(FactsWhere(document_ids=[document_id]))
    proven = tx.facts(list(tx.proofs_from(document_ids=[document_id])))
    affected = {fact.id: fact for fact in (*housed, *proven)}
    if not (documents or chunks or affected):
        return Erased(existed=False, documents=frozenset({document_id}))
    proofs = tx.proofs(list(affected))
    homeless, staying, left = [], {}, {}
    for fact in affected.values():
        after, rest = without_sources(
            fact, proofs.get(fact.id, ()), lambda source: source.document_id == document_id
        )
        if after.document_id == document_id:
            homeless.append(after)
        else:
            staying[after.id], left[after.id] = after, rest
    tx.update_facts(list(staying.values()))
    tx.replace_proofs(left)
    moved = [fact for fact in housed if fact.id in staying]
    unembedded = _stand_alone(tx, moved, wordings_of(document.title for document in documents))
    tx.delete_documents([document_id])
    tx.delete_chunks([chunk.id for chunk in chunks])
    tx.delete_records(UNFINISHED_DOCUMENT, [document_id])
    tx.delete_records(SCOPES_RECORD, [document_id])
    tx.delete_records(REFINED_DOCUMENT, [document_id])
    tx.delete_records(IMPORTED_DOCUMENT, [document_id])
    erased = _erase_facts(store, tx, bank, homeless, thoughts)
    return replace(
        erased,
        existed=True,
        documents=frozenset({document_id}),
        unembedded=erased.unembedded | unembedded,
        chunks=len(chunks),
    )


def _stand_alone(tx: Transaction, facts: Sequence[Fact], titles: Wordings) -> frozenset[str]:
    """Facts that left their document are found by their own words alone; returns those that lost their vectors.

    A vector is lost when the document's title was embedded with the fact.
    """
    features = tx.features([fact.id for fact in facts])
    after = {}
    unembedded = set()
    for fact in facts:
        own = features[fact.id]
        after[fact.id] = features_alone(fact, own)
        if scrub_own_passage(fact, own.passage, titles) != own.passage:
            after[fact.id] = replace(after[fact.id], vectors={})
            unembedded.add(fact.id)
    tx.put_features(after)
    return frozenset(unembedded)


def _erase_facts(
    store: Store, tx: Transaction, bank: str, facts: Sequence[Fact], thoughts: ScrubThoughts
) -> Erased:
    """Erase facts, all that was synthesised from them, and what quotes them."""
    erased = {fact.id: fact for fact in find_wordings(tx, facts)}
    derived = list(erased.values())
    reworded: set[str] = set()
    while derived:
        reworded |= thoughts(tx, {fact.id: fact for fact in derived})
        synthesised = tx.find_facts(FactsWhere(source_fact_ids=[fact.id for fact in derived]))
        derived = [fact for fact in synthesised if fact.id not in erased]
        erased |= {fact.id: fact for fact in derived}
    if not erased:
        return Erased(existed=False)
    words = erased_words(list(erased.values()), tx.features(list(erased)))
    around, scrubbed_chunks = _scrub_around(tx, erased, words)
    unembedded = (around | reworded) - erased.keys()
    forget_names(store, tx, bank, erased, words.wordings)
    release_from_erased(tx, erased)
    tx.delete_facts(list(erased))
    tx.delete_records(RESTATED_AS, list(erased))
    speakers = Counter(fact.speaker for fact in erased.values() if fact.speaker)
    return Erased(
        True,
        len(erased),
        unembedded=unembedded,
        speakers=speakers,
        gone=erased,
        scrubbed_chunks=scrubbed_chunks,
    )


def _scrub_around(
    tx: Transaction, erased: dict[str, Fact], words: ErasedWords
) -> tuple[frozenset[str], frozenset[str]]:
    """Scrub the chunks and documents that state the erased facts, and the other facts of these documents.

    Returns the facts that lost their vectors, because an erased wording (in a title) was embedded with them; and the
    chunks that lost words.
    """
    proofs = [proof for of_fact in tx.proofs(list(erased)).values() for proof in of_fact]
    sources: list[Source] = [*erased.values(), *proofs]
    document_ids = sorted({source.document_id for source in sources if source.document_id is not None})
    chunk_ids = sorted({source.chunk_id for source in sources if source.chunk_id is not None})
    chunks = {chunk.id: chunk for name in document_ids for chunk in tx.chunks(document_id=name)}
    members = tx.find_facts(FactsWhere(document_ids=document_ids))
    features = tx.features([fact.id for fact in members])

    siblings = {fact.id: scrub_sibling(fact, words.wordings) for fact in members if fact.id not in erased}
    scrubbed = {fact.id: scrub_features(fact, features[fact.id], words) for fact in siblings.values()}
    unembedded = {fact_id for fact_id, own in scrubbed.items() if own.passage != features[fact_id].passage}
    for fact_id in unembedded:
        scrubbed[fact_id] = replace(scrubbed[fact_id], vectors={})
    for fact in members:
        if fact.id in siblings and siblings[fact.id].asked != fact.asked:
            scrubbed[fact.id] = replace(scrubbed[fact.id], dedupe_key="")  # a hash of the question too
    contexts = contexts_without(erased.keys(), members, {**features, **scrubbed}, chunks)
    for fact_id, vector in contexts.items():
        own = scrubbed[fact_id]
        scrubbed[fact_id] = replace(own, vectors={**own.vectors, "context": vector})

    stating = tx.chunks(ids=chunk_ids)
    without_words = [scrub_chunk(chunk, words.wordings) for chunk in stating]
    tx.put_chunks(without_words)
    tx.put_documents([scrub_document(document, words.wordings) for document in tx.documents(document_ids)])
    tx.update_facts([siblings[fact.id] for fact in members if siblings.get(fact.id, fact) != fact])
    tx.put_features({fact_id: own for fact_id, own in scrubbed.items() if own is not features[fact_id]})
    scrubbed_chunks = {
        before.id for before, after in zip(stating, without_words, strict=True) if after != before
    }
    return frozenset(unembedded), frozenset(scrubbed_chunks)
