"""The turns of a session, read from the file in which the assistant keeps it.

A turn is what the user said and what the assistant said last before the user spoke again: the words in between are about tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from perdure.contrib.assistants.hosts import is_words
from perdure.extending import as_message, read_message, role_of, strip_fenced

MOST_BYTES = 64_000_000
"""Of a larger file the end is read."""
WAKE_UPS = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
"""Origins of prompts that no person wrote."""
_MACHINE_TAGS = (
    "environment_context|user_instructions|turn_aborted|user_shell_command|skill|command-name|command-message|command-args|"
    "local-command-stdout|local-command-stderr|local-command-caveat|system-reminder|task-notification|bash-input|bash-stdout|"
    "bash-stderr|permissions instructions|collaboration_mode|INSTRUCTIONS"
)
_MACHINE_BLOCK = re.compile(rf"<({_MACHINE_TAGS})\b[^>]*>.*?</\1>", re.DOTALL)
_MACHINE_LINE = re.compile(r"# AGENTS\.md instructions|Caveat: The messages below were generated")
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the user said, and what the assistant answered in the end."""

    prompt: str
    reply: str = ""
    said_at: datetime | None = None
    replied_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    role: str
    text: str
    at: datetime | None


def read_turns(host: str, path: str) -> list[Turn]:
    """Return the turns of a transcript, oldest first; empty where there is no such file."""
    file = Path(path)
    if not path or not file.is_file():
        return []
    entries = _entries(file)
    if host == "codex":
        said = _codex(entries)
    elif host in ("claude-code", "vscode"):
        said = _claude(entries)
    else:
        said = _messages(entries)
    return list(_paired(said))


def own_words(text: str) -> str:
    """Return a user's message without what programs put into it: recalled memory, reminders, instructions of the project."""
    words = _INTERRUPTED.sub("", _MACHINE_BLOCK.sub("", strip_fenced(text))).strip()
    return "" if _MACHINE_LINE.match(words) else words


def _entries(file: Path) -> list[Mapping[str, object]]:
    """Yield the objects of JSON lines, or of one JSON list; leave out a line that cannot be read, as the last one may be half written."""
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(0, size - MOST_BYTES))
        text = opened.read().decode("utf-8", "replace")
    if text.lstrip().startswith("["):
        whole = _parsed(text)
        return [one for one in whole if isinstance(one, dict)] if isinstance(whole, list) else []
    parsed = (_parsed(line) for line in text.splitlines() if line.strip())
    return [one for one in parsed if isinstance(one, dict)]


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _claude(entries: Sequence[Mapping[str, object]]) -> Iterator[_Said]:
    """Claude Code: user and assistant messages; notes of the program, subagents, summaries and tool results left out."""
    for entry in entries:
        message = entry.get("message")
        if entry.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
            continue
        if any(entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary", "agentId")):
            continue
        if entry.get("promptSource") in WAKE_UPS or entry.get("turnOrigin") in WAKE_UPS:
            continue
        yield _Said(
            role=str(entry["type"]), text=_text(message.get("content")), at=_moment(entry.get("timestamp"))
        )


def _codex(entries: Sequence[Mapping[str, object]]) -> Iterator[_Said]:
    """Codex: messages of the user and the assistant; those of the developer hold what was injected."""
    for entry in entries:
        payload = entry.get("payload")
        if entry.get("type") != "response_item" or not isinstance(payload, Mapping):
            continue
        if payload.get("type") == "message" and payload.get("role") in ("user", "assistant"):
            yield _Said(
                role=str(payload["role"]),
                text=_text(payload.get("content")),
                at=_moment(entry.get("timestamp")),
            )


def _messages(entries: Sequence[Mapping[str, object]]) -> Iterator[_Said]:
    """Other hosts: whatever is a chat message of the user or the assistant in one of the shapes that retain reads."""
    for entry in entries:
        message = as_message(entry)
        if message is None or role_of(message) not in ("user", "assistant"):
            continue
        at = _moment(entry.get("timestamp") or entry.get("created_at") or entry.get("createdAt"))
        for said in read_message(message, "transcript").texts:
            yield _Said(role=said.role, text=said.text, at=at)


def _text(content: object) -> str:
    """Return the words of a message's content: a text, or the texts among its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, Mapping)
        and part.get("type") in ("text", "input_text", "output_text")
        and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts)


def _moment(value: object) -> datetime | None:
    """Return a time with a zone, as transcripts write it; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _paired(said: Iterator[_Said]) -> Iterator[Turn]:
    """Yield the turns; a slash command ends the turn before it and begins none."""
    turn: Turn | None = None
    for one in said:
        if one.role == "user":
            words = own_words(one.text)
            if not words:
                continue
            if turn is not None:
                yield turn
            turn = Turn(prompt=words, said_at=one.at) if is_words(words) else None
        elif turn is not None and one.text.strip():
            turn = Turn(
                prompt=turn.prompt, said_at=turn.said_at, reply=strip_fenced(one.text), replied_at=one.at
            )
    if turn is not None:
        yield turn
