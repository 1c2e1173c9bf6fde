"""What may be given to retain: text, messages, or items; read in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from perdure.domain.bank import check_bank_id
from perdure.domain.item import TIMELESS, Item, ItemOptions, PassedOver, UpdateMode
from perdure.errors import InvalidInput
from perdure.retain.identity import digest
from perdure.retain.messages import as_message, messages_inside, moment_of, read_message, role_of, speaker_of
from perdure.retain.options import RetainOptions
from perdure.text.fence import strip_fenced

if TYPE_CHECKING:
    from perdure.text.mail import Mail
    from perdure.text.transcript import Transcript

_ITEM_FIELDS = frozenset(f.name for f in fields(Item))
_OWN_WAY = frozenset({"content", "role", "speaker", "name", "timestamp"})
"""Fields of a message that are read in a way of their own."""
_LISTS = ("messages", "contents")
"""Keys under which SDKs hand over a list of messages."""
MISSPELT = 0.85
"""Likeness of a message's key to a field from which on it is named as misspelt."""


class MessageObject(Protocol):
    """A message of an SDK, such as LangChain's `HumanMessage`: anything with a content."""

    @property
    def content(self) -> Any:
        """Text, or a list of parts."""


Content = str | Item | Mapping[str, Any] | MessageObject | Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainRequest:
    """One retain, validated."""

    bank: str
    items: tuple[Item, ...]
    mode: UpdateMode = UpdateMode.REPLACE
    idempotency_key: str = ""
    passed_over: tuple[PassedOver, ...] = ()
    """What of the content is not among the items."""
    masked: Mapping[str, int] = field(default_factory=dict)
    """Format of a secret -> how many of it were masked."""

    def __post_init__(self) -> None:
        check_bank_id(self.bank)
        if not self.items:
            raise InvalidInput("content", "at least one item", self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentReading:
    """The items of a content, and what was passed over."""

    items: tuple[Item, ...]
    passed_over: tuple[PassedOver, ...] = ()


def read_items(content: Content, defaults: Mapping[str, Any]) -> tuple[Item, ...]:
    """Return the items of `read_content`."""
    return read_content(content, defaults).items


def read_content(content: Content, defaults: Mapping[str, Any]) -> ContentReading:
    """Items from a text, an item, a mapping, a message, or a sequence of these; `defaults` fill what they leave open.

    A list of chat messages, or of texts that all carry their speaker ("[8 May 2023] Ann: ..."), is one conversation: its
    turns share a document, named by its first message or by the texts, unless document_id says otherwise.
    """
    shared = {key: value for key, value in defaults.items() if value is not None}
    path, parts = _listed_parts(content)
    paths = [path] if parts is None else [f"{path}[{index}]" for index in range(len(parts))]
    sources = [content] if parts is None else list(parts)
    readings = [
        _read_part(source, shared, at) if parts is None or not _is_empty(source) else _nothing(at)
        for source, at in zip(sources, paths, strict=True)
    ]
    spoken = _read_transcripts(readings, shared)
    items = tuple(item for reading in spoken for item in reading.items)
    passed_over = tuple(one for reading in spoken for one in reading.passed_over)
    if not items:
        reasons = "; ".join(dict.fromkeys(f"{one.path}: {one.reason}" for one in passed_over))
        raise InvalidInput(
            path, f"text to retain, but there is none ({reasons[:300]})" if reasons else "at least one item"
        )
    if "document_id" not in shared and len(items) > 1:
        if all(reading.is_message and not reading.named for reading in spoken):
            items = _one_document(items, _conversation_name(items[:1]))
        elif len(spoken) > 1 and all(reading.is_transcript and not reading.named for reading in spoken):
            items = _one_document(items, _conversation_name(items))
    return ContentReading(items=items, passed_over=passed_over)


def _listed_parts(content: Content) -> tuple[str, Sequence[Any] | None]:
    """Return where the parts of a content stand and what they are; None for a content that is one part."""
    if isinstance(content, str | bytes | Item):
        return "content", None
    if isinstance(content, Sequence) and as_message(content) is None:
        return "content", content
    if isinstance(content, Mapping) and "content" not in content:
        for key in _LISTS:
            if isinstance(content.get(key), Sequence) and not isinstance(content[key], str):
                return f"content.{key}", content[key]
    answer = messages_inside(content)
    return ("content", None) if answer is None else (f"content.{answer[0]}", answer[1])


def _is_empty(part: object) -> bool:
    """Return whether a part of a list says nothing at all: None, no text, or an item without content."""
    if isinstance(part, Mapping) and as_message(part) is None:
        part = part.get("content") if set(part) <= _ITEM_FIELDS | {"name"} else part
    return part is None or (isinstance(part, str) and not part.strip())


def _nothing(path: str) -> _PartReading:
    return _PartReading(
        path=path, items=(), passed_over=(PassedOver(path=path, reason="no text"),), is_message=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartReading:
    """What one part of a content gives."""

    path: str
    items: tuple[Item, ...]
    passed_over: tuple[PassedOver, ...] = ()
    is_message: bool = False
    is_transcript: bool = False
    named: bool = False
    """It names its document itself."""
    unspoken: bool = False
    """A text without a speaker: it may carry one inside."""


def _read_part(part: object, shared: Mapping[str, Any], path: str) -> _PartReading:
    if isinstance(part, Item):
        return _PartReading(path=path, items=(_spoken(part),), named=part.document_id is not None)
    message = None if isinstance(part, str) else as_message(part)
    if message is not None:
        return _read_message(message, shared, path)
    if not isinstance(part, str | Mapping):
        raise InvalidInput(path, "text, a message, an item or an object with content", part)
    item, passed_over = _read_item(part, shared, path)
    return _PartReading(
        path=path,
        items=(item,),
        passed_over=passed_over,
        named=item.document_id is not None and "document_id" not in shared,
        unspoken=not item.speaker and not item.role,
    )


def _read_message(message: Mapping[str, Any], shared: Mapping[str, Any], path: str) -> _PartReading:
    """Return a message's texts as items; keys that no item has are the SDK's own, and ignored."""
    reading = read_message(message, path)
    own = {
        key: value for key, value in message.items() if key in _ITEM_FIELDS - _OWN_WAY and value is not None
    }
    if not isinstance(own.get("metadata", {}), Mapping):
        own.pop("metadata")
    when, unread = _time_of(message, path)
    items = []
    for said in reading.texts:
        merged = {**shared, **own, **when, "content": said.text, "role": said.role}
        merged["speaker"] = _speaker(message, said.role, shared)
        if said.context:
            merged["context"] = said.context
        items.append(Item(**merged))
    return _PartReading(
        path=path,
        items=tuple(items),
        passed_over=(*reading.passed_over, *unread, *_misspelt(message, path)),
        is_message=True,
        named="document_id" in own,
    )


def _speaker(message: Mapping[str, Any], role: str, shared: Mapping[str, Any]) -> str:
    """Return who says a text of the message; a speaker given for all messages is the name of the user."""
    if role != role_of(message):
        return role
    named = speaker_of(message, role)
    return str(shared["speaker"]) if role in ("user", "") and named == role and "speaker" in shared else named


def _time_of(message: Mapping[str, Any], path: str) -> tuple[dict[str, Any], tuple[PassedOver, ...]]:
    """Return the message's time as a field of an item, and a date that could not be read."""
    given = message.get("timestamp")
    if given == TIMELESS:
        return {"timestamp": TIMELESS}, ()
    moment, unread = moment_of(message, path)
    if moment is None and given is not None:
        raise InvalidInput(f"{path}.timestamp", "an ISO 8601 date or datetime", given)
    return ({"timestamp": moment} if moment is not None else {}), unread


def _misspelt(message: Mapping[str, Any], path: str) -> Iterator[PassedOver]:
    """Keys of a message that are almost fields of an item."""
    for key in message:
        likely = get_close_matches(str(key), _ITEM_FIELDS, n=1, cutoff=MISSPELT)
        if likely and key not in _ITEM_FIELDS:
            yield PassedOver(path=f"{path}.{key}", reason=f"not a field; {likely[0]}?")


def _read_transcripts(readings: Sequence[_PartReading], shared: Mapping[str, Any]) -> list[_PartReading]:
    """Return the texts that carry their speakers as turns, the others as they are."""
    from perdure.text.mail import read_mail  # loaded with the first text; a recall needs neither
    from perdure.text.transcript import read_transcripts

    places = [place for place, reading in enumerate(readings) if reading.unspoken]
    spoken = list(readings)
    transcripts = read_transcripts([readings[place].items[0].content for place in places])
    for place, transcript in zip(places, transcripts, strict=True):
        mail = read_mail(readings[place].items[0].content)
        if mail is not None:
            spoken[place] = _as_mail(readings[place], mail)
        elif transcript is not None:
            spoken[place] = _as_turns(readings[place], transcript)
    return spoken


def _as_turns(reading: _PartReading, transcript: Transcript) -> _PartReading:
    """One item per turn; a single turn keeps the time that was given with it, in several each has its own."""
    whole = reading.items[0]
    several = len(transcript.turns) > 1
    items = tuple(
        replace(
            whole,
            content=turn.text,
            speaker=turn.speaker,
            role=turn.role,
            timestamp=(turn.said_at or whole.timestamp) if several else (whole.timestamp or turn.said_at),
            timeless=whole.timeless and turn.said_at is None,
        )
        for turn in transcript.turns
    )
    if several and whole.document_id is None:
        items = _one_document(items, _conversation_name(items))
    passed_over = [
        *((line, f"no words: {text}") for line, text in transcript.omitted),
        *((line, f"date not read, day or month first: {text}") for line, text in transcript.unread_dates),
    ]
    return replace(
        reading,
        items=items,
        is_transcript=True,
        passed_over=(
            *reading.passed_over,
            *(PassedOver(path=f"{reading.path}, line {line}", reason=reason) for line, reason in passed_over),
        ),
    )


def _as_mail(reading: _PartReading, mail: Mail) -> _PartReading:
    """Return the mail's body, said by its sender; what was given with it goes before its headers."""
    whole = reading.items[0]
    item = replace(
        whole,
        content=mail.body,
        speaker=mail.sender,
        timestamp=whole.timestamp or mail.sent_at,
        timeless=whole.timeless and mail.sent_at is None,
        title=whole.title or mail.subject,
        context=whole.context or (f"mail to {mail.to}" if mail.to else ""),
    )
    return replace(reading, items=(item,))


def _one_document(items: tuple[Item, ...], name: str) -> tuple[Item, ...]:
    return tuple(replace(item, document_id=name) for item in items)


def _conversation_name(turns: Sequence[Item]) -> str:
    """Return a document's name from its turns; a list of messages is named by its first, so that it may grow."""
    parts = [
        part
        for item in turns
        for part in (item.speaker, item.content, item.timestamp.isoformat() if item.timestamp else "")
    ]
    return digest("conversation", *parts)


def read_item(part: str | Item | Mapping[str, Any], shared: Mapping[str, Any], path: str) -> Item:
    """One item; errors name the field."""
    return _spoken(part) if isinstance(part, Item) else _read_item(part, shared, path)[0]


def _spoken(item: Item) -> Item:
    """Return the item with its role as the speaker where it names none."""
    return item if item.speaker or not item.role else replace(item, speaker=item.role)


def _read_item(
    part: str | Mapping[str, Any], shared: Mapping[str, Any], path: str
) -> tuple[Item, tuple[PassedOver, ...]]:
    """Return an item, and parts of its content that are no text."""
    if not isinstance(part, str | Mapping):
        raise InvalidInput(path, "text, an item or an object with content", part)
    own: dict[str, Any] = {"content": part} if isinstance(part, str) else dict(part)
    if own.get("content") is None:
        raise InvalidInput(path, "an object with content", part)
    merged = {**shared, **{key: value for key, value in own.items() if value is not None}}
    text, passed_over = _content_text(merged["content"], path)
    merged["content"] = strip_fenced(text)
    if "name" in merged:
        merged.setdefault("speaker", merged.pop("name"))
    if not merged.get("speaker") and merged.get("role"):
        merged["speaker"] = merged["role"]
    unknown = sorted(str(name) for name in set(merged) - _ITEM_FIELDS)
    if unknown:
        raise InvalidInput(f"{path}.{unknown[0]}", "one of " + ", ".join(sorted(_ITEM_FIELDS)))
    return Item(**merged), passed_over


def _content_text(content: object, path: str) -> tuple[str, tuple[PassedOver, ...]]:
    """Plain text, or the texts of a list of parts and the parts that are none."""
    if isinstance(content, str):
        return content, ()
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        reading = read_message({"content": content}, path)
        if reading.texts:
            return "\n".join(said.text for said in reading.texts), reading.passed_over
    raise InvalidInput(f"{path}.content" if path != "content" else path, "text", content)


def read_request(bank: str, content: Content, options: ItemOptions) -> RetainRequest:
    """Return a retain as a caller asks for it."""
    shared = {name: value for name, value in options.given().items() if name in _ITEM_FIELDS}
    mode = options.update_mode if isinstance(options, RetainOptions) else UpdateMode.REPLACE
    reading = read_content(content, shared)
    return RetainRequest(bank=bank, items=reading.items, mode=mode, passed_over=reading.passed_over)


def stamp_items(items: Sequence[Item], now: datetime) -> tuple[Item, ...]:
    """Items with their time fixed, so that a later run of the same request reads the same."""
    return tuple(
        item if item.timestamp is not None or item.timeless else replace(item, timestamp=now)
        for item in items
    )
