"""Planning: items become documents, turns and chunks, and what is already stored is set aside."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from perdure.domain.fact import FORGOTTEN, REMOVED, RESTATED_AS, Chunk, Document, Fact, TurnSpan
from perdure.domain.filter import Filter
from perdure.domain.item import HASH_KEY, KEEPS_CORRECTIONS, UNFINISHED_DOCUMENT, Item, UpdateMode
from perdure.domain.record import Record
from perdure.ports.extractor import Turn
from perdure.ports.store import FactsWhere, Reading, Rows, Selection
from perdure.retain.identity import digest, new_hash_key
from perdure.retain.request import RetainRequest, stamp_items
from perdure.text.chunk import CHUNK_CHARACTERS, chunk_text, group_pieces
from perdure.text.smoothing import SHARES, turn_length

_ERASED = re.compile("|".join(map(re.escape, (FORGOTTEN, REMOVED))))
CONTEXT_TURNS = 3
EARLIER_FACTS = 2 * len(SHARES)
"""Facts before appended ones that are needed: as many again as those whose context the appended ones change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTurn:
    """A turn, the item it came from and the chunk that holds it."""

    turn: Turn
    item: int
    chunk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one document needs: turns to read (with context), chunks to write, facts to account for."""

    document: Document
    items: Sequence[Item]
    turns: Sequence[PlannedTurn]
    chunks: Sequence[Chunk] = ()
    removed_chunks: Sequence[str] = ()
    old_facts: Sequence[Fact] = ()
    """Current facts whose chunk is gone: kept if they are drawn again, else retired."""
    unchanged: int = 0
    refused: Collection[tuple[str, str]] = ()
    """(chunk, words) that a user declared wrong: statements with these words are not drawn again."""
    unfinished: bool = False
    """An earlier retain of it stored the text and failed at the facts."""
    earlier: Mapping[str, int] = field(default_factory=dict)
    """The last facts of a document that is added to, in order -> characters of their turns."""
    new_hash_key: str | None = None
    """The key of the ids that are made from content, where the bank had none."""


def plan_documents(reading: Reading, request: RetainRequest, now: datetime) -> list[Plan]:
    """Return a plan for each document of the request."""
    key = hash_key(reading)
    groups = group_items(key.value, stamp_items(request.items, now), now)
    documents = {document.id: document for document in reading.documents(list(groups))}
    unfinished = {record.id: record for record in reading.records(UNFINISHED_DOCUMENT, list(groups))}
    return [
        _plan_document(
            reading,
            documents.get(document_id),
            Document(id=document_id, bank=request.bank, created_at=now, updated_at=now),
            items,
            request.mode,
            key,
            unfinished=unfinished.get(document_id),
        )
        for document_id, items in groups.items()
    ]


@dataclass(frozen=True, slots=True)
class HashKey:
    """The random key of the ids that a bank makes from content."""

    value: str
    is_new: bool = False


def hash_key(rows: Rows) -> HashKey:
    """Return the key of a bank; a new one, which is to be stored, where it has none."""
    stored = rows.records(HASH_KEY, [HASH_KEY])
    return HashKey(str(stored[0].body["key"])) if stored else HashKey(new_hash_key(), is_new=True)


def group_items(key: str, items: Sequence[Item], now: datetime) -> dict[str, list[Item]]:
    """Document id -> its items; an item without an id is a document of its own, named by its content under the bank's key."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        said = item.timestamp or now
        document_id = item.document_id or digest(
            key, "document", item.speaker, item.content, said.isoformat()
        )
        groups.setdefault(document_id, []).append(item)
    return groups


def _plan_document(
    reading: Reading,
    stored: Document | None,
    new: Document,
    items: Sequence[Item],
    mode: UpdateMode,
    key: HashKey,
    *,
    unfinished: Record | None,
) -> Plan:
    """Compare the items with what is stored of the document and keep what did not change.

    Of an unfinished document the text is stored, but not all of its facts: it is read anew. So is a chunk
    with which relations are passed, since they may be others than before.
    """
    old_chunks = reading.chunks(document_id=new.id) if stored else []
    appending = mode is UpdateMode.APPEND and bool(old_chunks)
    turns, owners = _turns(items)
    chunks, chunk_of_turn = _chunks(
        new, turns, key.value, () if appending else old_chunks, old_chunks[-1].ordinal + 1 if appending else 0
    )
    same = set() if appending else {chunk.id for chunk in old_chunks} & {chunk.id for chunk in chunks}
    related = {
        chunk_id for chunk_id, owner in zip(chunk_of_turn, owners, strict=True) if items[owner].relations
    }
    finished = set() if unfinished else same - related
    planned = [
        PlannedTurn(
            turn=replace(turn, fresh=False) if chunk_id in finished else turn, item=owner, chunk_id=chunk_id
        )
        for turn, owner, chunk_id in zip(turns, owners, chunk_of_turn, strict=True)
    ]
    every_fact = reading.find_facts(FactsWhere(document_ids=[new.id])) if stored and not appending else []
    facts = [fact for fact in every_fact if fact.retired_at is None]
    keeps = unfinished is not None and KEEPS_CORRECTIONS in unfinished.body
    corrected = corrected_facts(reading) if keeps else frozenset()
    every_chunk = [*(old_chunks if appending else ()), *chunks]
    return Plan(
        document=_document(stored or new, items, every_chunk, new.updated_at),
        items=items,
        turns=[*(_context_turns(old_chunks) if appending else ()), *planned],
        chunks=chunks,
        removed_chunks=() if appending else [chunk.id for chunk in old_chunks if chunk.id not in same],
        old_facts=[fact for fact in facts if fact.chunk_id not in finished and fact.id not in corrected],
        unchanged=sum(fact.chunk_id in finished for fact in facts),
        refused={
            (fact.chunk_id or "", fact.source_text)
            for fact in every_fact
            if keeps and fact.invalidated_at is not None and fact.source_text
        },
        unfinished=unfinished is not None,
        earlier=_last_facts(reading, new, old_chunks) if appending else {},
        new_hash_key=key.value if key.is_new else None,
    )


