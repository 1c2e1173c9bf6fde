"""Chat messages in the shapes that SDKs give them: what each says, and what of it is no text.

Told apart by their keys, never by their classes: OpenAI (chat completions and items of the Responses API), Anthropic,
LangChain (messages, their dumps and (role, text) pairs), MCP, Google Gemini, the AI SDK's UI messages, and what is like them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

from perdure.domain.item import DATA_ROLES, PassedOver, check_text
from perdure.domain.orders import INSTRUCTION_ROLES
from perdure.errors import InvalidInput
from perdure.text.fence import strip_fenced
from perdure.text.moments import read_moment

SILENT_ROLES = INSTRUCTION_ROLES | DATA_ROLES
"""Roles of instructions and machine output: no person says them, whatever name they bear."""

_SAME_ROLE = {
    "human": "user", "humanmessage": "user", "humanmessagechunk": "user", "usermessage": "user",
    "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant", "model": "assistant",
    "chatbot": "assistant", "assistantmessage": "assistant",
    "systemmessage": "system", "systemmessagechunk": "system", "developermessage": "developer",
    "toolmessage": "tool", "toolmessagechunk": "tool", "functionmessage": "function", "functionmessagechunk": "function",
    "user": "user", "assistant": "assistant", "system": "system", "developer": "developer", "tool": "tool", "function": "function",
}  # fmt: skip
"""Name of a role or class of message in lower case -> the role."""

_ATTRIBUTES = (
    "role", "type", "content", "parts", "name", "source", "text", "tool_calls", "function_call", "timestamp", "created_at",
    "input", "output", "id",
)  # fmt: skip
_CONTENT = ("parts", "content", "message")
"""Where a message has its content; UI messages of the AI SDK have two, and `parts` is the whole."""
_TOOL_RESULT_KEYS = ("isError", "structuredContent")
"""Keys of a tool's result in MCP, which has a content and no role."""
_WHEN = (
    "timestamp", "created_at", "createdAt", "create_time", "createTime", "sent_at", "sentAt", "date", "datetime",
    "time", "ts",
)  # fmt: skip
_WHEN_INSIDE = ("metadata", "additional_kwargs", "response_metadata")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TEXTS = frozenset({"text", "input_text", "output_text"})
_REASONING = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thought", "summary_text"}
)
_MARKS = frozenset({"step_start", "step_finish", "cache_point", "item_reference", "remove"})
_PICTURES = re.compile(r"image|picture|screenshot")
_SOUNDS = re.compile(r"audio|speech")
_FILES = re.compile(r"file|document|pdf|inline_data|media|video|blob")
_RESULT = re.compile(r"_(?:result|results|output|response)$")
_CALL = re.compile(r"_(?:call|calls|use|approval_request)$|^tool(?:_|$)|^dynamic_tool$")
_RESULT_TEXT = ("content", "output", "result", "response", "value", "text", "outputs", "logs", "stdout")
_ENCRYPTED = re.compile(r"encrypted|signature")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageText:
    """What a message says in one role; a tool's result in a user's message is a text of its own."""

    text: str
    role: str
    context: str = ""
    """Where the text comes from, of a resource or a document that the message carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReading:
    """The texts of one message and the parts of it that were passed over."""

    texts: tuple[MessageText, ...]
    passed_over: tuple[PassedOver, ...]


def as_message(part: object) -> Mapping[str, Any] | None:
    """Return the message as a mapping, or None for what is none: it has a role or a type, or is a pair of a role and a text."""
    if isinstance(part, tuple | list):
        pair = len(part) == 2 and all(isinstance(one, str) for one in part) and part[0].lower() in _SAME_ROLE
        return {"role": part[0], "content": part[1]} if pair else None
    message = as_mapping(part)
    if message is None:
        return None
    message = _unwrap(message)
    if "content" in message and not role_of(message) and any(key in message for key in _TOOL_RESULT_KEYS):
        return {**message, "role": "tool"}
    return message if role_of(message) or _is_text(message.get("type")) or "parts" in message else None


def messages_inside(answer: object) -> tuple[str, Sequence[Any]] | None:
    """Return where an SDK's answer holds its messages, and these: OpenAI's choices and output, Gemini's candidates."""
    body = None if isinstance(answer, str | Sequence) else as_mapping(answer)
    if body is None or any(key in body for key in ("role", "content", "parts")):
        return None
    for key, inner in (("choices", "message"), ("candidates", "content")):
        entries = [as_mapping(one) or {} for one in _list(body.get(key))]
        if entries and all(inner in one for one in entries):
            return key, [one[inner] for one in entries]
    return ("output", _list(body["output"])) if body.get("object") == "response" else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()


