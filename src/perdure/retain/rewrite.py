"""Rewriting: facts that a language model words anew, from text that is stored, take the place of those that rules drew from it.

The older facts are retired for their wording alone and point to what replaced them. Left alone, with everything else of
their turn: facts that are closed or corrected, that a person changed or pinned, that another source proves, or that thinking made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.fact import (
    INSTRUCTION,
    MADE_BY,
    REWORDED,
    Chunk,
    Document,
    Fact,
    FactType,
    Link,
    LinkKind,
    Tier,
)
from perdure.domain.item import REFINED_DOCUMENT, FellBack, Item
from perdure.domain.recall import Trace
from perdure.domain.record import Record
from perdure.errors import Busy
from perdure.ports.extractor import BankContext, BankExtractor, ExtractedFact, LocalFallback, Turn
from perdure.ports.store import FactsWhere, Rows, Transaction
from perdure.retain.commit import Closure, FactChanges, apply_changes
from perdure.retain.components import RetainComponents
from perdure.retain.offer import bank_context
from perdure.retain.pipeline import PreparedChanges, prepare_changes
from perdure.retain.plan import Plan, PlannedTurn
from perdure.text.retelling import is_retold, normal_words, overlap

_REWRITTEN_TYPES = frozenset({FactType.WORLD, FactType.EXPERIENCE})
QUOTED_AT = 0.5
"""Share of two sources that both must cover of each other to be the same."""
_SHARED_FIELDS = (
    "context", "tags", "metadata", "tier", "classification", "trust", "credibility", "relevance", "expires_at",
    "original_text", "origin",
)  # fmt: skip
"""Fields that facts have from the item that they came with: equal in a turn unless a person changed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """A turn as it is stored, with all facts that were drawn from it."""

    turn: Turn
    chunk_id: str
    facts: tuple[Fact, ...] = ()

    @property
    def is_rewritable(self) -> bool:
        """Return whether facts were drawn from it, and all of them as rules drew them; what tools return stays as it is."""
        first = self.facts[0] if self.facts else None
        if first is None or (first.type is FactType.EXPERIENCE and not self.turn.is_agent):
            return False
        return all(_is_as_drawn(fact) and _is_like(first, fact) for fact in self.facts)


def _is_as_drawn(fact: Fact) -> bool:
    return (
        fact.type in _REWRITTEN_TYPES
        and fact.retired_at is None
        and fact.superseded_by is None
        and fact.valid_to is None
        and fact.invalidated_at is None
        and fact.tier is not Tier.CORE
        and fact.proof_count == 1
        and not fact.made_by
        and INSTRUCTION not in fact.flags
    )


def _is_like(one: Fact, other: Fact) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _SHARED_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """Turns of a document in order; those of `chunk_ids` are to be rewritten, the others are there to understand them."""

    document: Document
    turns: Sequence[StoredTurn]
    chunk_ids: frozenset[str]

    def to_rewrite(self) -> list[Turn]:
        """Return the turns, fresh where they may be rewritten."""
        return [replace(one.turn, fresh=self.is_chosen(one)) for one in self.turns]

    def is_chosen(self, one: StoredTurn) -> bool:
        """Return whether a turn is to be rewritten."""
        return one.chunk_id in self.chunk_ids and one.is_rewritable


@dataclass(frozen=True, slots=True)
class Unrefined:
    """What is left to be worded in a bank."""

    chunks: Sequence[Chunk]
    """Chunks that no model has worded yet and that facts were drawn from, oldest document first."""
    records: Sequence[Record]
    """What is to be noted of documents in which nothing is left, so that they are not looked through again as they are."""


def find_unrefined(rows: Rows) -> Unrefined:
    """Look through the documents that are not recorded as done with the content that they have."""
    refined = {record.id: record for record in rows.records(REFINED_DOCUMENT)}
    pending: list[Chunk] = []
    finished: list[Record] = []
    for document in reversed(rows.documents()):
        record = refined.get(document.id)
        if record is not None and record.body.get("content_hash") == document.content_hash:
            continue
        done = _chunk_ids(record) if record is not None else frozenset()
        every = rows.chunks(document_id=document.id)
        chunks = [chunk for chunk in every if chunk.id not in done]
        facts = rows.find_facts(FactsWhere(chunk_ids=[chunk.id for chunk in chunks])) if chunks else []
        drawn = {fact.chunk_id for fact in facts if _is_as_drawn(fact)}
        left = [chunk for chunk in chunks if chunk.id in drawn]
        pending += left
        if not left:
            body = {"content_hash": document.content_hash, "chunks": [chunk.id for chunk in every]}
            finished.append(Record(kind=REFINED_DOCUMENT, id=document.id, bank=document.bank, body=body))
    return Unrefined(pending, finished)