def _turns(items: Sequence[Item]) -> tuple[list[Turn], list[int]]:
    """Return the turns of stamped items, and the item of each."""
    turns: list[Turn] = []
    owners: list[int] = []
    for index, item in enumerate(items):
        room = CHUNK_CHARACTERS - min(len(item.speaker) + 2, CHUNK_CHARACTERS // 2)
        for piece in chunk_text(item.content, room):
            turns.append(
                Turn(
                    text=piece,
                    speaker=item.speaker,
                    is_agent=item.is_agent,
                    role=item.role,
                    said_at=None if item.timeless else item.timestamp,
                    title=item.title,
                    context=item.context,
                )
            )
            owners.append(index)
    return turns, owners


def item_turns(items: Sequence[Item]) -> list[Turn]:
    """Return the turns of stamped items."""
    return _turns(items)[0]


def _chunks(
    document: Document, turns: Sequence[Turn], key: str, stored: Sequence[Chunk], offset: int
) -> tuple[list[Chunk], list[str]]:
    """Return turns grouped into chunks from ordinal `offset` on, and the chunk of each turn; what is stored already keeps its id."""
    lines = [f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in turns]
    chunks: list[Chunk] = []
    chunk_of_turn: list[str] = []
    seen: dict[str, int] = {}
    left = list(stored)
    for group in group_pieces(lines, CHUNK_CHARACTERS, joint=1):
        text = "\n".join(lines[i] for i in group)
        spans = _spans(turns, lines, group)
        content_hash = digest(
            key, text, *(span.said_at.isoformat() if span.said_at else "" for span in spans)
        )
        seen[content_hash] = seen.get(content_hash, 0) + 1
        chunk = Chunk(
            id=digest(key, document.id, content_hash, str(seen[content_hash]), str(offset)),
            bank=document.bank,
            document_id=document.id,
            ordinal=offset + len(chunks),
            text=text,
            content_hash=content_hash,
            spans=spans,
        )
        same = next((old for old in left if _is_same(old, chunk)), None)
        if same is not None:
            left.remove(same)
            chunk = replace(same, ordinal=chunk.ordinal)
        chunks.append(chunk)
        chunk_of_turn += [chunk.id] * len(group)
    return chunks, chunk_of_turn


def _is_same(stored: Chunk, chunk: Chunk) -> bool:
    """Return whether a stored chunk has this text, as far as it was not erased."""
    if FORGOTTEN not in stored.text and REMOVED not in stored.text:
        return stored.text == chunk.text and _turn_marks(stored) == _turn_marks(chunk)
    pattern = ".+".join(re.escape(part) for part in _ERASED.split(stored.text))
    return (
        _turn_marks(stored) == _turn_marks(chunk) and re.fullmatch(pattern, chunk.text, re.DOTALL) is not None
    )


def _turn_marks(chunk: Chunk) -> list[tuple[str, datetime | None]]:
    return [(span.speaker, span.said_at) for span in chunk.spans]


def _spans(turns: Sequence[Turn], lines: Sequence[str], group: Sequence[int]) -> tuple[TurnSpan, ...]:
    spans = []
    position = 0
    for index in group:
        turn, end = turns[index], position + len(lines[index])
        spans.append(
            TurnSpan(
                start=end - len(turn.text),
                end=end,
                speaker=turn.speaker,
                is_agent=turn.is_agent,
                said_at=turn.said_at,
            )
        )
        position = end + 1
    return tuple(spans)


def _context_turns(stored: Sequence[Chunk]) -> list[PlannedTurn]:
    """Return the last turns before the appended ones, read but not drawn from."""
    turns = [
        PlannedTurn(
            turn=Turn(
                text=chunk.text[span.start : span.end],
                speaker=span.speaker,
                is_agent=span.is_agent,
                said_at=span.said_at,
                fresh=False,
            ),
            item=-1,
            chunk_id=chunk.id,
        )
        for chunk in stored[-CONTEXT_TURNS:]
        for span in chunk.spans
    ]
    return turns[-CONTEXT_TURNS:]


def _last_facts(reading: Reading, document: Document, chunks: Sequence[Chunk]) -> dict[str, int]:
    assert document.updated_at is not None
    where = Filter(document_ids=frozenset({document.id})).at(document.updated_at)
    newest_first = reading.browse(Selection(where=where, limit=EARLIER_FACTS)).facts
    by_id = {chunk.id: chunk for chunk in chunks}
    return {fact.id: turn_length(fact, by_id) for fact in reversed(newest_first)}


def corrected_facts(rows: Rows) -> frozenset[str]:
    """Return the ids of the facts that a user restated."""
    return frozenset(str(record.body["fact"]) for record in rows.records(RESTATED_AS))


def _document(
    before: Document, items: Sequence[Item], chunks: Sequence[Chunk], updated_at: datetime | None
) -> Document:
    """Return the document after this retain; a title or context that no item gives stays."""
    metadata: dict[str, str] = {}
    for item in items:
        metadata.update(item.metadata)
    return replace(
        before,
        title=next((item.title for item in items if item.title), before.title),
        context=next((item.context for item in items if item.context), before.context),
        tags=frozenset().union(*(item.tags for item in items)),
        metadata=metadata,
        content_hash=digest(*(chunk.content_hash for chunk in chunks)),
        characters=sum(len(chunk.text) for chunk in chunks),
        updated_at=updated_at,
    )
