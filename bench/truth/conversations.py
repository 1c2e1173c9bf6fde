"""Long conversations: questions about what is so now and about what was, asked while time goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.truth.replay import TURN, SetClock, open_replay
from bench.truth.report import Figure, Milliseconds, PartReport, Share
from perdure import AsOf, Evidence, Item, Perdure

TYPES = ("current", "past", "as_of", "unanswerable")
PERSONS = ("first", "third")
UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """One turn of a conversation."""

    id: str
    session: str
    said_at: datetime
    speaker: str
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthQuery:
    """A question, the turns that hold its answer, and those whose value is not right for it."""

    id: str
    text: str
    asked_at: datetime
    type: str
    person: str
    as_of: datetime | None
    evidence: frozenset[str]
    stale: frozenset[str]
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said, and what is asked about it."""

    bank: str
    turns: Sequence[SaidTurn]
    queries: Sequence[TruthQuery]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOutcome:
    """How a question was answered."""

    query: TruthQuery
    turns: Sequence[str]
    """The turn of each recalled fact, best first."""
    texts: Sequence[str]
    evidence: Evidence
    milliseconds: float

    @property
    def right_first(self) -> bool:
        return bool(self.turns) and self.turns[0] in self.query.evidence

    @property
    def right_in_three(self) -> bool:
        return not self.query.evidence.isdisjoint(self.turns[:3])

    @property
    def stale_above_right(self) -> bool:
        """Whether a fact with a wrong value stands before the first one with the right value."""
        for turn in self.turns:
            if turn in self.query.evidence:
                return False
            if turn in self.query.stale:
                return True
        return False


def load_conversations(path: Path) -> list[Conversation]:
    return [_conversation(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(entry: Mapping[str, Any]) -> Conversation:
    turns = [
        SaidTurn(
            id=item["id"],
            session=item["session"],
            said_at=datetime.fromisoformat(item["date"]),
            speaker=item["speaker"],
            role=item["role"],
            text=item["text"],
        )
        for item in entry["items"]
    ]
    queries = [
        TruthQuery(
            id=query["id"],
            text=query["query"],
            asked_at=datetime.fromisoformat(query["date"]),
            type=query["type"],
            person=query["person"],
            as_of=datetime.fromisoformat(query["as_of"]) if query.get("as_of") else None,
            evidence=frozenset(query["evidence"]),
            stale=frozenset(query["stale"]),
            answer=query["answer"],
        )
        for query in entry["queries"]
    ]
    return Conversation(bank=entry["bank"], turns=turns, queries=queries)


def run_conversations(path: Path) -> PartReport:
    """Replay every conversation and ask each question at its time."""
    outcomes: list[QueryOutcome] = []
    with open_replay() as (memory, clock):
        for conversation in load_conversations(path):
            outcomes += _replay(memory, clock, conversation)
    return PartReport(_sections(outcomes), [line for outcome in outcomes for line in _miss(outcome)])


def _replay(memory: Perdure, clock: SetClock, conversation: Conversation) -> Iterator[QueryOutcome]:
    """Retain session after session; each question is asked when all sessions before it are retained."""
    sessions = [list(turns) for _, turns in groupby(conversation.turns, key=lambda turn: turn.session)]
    for query in sorted(conversation.queries, key=lambda query: query.asked_at):
        while sessions and sessions[0][0].said_at <= query.asked_at:
            session = sessions.pop(0)
            clock.now = session[-1].said_at
            memory.retain(conversation.bank, [retained_item(turn) for turn in session])
        clock.now = query.asked_at
        yield _ask(memory, conversation.bank, query)


def retained_item(turn: SaidTurn) -> Item:
    return Item(
        content=turn.text,
        speaker=turn.speaker,
        role=turn.role,
        timestamp=turn.said_at,
        document_id=turn.session,
        metadata={TURN: turn.id},
    )


def _ask(memory: Perdure, bank: str, query: TruthQuery) -> QueryOutcome:
    as_of = AsOf(valid=query.as_of) if query.as_of else None
    started = time.perf_counter()
    result = memory.recall(
        bank, query.text, recipe="default", asked_at=query.asked_at, as_of=as_of, track=False
    )
    return QueryOutcome(
        query=query,
        milliseconds=(time.perf_counter() - started) * 1000.0,
        turns=[recollection.fact.metadata.get(TURN, "") for recollection in result],
        texts=[recollection.text for recollection in result],
        evidence=result.evidence,
    )


def _sections(outcomes: Sequence[QueryOutcome]) -> dict[str, dict[str, Figure]]:
    sections = {"conversations": _figures(outcomes)}
    for type_ in TYPES:
        sections[f"{type_} questions"] = _figures([o for o in outcomes if o.query.type == type_])
    for person in PERSONS:
        sections[f"{person} person"] = _figures([o for o in outcomes if o.query.person == person])
    return sections


def _figures(outcomes: Sequence[QueryOutcome]) -> dict[str, Figure]:
    answerable = [outcome for outcome in outcomes if outcome.query.type != UNANSWERABLE]
    unanswerable = [outcome for outcome in outcomes if outcome.query.type == UNANSWERABLE]
    figures: dict[str, Figure] = {}
    if answerable:
        figures["right first"] = Share.of(o.right_first for o in answerable)
        figures["right in first three"] = Share.of(o.right_in_three for o in answerable)
        figures["stale above right"] = Share.of(o.stale_above_right for o in answerable if o.query.stale)
        figures["answerable, evidence strong"] = Share.of(o.evidence is Evidence.STRONG for o in answerable)
    if unanswerable:
        figures["unanswerable, evidence not strong"] = Share.of(
            o.evidence is not Evidence.STRONG for o in unanswerable
        )
    figures["p50 ms"] = Milliseconds(tuple(outcome.milliseconds for outcome in outcomes))
    return figures


def _miss(outcome: QueryOutcome) -> Iterator[str]:
    query = outcome.query
    first = repr(outcome.texts[0]) if outcome.texts else "nothing"
    if query.type == UNANSWERABLE:
        if outcome.evidence is Evidence.STRONG:
            yield f"{query.id} {query.type}: {query.text} Strong evidence, first {first}"
    elif not outcome.right_first:
        stale = ", stale above right" if outcome.stale_above_right else ""
        yield f"{query.id} {query.type}: {query.text} ({query.answer}) First {first}{stale}"