def _chunk_ids(record: Record) -> frozenset[str]:
    chunks = record.body.get("chunks")
    return frozenset(map(str, chunks)) if isinstance(chunks, list) else frozenset()


def read_stored(rows: Rows, chunk_ids: Sequence[str]) -> list[StoredDocument]:
    """Return the documents of some chunks, each with the chunk before them as context; chunks that went are left out."""
    chunks = rows.chunks(ids=chunk_ids)
    stored: list[StoredDocument] = []
    for document in rows.documents(list(dict.fromkeys(chunk.document_id for chunk in chunks))):
        own = frozenset(chunk.id for chunk in chunks if chunk.document_id == document.id)
        every = rows.chunks(document_id=document.id)
        first = min(place for place, chunk in enumerate(every) if chunk.id in own)
        shown = every[max(first - 1, 0) : first]
        shown += [chunk for chunk in every if chunk.id in own]
        facts = rows.find_facts(FactsWhere(chunk_ids=[chunk.id for chunk in shown]))
        turns = [turn for chunk in shown for turn in _stored_turns(document, chunk, facts)]
        stored.append(StoredDocument(document=document, turns=turns, chunk_ids=own))
    return stored


def _stored_turns(document: Document, chunk: Chunk, facts: Sequence[Fact]) -> list[StoredTurn]:
    """Return the turns of a chunk; a fact belongs to the first one that holds its source, or to all where none does."""
    turns = [
        Turn(
            text=chunk.text[span.start : span.end],
            speaker=span.speaker,
            is_agent=span.is_agent,
            role="assistant" if span.is_agent else "",
            said_at=span.said_at,
            title=document.title,
        )
        for span in chunk.spans
    ] or [Turn(text=chunk.text, title=document.title)]
    owned: list[list[Fact]] = [[] for _ in turns]
    for fact in facts:
        if fact.chunk_id != chunk.id:
            continue
        places = [place for place, turn in enumerate(turns) if _is_source(turn, fact)]
        for place in places[:1] or range(len(turns)):
            owned[place].append(fact)
    return [
        StoredTurn(turn=turn, chunk_id=chunk.id, facts=tuple(own))
        for turn, own in zip(turns, owned, strict=True)
    ]


def _is_source(turn: Turn, fact: Fact) -> bool:
    return (
        bool(fact.source_text)
        and fact.source_text in turn.text
        and fact.speaker == turn.speaker
        and fact.mentioned_at == turn.said_at
    )


@dataclass(slots=True, kw_only=True)
class Rewriting:
    """What a rewriting changes; `facts_read` are the facts that must not have changed when it is written."""

    changes: FactChanges
    replaced: dict[str, str]
    """Id of a retired fact -> the one that took its place."""
    facts_read: Sequence[Fact]
    chunk_ids: Sequence[str]
    turns: int = 0
    """Turns that were asked about."""
    fell_back: tuple[FellBack, ...] = ()
    refined: dict[str, list[str]] = field(default_factory=dict)
    """Document id -> its chunks that are done."""