def as_mapping(value: object) -> Mapping[str, Any] | None:
    """Return a mapping, or the fields of an SDK's object: what `model_dump` gives, else the usual attributes."""
    if isinstance(value, Mapping):
        return value
    if value is None or isinstance(value, str | bytes | int | float | Sequence):
        return None
    dump: Callable[[], object] | None = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = dump()
        return dumped if isinstance(dumped, Mapping) else None
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    attributes = {name: getattr(value, name) for name in _ATTRIBUTES if hasattr(value, name)}
    return attributes or None


def _unwrap(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """LangChain's dumps hold a message under `data` or `kwargs`, with its class beside it."""
    data, constructor = message.get("data"), message.get("kwargs")
    if isinstance(data, Mapping) and _is_text(message.get("type")) and "content" in data:
        return {"type": message["type"], **data}
    if isinstance(constructor, Mapping) and message.get("type") == "constructor":
        path = message.get("id")
        kind = path[-1] if isinstance(path, Sequence) and path and not isinstance(path, str) else ""
        return {"type": kind, **constructor}
    return message


def role_of(message: Mapping[str, Any]) -> str:
    """Return the message's role under its usual name (`human` is user, `model` is assistant), or "" if it has none."""
    role = message.get("role")
    if _is_text(role):
        return _SAME_ROLE.get(str(role).lower(), str(role))
    if getattr(role, "value", None) in _SAME_ROLE:
        return _SAME_ROLE[role.value]  # type: ignore[union-attr]
    by_type = _SAME_ROLE.get(str(message.get("type")).lower(), "")
    by_source = _SAME_ROLE.get(str(message.get("source")).lower(), "")
    return by_type or by_source or ("user" if "parts" in message else "")


def speaker_of(message: Mapping[str, Any], role: str) -> str:
    """Return who says it: a name where a person, an agent or a tool has one, else the role."""
    if role in INSTRUCTION_ROLES:
        return role
    names = (message.get(key) for key in ("speaker", "name", "source"))
    return next((str(name) for name in names if _is_text(name)), role)


def read_message(message: Mapping[str, Any], path: str) -> MessageReading:
    """Return what a message says, part by part."""
    role = role_of(message)
    passed_over: list[PassedOver] = []
    texts: list[MessageText] = []
    for part_path, part in _parts(message, path):
        read = _read_part(part, role)
        if isinstance(read, str):
            if read:
                passed_over.append(PassedOver(path=part_path, reason=read))
            continue
        reason = _unstorable(read.text)
        if reason:
            passed_over.append(PassedOver(path=part_path, reason=reason))
        elif texts and (texts[-1].role, texts[-1].context) == (read.role, read.context):
            joined = f"{texts[-1].text}\n{read.text}"
            texts[-1] = MessageText(text=joined, role=read.role, context=read.context)
        else:
            texts.append(read)
    passed_over += [PassedOver(path=path, reason=_call(name)) for name in _called(message)]
    if not texts and not passed_over:
        passed_over.append(PassedOver(path=path, reason=_emptiness(message)))
    return MessageReading(texts=_unfenced(texts, path, passed_over), passed_over=tuple(passed_over))


def _emptiness(message: Mapping[str, Any]) -> str:
    return "a refusal" if _is_text(message.get("refusal")) else "no text"


def _unfenced(
    texts: Sequence[MessageText], path: str, passed_over: list[PassedOver]
) -> tuple[MessageText, ...]:
    """Return the texts without memory that was put into them, so that it is not remembered twice."""
    own = []
    for said in texts:
        text = strip_fenced(said.text)
        if text.strip():
            own.append(MessageText(text=text, role=said.role, context=said.context))
        else:
            passed_over.append(PassedOver(path=path, reason="recalled memory alone"))
    return tuple(own)


def _parts(message: Mapping[str, Any], path: str) -> Iterator[tuple[str, object]]:
    """Yield the parts of a message with their paths; an item that has no content is a part itself."""
    for key in _CONTENT:
        content = message.get(key)
        if content is None or (isinstance(content, Sequence) and not content):
            continue
        if isinstance(content, str | bytes) or not isinstance(content, Sequence):
            yield f"{path}.{key}", content
        else:
            yield from ((f"{path}.{key}[{index}]", part) for index, part in enumerate(content))
        return
    spoken = (as_mapping(message.get("audio")) or {}).get("transcript")
    if _is_text(spoken):
        yield f"{path}.audio.transcript", spoken
    elif not role_of(message) and _is_text(message.get("type")):
        yield path, message


def _called(message: Mapping[str, Any]) -> list[str]:
    """Names of the tools that a message calls outside its content."""
    calls = message.get("tool_calls") or ()
    listed = list(calls) if isinstance(calls, Sequence) and not isinstance(calls, str) else []
    inside = {_name(as_mapping(part) or {}) for _, part in _parts(message, "")}
    names = [_name(as_mapping(call) or {}) for call in [*listed, message.get("function_call")] if call]
    return [name for name in names if name not in inside or not name]


def _name(call: Mapping[str, Any]) -> str:
    """Return the name of the tool that a call or a result belongs to."""
    inner = (call, *(as_mapping(call.get(key)) or {} for key in _CALL_BODIES))
    names = (one.get(key) for one in inner for key in ("name", "toolName", "tool_name"))
    return next((str(name) for name in names if _is_text(name)), "")


_CALL_BODIES = (
    "function", "function_call", "functionCall", "toolUse", "tool_use", "toolInvocation", "function_response",
    "functionResponse",
)  # fmt: skip


def _read_part(part: object, role: str) -> MessageText | str:
    """Return a part's text in its role, or the reason for which it is passed over; "" for marks, which hold nothing."""
    if isinstance(part, str):
        return MessageText(text=part, role=role) if part.strip() else "empty text"
    fields_of_part = as_mapping(part)
    if fields_of_part is None:
        return f"content that is no text ({type(part).__name__})"
    body = {key: value for key, value in fields_of_part.items() if value is not None}
    kind = _kind(body)
    if kind in _REASONING or body.get("thought") is True:
        return "reasoning"
    if kind in _TEXTS:
        text = body.get("text")
        inner = text if isinstance(text, str) else (as_mapping(text) or {}).get("value")
        return _read_part(inner, role) if isinstance(inner, str) else "no text"
    if kind in _MARKS:
        return ""
    if kind in ("resource", "document"):
        return _attached(body, kind)
    if kind == "image_generation_call":
        return "an image"
    if _RESULT.search(kind) or (_CALL.search(kind) and _outcome(body)):
        text = _outcome(body)
        return MessageText(text=text, role="tool") if text.strip() else "a tool's result without text"
    if _CALL.search(kind):
        stated = str(body.get("type", ""))
        return _call(_name(body) or stated.removeprefix("tool-") * stated.startswith("tool-"))
    return _other(body, kind, role)


def _kind(body: Mapping[str, Any]) -> str:
    """Return a part's type in snake case; of one without a type, the key that holds it."""
    stated = body.get("type")
    if _is_text(stated):
        name = str(stated)
    elif isinstance(body.get("text"), str):
        name = "text"
    elif _is_text(body.get("name")) and any(key in body for key in ("arguments", "args", "input")):
        name = "tool_call"
    else:
        name = next((key for key, value in body.items() if as_mapping(value) is not None), "") or next(
            iter(body), ""
        )
    return _CAMEL.sub("_", name).replace("-", "_").lower()


def _attached(body: Mapping[str, Any], kind: str) -> MessageText | str:
    """Return the text of a resource (MCP) or a document (Anthropic); it is nobody's speech."""
    inner = as_mapping(body.get("resource")) or as_mapping(body.get("source")) or {}
    where = next((str(one) for one in (body.get("title"), inner.get("uri")) if one), "")
    text = inner.get("text") or (inner.get("data") if inner.get("type") == "text" else None)
    if inner.get("type") == "content":
        text = _outcome_text(inner.get("content"))
    if isinstance(text, str) and text.strip():
        return MessageText(text=text, role="", context=where)
    return f"a {kind} without text ({where})" if where else f"a {kind} without text"


def _other(body: Mapping[str, Any], kind: str, role: str) -> MessageText | str:
    media = _media_type(body)
    if _PICTURES.search(kind) or media.startswith("image/"):
        return "an image"
    if _SOUNDS.search(kind) or media.startswith("audio/"):
        return "audio"
    if _FILES.search(kind):
        return f"a file ({media})" if media else "a file"
    if kind == "refusal":
        return "a refusal"
    if isinstance(body.get("text"), str):
        return _read_part(body["text"], role)
    return f"a part of type {kind}" if kind else "an empty part"


def _media_type(body: Mapping[str, Any]) -> str:
    """Return the MIME type that a part states, itself or in what it holds."""
    inner = (body, *(as_mapping(value) or {} for value in body.values()))
    keys = ("mediaType", "mimeType", "mime_type", "media_type")
    return next((str(one[key]) for one in inner for key in keys if _is_text(one.get(key))), "")


def _outcome(body: Mapping[str, Any]) -> str:
    """Return the text of a tool's result, wherever its shape has it; what is no text as JSON."""
    for key in (
        *_RESULT_TEXT,
        "toolResult",
        "tool_result",
        "functionResponse",
        "function_response",
        "toolInvocation",
        "codeExecutionResult",
        "code_execution_result",
    ):
        value = body.get(key)
        if value is not None and value != "":
            return _outcome_text(value)
    return ""


def _outcome_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        texts = [_outcome_text(part) for part in value]
        return "\n".join(text for text in texts if text.strip())
    body = as_mapping(value)
    if body is None:
        return "" if value is None else json.dumps(value, default=str)
    kind = _kind({key: one for key, one in body.items() if one is not None})
    if _PICTURES.search(kind) or _SOUNDS.search(kind) or _FILES.search(kind):
        return ""
    for key in _RESULT_TEXT:
        inner = body.get(key)
        if isinstance(inner, str) or (inner and key in ("content", "value", "response")):
            return _outcome_text(inner)
    if body.get("response") in ({}, []):
        return ""
    readable = {key: one for key, one in body.items() if one is not None and not _ENCRYPTED.search(key)}
    return json.dumps(readable, ensure_ascii=False, default=str)


def _call(name: str) -> str:
    return f"a tool call ({name})" if name else "a tool call"


def _unstorable(text: str) -> str:
    """Why no store can take the text, or ""."""
    try:
        check_text("content", text)
    except InvalidInput as error:
        return f"not {error.expected}"
    return ""


def moment_of(message: Mapping[str, Any], path: str) -> tuple[datetime | None, tuple[PassedOver, ...]]:
    """Return when the message was sent, from the keys that programs use, and a date among them that cannot be read."""
    inside = [as_mapping(message.get(key)) or {} for key in _WHEN_INSIDE]
    for fields_with_dates in (message, *inside):
        for key in _WHEN:
            value = fields_with_dates.get(key)
            if value is None or value == "":
                continue
            moment = read_moment(value)
            if moment is not None:
                return moment, ()
            if fields_with_dates is message:
                return None, (
                    PassedOver(path=f"{path}.{key}", reason=f"no date that can be read: {value!r:.60}"),
                )
    return None, ()


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
