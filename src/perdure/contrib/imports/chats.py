"""Chat exports: messages of SDKs, ChatGPT's and Claude's exports, and plain lists of turns (Telegram, Slack, Discord)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from perdure.contrib.imports.chatgpt import spoken_messages
from perdure.domain.item import AGENT_ROLES, check_text
from perdure.errors import InvalidInput
from perdure.extending import (
    SILENT_ROLES,
    STAMP_PATTERN,
    DayOrder,
    as_message,
    decide_day_order,
    read_message,
    read_moment,
    read_stamp,
    role_of,
    speaker_of,
)
from perdure.ports.import_source import ChatReading

_TEXT = ("text", "content", "message", "body")
_WHO = ("speaker", "name", "sender", "author", "from", "role")
_WHEN = ("date", "timestamp", "time", "created_at", "createdAt", "create_time", "sent_at", "ts", "datetime")
_MESSAGES = ("chat_messages", "messages", "contents")
_LISTS = (*_MESSAGES, "conversations")
_WRITTEN = re.compile(STAMP_PATTERN, re.IGNORECASE)


def read_chats(text: str, name: str, document_id: str | None = None) -> list[ChatReading]:
    """Return the conversations of a JSON or JSONL text; its form is told by its keys.

    `document_id` names a single conversation that has no id of its own.
    """
    values = _parse(text, name)
    order = decide_day_order(stamp for date in _dates(values) if (stamp := read_stamp(date)) is not None)
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if (
        len(values) == 1
        and isinstance(values[0], Mapping)
        and isinstance(values[0].get("conversations"), list)
    ):
        values = values[0]["conversations"]
    if values and all(isinstance(value, Mapping) and _is_conversation(value) for value in values):
        readings = [_conversation(value, f"{name}#{n}", order) for n, value in enumerate(values, start=1)]
    else:
        turns = [turn for n, value in enumerate(values) for turn in _turns(value, f"{name}[{n}]", order)]
        readings = [_reading(document_id or _digest(name, turns), name, turns)]
    spoken = [reading for reading in readings if reading.items]
    if not spoken:
        raise InvalidInput(name, "a chat export with at least one turn that somebody said")
    for reading in spoken:
        _check_texts(reading)
    return spoken


def _check_texts(reading: ChatReading) -> None:
    """Raise by the conversation's name what no store takes; JSON can spell NUL characters and lone surrogates."""
    for item in reading.items:
        for value in item.values():
            if isinstance(value, str):
                check_text(reading.name, value)


def _parse(text: str, name: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except RecursionError as error:
        raise InvalidInput(name, "JSON that is nested less deeply") from error
    except json.JSONDecodeError as whole:
        lines = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) < 2:
            raise InvalidInput(name, f"valid JSON: {whole}") from whole
        return [_line(line, f"{name}, line {n}") for n, line in lines]


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(where, f"valid JSON: {error}") from error


def _dates(value: Any) -> Iterator[str]:
    """Yield the dates of all turns as written, where they are texts."""
    if isinstance(value, list):
        for part in value:
            yield from _dates(part)
    elif isinstance(value, Mapping):
        yield from (value[key] for key in _WHEN if isinstance(value.get(key), str))
        yield from (date for key in _LISTS for date in _dates(value.get(key)))


def _is_conversation(value: Mapping[str, Any]) -> bool:
    return (
        "mapping" in value
        or any(isinstance(value.get(key), list) for key in _MESSAGES)
        or "messages" in value
    )


def _conversation(value: Mapping[str, Any], where: str, order: DayOrder) -> ChatReading:
    title = str(value.get("title") or value.get("name") or "")
    began = value.get("create_time") or value.get("created_at")
    if "mapping" in value:
        turns = _chatgpt_turns(value, where)
    else:
        messages = next((value[key] for key in _MESSAGES if key in value), None)
        if not isinstance(messages, Sequence) or isinstance(messages, str):
            raise InvalidInput(f"{where}.messages", "a list of messages", messages)
        turns = [turn for n, one in enumerate(messages) for turn in _turns(one, f"{where}[{n}]", order)]
    own_id = value.get("conversation_id") or value.get("uuid") or value.get("id")
    return _reading(
        str(own_id or _digest(where, turns)), title or where, turns, title, _moment(began, where, order)
    )