def plan_rewriting(
    components: RetainComponents,
    bank: str,
    documents: Sequence[StoredDocument],
    extractor: BankExtractor,
    now: datetime,
) -> Rewriting:
    """Ask for the turns that may be rewritten, and set what comes back against the facts that they gave before."""
    chosen = [turn for stored in documents for turn in stored.turns if stored.is_chosen(turn)]
    read = [fact for one in chosen for fact in one.facts]
    failed: list[LocalFallback] = []
    with components.store.reading(bank) as reading:
        context = bank_context(
            reading,
            bank,
            now,
            components.embedder,
            failed.append,
            without=frozenset(fact.id for fact in read),
        )
        worded = _worded(extractor, documents, context)
        entity_ids = dict.fromkeys(entity_id for fact in read for entity_id in fact.entity_ids)
        entities = {one.entity.name: one.entity.type for one in reading.entities(ids=list(entity_ids))}
    rewording = replace(components, extractor=_Given(worded))
    prepared = prepare_changes(
        rewording, bank, [_plan(stored, entities) for stored in documents], now, Trace()
    )
    replaced = _replaced(documents, prepared)
    closed = set(replaced)
    closures = [
        replace(closure, superseded_by=replaced.get(closure.superseded_by or "", closure.superseded_by))
        for closure in prepared.changes.closures
        if closure.fact_id not in closed
    ]
    retired = [fact for fact in read if fact.id in replaced]
    changes = replace(
        prepared.changes,
        documents=(),
        updates=[
            replace(
                fact,
                retired_at=max(now, fact.recorded_at or now),
                invalidated_at=now,
                invalid_reason=REWORDED,
            )
            for fact in retired
        ],
        closures=[
            *(one for one in closures if one.fact_id != one.superseded_by),
            *(Closure(fact_id=fact.id, retired_at=now, superseded_by=replaced[fact.id]) for fact in retired),
        ],
    )
    with components.store.reading(bank) as reading:
        links = _moved_links(reading, replaced)
    missing = {(one.document, turn) for one in failed for turn in one.turns}
    return Rewriting(
        changes=replace(changes, links=[*changes.links, *links]),
        replaced=replaced,
        facts_read=read,
        chunk_ids=[chunk_id for stored in documents for chunk_id in sorted(stored.chunk_ids)],
        turns=len(chosen),
        fell_back=tuple(_named(documents, one) for one in failed),
        refined={
            stored.document.id: sorted(
                stored.chunk_ids
                - {turn.chunk_id for place, turn in enumerate(stored.turns) if (number, place) in missing}
            )
            for number, stored in enumerate(documents)
        },
    )


def _worded(
    extractor: BankExtractor, documents: Sequence[StoredDocument], context: BankContext
) -> list[list[ExtractedFact]]:
    """Return what the model worded in new words, by document; what the extractor fell back to is stored already."""
    drawn: list[list[ExtractedFact]] = [[] for _ in documents]
    for step in extractor.extract_in_bank([stored.to_rewrite() for stored in documents], context):
        for number, fact in step:
            drawn[number].append(fact)
    return [_in_new_words(facts, stored) for facts, stored in zip(drawn, documents, strict=True)]


def _in_new_words(facts: Sequence[ExtractedFact], stored: StoredDocument) -> list[ExtractedFact]:
    """Return the facts that a model made and that say something in other words; causes by their places among these."""
    kept = [
        place
        for place, fact in enumerate(facts)
        if any(flag.startswith(MADE_BY) for flag in fact.flags) and not _is_repeated(fact, stored)
    ]
    places = {old: new for new, old in enumerate(kept)}
    return [
        replace(
            facts[place],
            causes=tuple(
                replace(cause, cause=places[cause.cause])
                for cause in facts[place].causes
                if cause.cause in places
            ),
        )
        for place in kept
    ]


def _is_repeated(fact: ExtractedFact, stored: StoredDocument) -> bool:
    """Return whether a fact says in the same words what its turn gave before."""
    words = normal_words(fact.text)
    return any(words == normal_words(old.text) for old in stored.turns[fact.turn].facts)


class _Given:
    """An extractor of facts that are drawn already."""

    def __init__(self, facts: Sequence[Sequence[ExtractedFact]]) -> None:
        self._facts = facts

    @property
    def name(self) -> str:
        return "given"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        return self.extract_many([turns])[0]

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        return [list(facts) for facts in self._facts]


def _plan(stored: StoredDocument, entities: Mapping[str, str]) -> Plan:
    """Return the document as retain would plan it; each turn's item has what its facts got from theirs."""
    return Plan(
        document=stored.document,
        items=[_item(one, entities) for one in stored.turns],
        turns=[
            PlannedTurn(turn=one.turn, item=place, chunk_id=one.chunk_id)
            for place, one in enumerate(stored.turns)
        ],
    )


def _item(one: StoredTurn, entities: Mapping[str, str]) -> Item:
    turn = one.turn
    plain = Item(
        content=turn.text if turn.text.strip() else "-",
        timestamp=turn.said_at,
        timeless=turn.said_at is None,
        speaker=turn.speaker,
        role=turn.role,
    )
    if not one.facts:
        return plain
    first = one.facts[0]
    return replace(
        plain,
        **{name: getattr(first, name) for name in _SHARED_FIELDS},
        valid_from=_given_start(one.facts),
        entities=tuple((name, entities.get(name, "concept")) for name in _given_names(one)),
    )


def _given_names(one: StoredTurn) -> list[str]:
    """Entities that all facts of a turn have and that its words do not name: they came with the item."""
    said = set(normal_words(f"{one.turn.speaker} {one.turn.title} {one.turn.text}"))
    shared = set(one.facts[0].entities).intersection(*(fact.entities for fact in one.facts))
    return [name for name in one.facts[0].entities if name in shared and said.isdisjoint(normal_words(name))]


