"""The conversation with a model, kept within its window: older readings lose their lowest ranked lines first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from perdure.domain.rendering import fenced
from perdure.ports.llm import ChatMessage, Role, ToolCall

KEPT_LINES = 3
"""Lines that a reading keeps while another one has more."""
MESSAGE_TOKENS = 8
"""Tokens that a message costs beside its text."""


@dataclass(slots=True)
class ReadingText:
    """What a tool read: a header of our own, and lines of memory, best first, which are fenced."""

    header: str
    lines: list[str] = field(default_factory=list)
    dropped: int = 0

    def text(self) -> str:
        """As the model sees it."""
        if not self.lines:
            return self.header
        more = [f"({self.dropped} lower ranked lines were left out for room)"] if self.dropped else []
        return fenced([self.header, *self.lines, *more])

    def drop_last(self) -> str:
        """Take the lowest ranked line out."""
        self.dropped += 1
        return self.lines.pop()


@dataclass(slots=True)
class Entry:
    """A message whose readings can still be shortened."""

    role: Role
    parts: list[str | ReadingText]
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""

    def message(self) -> ChatMessage:
        """Return the message as it is sent."""
        text = "\n\n".join(part if isinstance(part, str) else part.text() for part in self.parts)
        return ChatMessage(role=self.role, text=text, calls=self.calls, call_id=self.call_id, tool=self.tool)

    def readings(self) -> list[ReadingText]:
        """Return what can be shortened."""
        return [part for part in self.parts if isinstance(part, ReadingText)]


class Conversation:
    """Entries in order."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self._entries.append(entry)

    def tokens(self) -> int:
        """Tokens of all messages, by the engine's counter."""
        return sum(
            self._count(message.text) + sum(self._count(str(call.arguments)) for call in message.calls) + MESSAGE_TOKENS
            for message in self._messages()
        )  # fmt: skip

    def fit(self, limit: int) -> Sequence[ChatMessage]:
        """Return the messages within so many tokens: lines are dropped from the oldest readings on, the lowest ranked first."""
        over = self.tokens() - limit
        for kept in (KEPT_LINES, 0):
            for reading in (one for entry in self._entries for one in entry.readings()):
                while over > 0 and len(reading.lines) > kept:
                    over -= self._count(reading.drop_last())
        return self._messages()

    def _messages(self) -> list[ChatMessage]:
        return [entry.message() for entry in self._entries]
