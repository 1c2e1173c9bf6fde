"""The conversations: messages as people type them, questions with the messages that answer them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HALVES = ("seen", "unseen")
FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat."""

    id: str
    session: str
    sent_at: datetime
    speaker: str
    text: str
    is_filler: bool
    """Whether nothing in it is worth remembering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatQuery:
    """A question with the values that a right answer has, and those that a wrong one would have."""

    id: str
    text: str
    asked_at: datetime
    type: str
    expected: Sequence[Sequence[str]]
    """One entry per required value: its accepted spellings."""
    forbidden: Sequence[str]
    evidence: frozenset[str]
    """Ids of the messages that answer."""
    stale: frozenset[str]
    """Ids of the messages that state an outdated or retracted value."""
    is_changed: bool
    is_asked_twice: bool

    @property
    def is_answerable(self) -> bool:
        return bool(self.evidence)

    def values_in(self, text: str) -> frozenset[int]:
        """Return the indices of the required values that the text contains."""
        lowered = text.casefold()
        return frozenset(
            index
            for index, spellings in enumerate(self.expected)
            if any(spelling.casefold() in lowered for spelling in spellings)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A conversation, its questions, and the relations that it truly states."""

    bank: str
    language: str
    half: str
    asker: str
    assistant: str | None
    messages: Sequence[Message]
    queries: Sequence[ChatQuery]
    relations: frozenset[tuple[str, str]]
    """Subject and object of every relation that is stated, in lower case, in either direction."""

    def role_of(self, speaker: str) -> str:
        """Return the role that a speaker has in a chat with an assistant; empty where people talk to each other."""
        if self.assistant is None:
            return ""
        return "assistant" if speaker == self.assistant else "user"


def read_chats(half: str) -> list[Chat]:
    """Return the conversations of one half, by name."""
    return [_read_chat(path, half) for path in sorted((FOLDER / half).glob("*.json"))]


def _read_chat(path: Path, half: str) -> Chat:
    raw = json.loads(path.read_text(encoding="utf-8"))
    pairs = {(subject.casefold(), object_.casefold()) for subject, _, object_, _ in raw["relations"]}
    return Chat(
        bank=raw["bank"],
        language=raw["language"],
        half=half,
        asker=raw["asker"],
        assistant=raw["assistant"],
        messages=[_read_message(item) for item in raw["items"]],
        queries=[_read_query(query) for query in raw["queries"]],
        relations=frozenset(pairs | {(second, first) for first, second in pairs}),
    )


def _read_message(raw: Mapping[str, Any]) -> Message:
    return Message(
        id=raw["id"],
        session=raw["session"],
        sent_at=_moment(raw["date"]),
        speaker=raw["speaker"],
        text=raw["text"],
        is_filler=raw.get("filler", False),
    )


def _read_query(raw: Mapping[str, Any]) -> ChatQuery:
    return ChatQuery(
        id=raw["id"],
        text=raw["query"],
        asked_at=_moment(raw["date"]),
        type=raw["type"],
        expected=raw["expected"],
        forbidden=raw["forbidden"],
        evidence=frozenset(raw["evidence"]),
        stale=frozenset(raw["stale"]),
        is_changed=raw["changed"],
        is_asked_twice=raw["twice"],
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
