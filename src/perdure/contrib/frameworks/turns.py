"""What the messages of an agent framework say: the user's last prompt, and the turns worth keeping.

Messages come as dicts, SDK objects or (role, text) pairs, in any shape that `retain` reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from perdure.extending import MessageText, as_message, moment_of, read_message, speaker_of, strip_fenced

USER, ASSISTANT = "user", "assistant"
_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")
_NOTICE = re.compile(r"<([a-z][\w-]*)(?:\s[^>]*)?>.*</\1>", re.DOTALL)
"""A text that is nothing but one element, such as `<system-reminder>...</system-reminder>`: hosts speak so, not people."""


@dataclass(frozen=True, slots=True)
class UserPrompt:
    """What the user said last, and where it stands among the messages."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A turn of the user or the assistant, without recalled memory."""

    role: str
    text: str
    speaker: str
    said_at: datetime | None = None

    def as_message(self) -> dict[str, object]:
        """Return the turn as a message that `retain` reads."""
        message: dict[str, object] = {"role": self.role, "content": self.text, "name": self.speaker}
        return message if self.said_at is None else {**message, "timestamp": self.said_at}


def is_prompt(text: str) -> bool:
    """Whether a person says something to the agent: not empty, no slash command, no notice of the host."""
    stripped = text.strip()
    return bool(stripped) and not _COMMAND.match(stripped) and not _NOTICE.fullmatch(stripped)


def last_user_prompt(messages: Sequence[object]) -> UserPrompt | None:
    """Return what the user said last, tool results aside; None where that is nothing to recall for."""
    for index in range(len(messages) - 1, -1, -1):
        said = "\n".join(one.text for one in _texts(messages[index]) if one.role == USER).strip()
        if said:
            return UserPrompt(index, said) if is_prompt(said) else None
    return None


def said_turns(messages: Sequence[object]) -> list[SaidTurn]:
    """Return the turns of user and assistant, in order: no instructions, tool results, reasoning, commands or recalled memory."""
    turns: list[SaidTurn] = []
    for part in messages:
        message = {"role": USER, "content": part} if isinstance(part, str) else as_message(part)
        for said in _texts(part):
            text = said.text.strip()
            if message is None or said.role not in (USER, ASSISTANT) or not text:
                continue
            if said.role == ASSISTANT or is_prompt(text):
                turns.append(
                    SaidTurn(said.role, text, speaker_of(message, said.role), moment_of(message, "")[0])
                )
    return turns


def _texts(part: object) -> Sequence[MessageText]:
    """Return what a message says, without recalled memory; a plain text is the user's."""
    if isinstance(part, str):
        return [MessageText(text=strip_fenced(part), role=USER)]
    message = as_message(part)
    return () if message is None else read_message(message, "message").texts