def _given_start(facts: Sequence[Fact]) -> datetime | None:
    """Since when all facts of a turn are true, where their item said so: none of them has it from its own words."""
    starts = {fact.valid_from for fact in facts}
    own = any(fact.valid_from == fact.mentioned_at or fact.relation for fact in facts)
    return None if own or len(starts) != 1 else starts.pop()


def _replaced(documents: Sequence[StoredDocument], prepared: PreparedChanges) -> dict[str, str]:
    """Id of each fact whose words a new fact covers -> that fact; of several the one that shares most words with it."""
    new = [*(one.fact for one in prepared.changes.facts), *prepared.repeated]
    replaced: dict[str, str] = {}
    for stored in documents:
        for one in stored.turns:
            worded = [fact for fact in new if fact.chunk_id == one.chunk_id and _is_source(one.turn, fact)]
            if not stored.is_chosen(one) or not worded:
                continue
            for old in one.facts:
                told = [fact for fact in worded if _rests_on(fact, old, one.turn)]
                if not told and is_retold(old.source_text, [fact.text for fact in worded]):
                    told = worded
                if told:
                    best = max(told, key=lambda fact: _shared_words(fact, old))
                    replaced[old.id] = prepared.duplicates.get(best.id, best.id)
    return {old_id: new_id for old_id, new_id in replaced.items() if old_id != new_id}


def _rests_on(new: Fact, old: Fact, turn: Turn) -> bool:
    """Return whether both quote mostly the same words of a turn."""
    start, other = turn.text.find(new.source_text), turn.text.find(old.source_text)
    end, other_end = start + len(new.source_text), other + len(old.source_text)
    return min(overlap(start, end, other, other_end), overlap(other, other_end, start, end)) >= QUOTED_AT


def _shared_words(new: Fact, old: Fact) -> int:
    return len(set(normal_words(new.text)) & set(normal_words(old.text)))


def _moved_links(rows: Rows, replaced: dict[str, str]) -> list[Link]:
    """Return the causal links of retired facts, between what took their places."""
    links = rows.links(list(replaced), LinkKind.CAUSAL) if replaced else []
    moved = [
        replace(
            link, source=replaced.get(link.source, link.source), target=replaced.get(link.target, link.target)
        )
        for link in links
    ]
    return [link for link in moved if link.source != link.target]


def _named(documents: Sequence[StoredDocument], fallback: LocalFallback) -> FellBack:
    stored = documents[fallback.document]
    return FellBack(
        document_id=stored.document.id,
        chunk_ids=tuple(dict.fromkeys(stored.turns[index].chunk_id for index in fallback.turns)),
        turns=len(fallback.turns),
        code=fallback.code,
        reason=fallback.reason,
    )


def write_rewriting(tx: Transaction, rewriting: Rewriting, made_by: str) -> int:
    """Write it, and that its chunks are done; returns how many facts are new. Busy when something of it changed meanwhile."""
    stored = tx.facts([fact.id for fact in rewriting.facts_read])
    present = {chunk.id for chunk in tx.chunks(ids=rewriting.chunk_ids)}
    if [_apart_from_recalls(fact) for fact in stored] != [
        _apart_from_recalls(fact) for fact in rewriting.facts_read
    ] or not present.issuperset(rewriting.chunk_ids):
        raise Busy("the facts changed while a model worded them anew")
    receipt = apply_changes(tx, rewriting.changes)
    tx.put_records(list(_records(tx, rewriting, made_by)))
    return len(receipt.inserted)


def _apart_from_recalls(fact: Fact) -> Fact:
    return replace(fact, recall_count=0, last_recalled_at=None, recall_times=())


def _records(tx: Transaction, rewriting: Rewriting, made_by: str) -> Iterable[Record]:
    before = {
        record.id: _chunk_ids(record) for record in tx.records(REFINED_DOCUMENT, list(rewriting.refined))
    }
    for document_id, chunk_ids in rewriting.refined.items():
        if chunk_ids:
            kept = {chunk.id for chunk in tx.chunks(document_id=document_id)}
            done = sorted((before.get(document_id, frozenset()) | set(chunk_ids)) & kept)
            body = {"chunks": done, "made_by": made_by}
            yield Record(kind=REFINED_DOCUMENT, id=document_id, bank=rewriting.changes.bank, body=body)
