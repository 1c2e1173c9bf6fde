"""Planning: items become documents, turns and chunks, and what is already stored is set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from perdure.domain.fact import Chunk, Document, Fact, TurnSpan
from perdure.domain.filter import Filter
from perdure.domain.item import Item, UpdateMode
from perdure.ports.extractor import Turn
from perdure.ports.store import Selection, Store
from perdure.retain.identity import digest
from perdure.retain.neighbours import turn_length
from perdure.retain.request import RetainRequest, stamp_items
from perdure.retain.safekeeping import unfinished_documents
from perdure.text.chunk import CHUNK_CHARACTERS, chunk_text, group_pieces

CONTEXT_TURNS = 3
EARLIER_FACTS = 4
_ALL = 1_000_000


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
    unfinished: bool = False
    """An earlier retain of it stored the text and failed at the facts."""
    earlier: Mapping[str, int] = field(default_factory=dict)
    """The last facts of a document that is added to, in order -> characters of their turns."""


def plan_documents(store: Store, request: RetainRequest, now: datetime) -> list[Plan]:
    """A plan for each document of the request."""
    groups = group_items(request.bank, stamp_items(request.items, now), now)
    unfinished = unfinished_documents(store, request.bank, list(groups))
    return [
        plan_document(store, request.bank, key, items, request.mode, now, unfinished=key in unfinished)
        for key, items in groups.items()
    ]


def group_items(bank: str, items: Sequence[Item], now: datetime) -> dict[str, list[Item]]:
    """Document id -> its items; an item without an id is a document of its own, named by its content."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        said = item.timestamp or now
        key = item.document_id or digest(bank, "document", item.speaker, item.content, said.isoformat())
        groups.setdefault(key, []).append(item)
    return groups


def plan_document(
    store: Store,
    bank: str,
    document_id: str,
    items: Sequence[Item],
    mode: UpdateMode,
    now: datetime,
    *,
    unfinished: bool = False,
) -> Plan:
    """Compare the items with what is stored of the document and keep what did not change.

    Of an unfinished document the text is stored, but not all of its facts: it is read anew.
    """
    found = store.documents(bank, [document_id])
    stored = store.chunks(bank, document_id=document_id) if found else []
    appending = mode is UpdateMode.APPEND and bool(stored)
    turns, owners = _turns(items, now)
    offset = stored[-1].ordinal + 1 if appending else 0
    chunks, chunk_of_turn = _chunks(bank, document_id, turns, offset)
    same = set() if appending else {c.id for c in stored} & {c.id for c in chunks}
    kept = set() if unfinished else same
    removed = [] if appending else [c.id for c in stored if c.id not in same]
    planned = [
        PlannedTurn(turn=_mark(turn, chunk_id not in kept), item=owner, chunk_id=chunk_id)
        for turn, owner, chunk_id in zip(turns, owners, chunk_of_turn, strict=True)
    ]
    context = _context_turns(stored) if appending else []
    facts = _current_facts(store, bank, document_id, now) if found and not appending else []
    return Plan(
        document=_document(bank, document_id, items, found, stored if appending else [], chunks, now),
        items=items,
        turns=[*context, *planned],
        chunks=chunks,
        removed_chunks=removed,
        old_facts=[fact for fact in facts if fact.chunk_id not in kept],
        unchanged=sum(fact.chunk_id in kept for fact in facts),
        unfinished=unfinished,
        earlier=_last_facts(store, bank, document_id, stored, now) if appending else {},
    )


def _turns(items: Sequence[Item], now: datetime) -> tuple[list[Turn], list[int]]:
    turns: list[Turn] = []
    owners: list[int] = []
    for index, item in enumerate(items):
        room = CHUNK_CHARACTERS - min(len(item.speaker) + 2, CHUNK_CHARACTERS // 2)
        for piece in chunk_text(item.content, room):
            turns.append(_turn(item, piece, now))
            owners.append(index)
    return turns, owners


def _turn(item: Item, text: str, now: datetime) -> Turn:
    return Turn(
        text=text,
        speaker=item.speaker,
        is_agent=item.is_agent,
        said_at=None if item.timeless else item.timestamp or now,
        title=item.title,
        context=item.context,
    )


def _mark(turn: Turn, fresh: bool) -> Turn:
    return turn if fresh else Turn(
        text=turn.text, speaker=turn.speaker, is_agent=turn.is_agent, said_at=turn.said_at,
        title=turn.title, context=turn.context, fresh=False,
    )  # fmt: skip


def _chunks(bank: str, document_id: str, turns: Sequence[Turn], offset: int) -> tuple[list[Chunk], list[str]]:
    lines = [f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in turns]
    chunks: list[Chunk] = []
    chunk_of_turn: list[str] = []
    seen: dict[str, int] = {}
    for group in group_pieces(lines, CHUNK_CHARACTERS, joint=1):
        text = "\n".join(lines[i] for i in group)
        said = [turns[i].said_at for i in group]
        content_hash = digest(text, *(moment.isoformat() if moment else "" for moment in said))
        seen[content_hash] = seen.get(content_hash, 0) + 1
        chunk_id = digest(
            bank, document_id, content_hash, str(seen[content_hash]), str(bool(offset) * offset)
        )
        chunks.append(
            Chunk(
                id=chunk_id,
                bank=bank,
                document_id=document_id,
                ordinal=offset + len(chunks),
                text=text,
                content_hash=content_hash,
                spans=_spans(turns, lines, group),
            )
        )
        chunk_of_turn += [chunk_id] * len(group)
    return chunks, chunk_of_turn


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
    """The last turns before the appended ones, read but not drawn from."""
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


def _last_facts(
    store: Store, bank: str, document_id: str, stored: Sequence[Chunk], now: datetime
) -> dict[str, int]:
    wanted = Filter(now=now, document_ids=frozenset({document_id}))
    page = store.browse(bank, Selection(wanted=wanted, limit=EARLIER_FACTS * 4))
    in_order = sorted(page.facts, key=lambda fact: (fact.recorded_at or now, fact.ordinal))
    chunks = {chunk.id: chunk for chunk in stored}
    return {fact.id: turn_length(fact, chunks) for fact in in_order[-EARLIER_FACTS:]}


def _current_facts(store: Store, bank: str, document_id: str, now: datetime) -> list[Fact]:
    wanted = Filter(now=now, document_ids=frozenset({document_id}), any_time=True, include_expired=True)
    page = store.browse(bank, Selection(wanted=wanted, limit=_ALL, oldest_first=True))
    return [fact for fact in page.facts if fact.retired_at is None]


def _document(
    bank: str,
    document_id: str,
    items: Sequence[Item],
    found: Sequence[Document],
    kept: Sequence[Chunk],
    chunks: Sequence[Chunk],
    now: datetime,
) -> Document:
    every = [*kept, *chunks]
    metadata: dict[str, str] = {}
    for item in items:
        metadata.update(item.metadata)
    return Document(
        id=document_id,
        bank=bank,
        title=next((item.title for item in items if item.title), found[0].title if found else ""),
        context=next((item.context for item in items if item.context), found[0].context if found else ""),
        tags=frozenset().union(*(item.tags for item in items)),
        metadata=metadata,
        content_hash=digest(*(chunk.content_hash for chunk in every)),
        characters=sum(len(chunk.text) for chunk in every),
        created_at=found[0].created_at if found else now,
        updated_at=now,
    )