def _chatgpt_turns(value: Mapping[str, Any], where: str) -> list[dict[str, Any] | None]:
    try:
        return [_said(one.text, one.role, one.role, one.said_at) for one in spoken_messages(value)]
    except InvalidInput as error:
        raise InvalidInput(f"{where}.mapping", "nodes with messages, as ChatGPT exports them") from error


def _turns(value: Any, where: str, order: DayOrder) -> list[dict[str, Any] | None]:
    """Return what a turn says: one text, or of a message with a tool's result two; None for what nobody said."""
    if not isinstance(value, Mapping):
        raise InvalidInput(where, "a turn: an object with a text and a speaker", value)
    when = next((value[key] for key in _WHEN if value.get(key) is not None), None)
    text = _text(value)
    message = as_message(value)
    if message is not None and not text:
        role = role_of(message)
        who = speaker_of(message, role)
        said = [one for one in read_message(message, where).texts if one.role not in SILENT_ROLES]
        return [_said(one.text, who, role, _moment(when, where, order)) for one in said]
    if text is None:
        raise InvalidInput(where, "a turn with one of " + ", ".join(_TEXT), sorted(value))
    role = str(value.get("role") or value.get("sender") or "").lower()
    if not text.strip() or role in SILENT_ROLES:
        return []
    return [_said(text, _who(value), role, _moment(when, where, order))]


def _who(value: Mapping[str, Any]) -> str:
    """Return the speaker, by a name or by an object that has one (Discord's `author`)."""
    for key in _WHO:
        named = value.get(key)
        if isinstance(named, Mapping):
            named = next(
                (named[one] for one in ("global_name", "name", "username", "role") if named.get(one)), None
            )
        if isinstance(named, str) and named:
            return named
    return ""


def _text(value: Mapping[str, Any]) -> str | None:
    """Return the first text that says something; empty when the turn has only other things, None when it is no turn."""
    empty: str | None = None
    for key in _TEXT:
        content = value.get(key)
        if isinstance(content, Sequence) and not isinstance(content, str):
            content = _joined(content)
        if isinstance(content, str) and content.strip():
            return content
        if key in value:
            empty = ""
    return empty


def _joined(parts: Sequence[Any]) -> str:
    """Return the text parts of a message; Telegram cuts a sentence into strings and marked words."""
    texts = [
        part if isinstance(part, str) else part.get("text")
        for part in parts
        if isinstance(part, str | Mapping)
    ]
    pieces = any(isinstance(part, str) for part in parts)
    return ("" if pieces else "\n").join(text for text in texts if isinstance(text, str))


def _said(text: str, who: str, role: str, when: datetime | None) -> dict[str, Any]:
    item: dict[str, Any] = {"content": text}
    if who:
        item["speaker"] = "user" if who == "human" else who
    if role in AGENT_ROLES or who.lower() in AGENT_ROLES:
        item["role"] = "assistant"
    if when is not None:
        item["timestamp"] = when
    return item


def _moment(value: Any, where: str, order: DayOrder) -> datetime | None:
    """ISO 8601 text, seconds or milliseconds since 1970, or a date as people write it, day or month first as the file shows."""
    if value is None or value == "":
        return None
    moment = read_moment(value)
    if moment is None and isinstance(value, str) and _WRITTEN.fullmatch(value.strip()):
        stamp = read_stamp(value)
        moment = stamp.moment(order) if stamp is not None else None
    if moment is None:
        raise InvalidInput(where, "a date as ISO 8601 or seconds since 1970", value)
    return moment


def _reading(
    document_id: str,
    name: str,
    turns: Iterable[dict[str, Any] | None],
    title: str = "",
    began: datetime | None = None,
) -> ChatReading:
    shared: dict[str, Any] = {"document_id": document_id}
    if title:
        shared["title"] = title
    if began is not None:
        shared["timestamp"] = began
    return ChatReading(name=name, items=tuple({**shared, **turn} for turn in turns if turn is not None))


def _digest(where: str, turns: Iterable[dict[str, Any] | None]) -> str:
    first = next((turn["content"] for turn in turns if turn is not None), "")
    return blake2b(f"{where.split('#')[0]}\0{first}".encode(), digest_size=8).hexdigest()
