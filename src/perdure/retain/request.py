"""What may be given to retain: text, messages, or items; read in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from math import isfinite
from typing import Any

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Tier
from perdure.domain.item import Item, UpdateMode, check_text
from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput
from perdure.retain.identity import digest
from perdure.text.fence import strip_fenced

Content = str | Item | Mapping[str, Any] | Sequence["str | Item | Mapping[str, Any]"]
TIMELESS = "unset"
_ITEM_FIELDS = frozenset(f.name for f in fields(Item))
_TIMES = ("timestamp", "expires_at", "valid_from", "valid_to")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainRequest:
    """One retain, validated."""

    bank: str
    items: tuple[Item, ...]
    mode: UpdateMode = UpdateMode.REPLACE
    idempotency_key: str = ""

    def __post_init__(self) -> None:
        check_bank_id(self.bank)
        if not self.items:
            raise InvalidInput("content", "at least one item", self.items)


def read_items(content: Content, defaults: Mapping[str, Any]) -> tuple[Item, ...]:
    """Items from a text, an item, a mapping, or a sequence of these; `defaults` fill what they leave open.

    A list of chat messages ({"role": ..., "content": ...}) is one conversation: its turns share a
    document, named by its first message unless document_id says otherwise.
    """
    shared = {key: value for key, value in defaults.items() if value is not None}
    if isinstance(content, str | Item | Mapping):
        return (read_item(content, shared, "content"),)
    if not isinstance(content, Sequence):
        raise InvalidInput("content", "text, messages or items", content)
    items = tuple(read_item(part, shared, f"content[{i}]") for i, part in enumerate(content))
    if len(items) > 1 and all(_is_message(part) for part in content) and "document_id" not in shared:
        return _one_conversation(items)
    return items


def _is_message(part: object) -> bool:
    return isinstance(part, Mapping) and "role" in part and "document_id" not in part


def _one_conversation(items: tuple[Item, ...]) -> tuple[Item, ...]:
    first = items[0]
    stamp = first.timestamp.isoformat() if first.timestamp else ""
    name = digest("conversation", first.speaker, first.content, stamp)
    return tuple(replace(item, document_id=name) for item in items)


def read_item(part: str | Item | Mapping[str, Any], shared: Mapping[str, Any], path: str) -> Item:
    """One item; errors name the field."""
    if isinstance(part, Item):
        return _checked(part)
    if not isinstance(part, str | Mapping):
        raise InvalidInput(path, "text, an item or an object with content", part)
    own: dict[str, Any] = {"content": part} if isinstance(part, str) else dict(part)
    if own.get("content") is None:
        raise InvalidInput(path, "an object with content", part)
    merged = {**shared, **{key: value for key, value in own.items() if value is not None}}
    merged["content"] = strip_fenced(_content_text(merged["content"], path))
    if "name" in merged:
        merged.setdefault("speaker", merged.pop("name"))
    if not merged.get("speaker") and merged.get("role"):
        merged["speaker"] = merged["role"]
    unknown = sorted(str(name) for name in set(merged) - _ITEM_FIELDS)
    if unknown:
        raise InvalidInput(f"{path}.{unknown[0]}", "one of " + ", ".join(sorted(_ITEM_FIELDS)))
    return _checked(Item(**_typed(merged)))


def _checked(item: Item) -> Item:
    """The item itself if all of it can be stored; what the item's own checks leave open is checked here."""
    for name in ("role", "topic"):
        if getattr(item, name) is not None:
            check_text(name, getattr(item, name))
    for name, values in (
        ("metadata", (*item.metadata.keys(), *item.metadata.values())),
        ("entities", (part for pair in item.entities for part in pair)),
    ):
        for value in values:
            check_text(name, value)
    if not isinstance(item.timeless, bool):
        raise InvalidInput("timeless", "true or false", item.timeless)
    relevance: object = item.relevance
    if isinstance(relevance, bool) or not isinstance(relevance, int | float) or not isfinite(relevance):
        raise InvalidInput("relevance", "a finite number", relevance)
    return item


def _content_text(content: object, path: str) -> str:
    """Plain text, or the text parts of a message's content list."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        texts = [p["text"] for p in content if isinstance(p, Mapping) and isinstance(p.get("text"), str)]
        if texts:
            return "\n".join(texts)
    raise InvalidInput(f"{path}.content" if path != "content" else path, "text", content)


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    if isinstance(given.get("timestamp"), str) and given["timestamp"] == TIMELESS:
        given.pop("timestamp")
        given["timeless"] = True
    for name in _TIMES:
        if name in given:
            if not isinstance(given[name], str | datetime):
                raise InvalidInput(name, "an ISO 8601 date or datetime", given[name])
            given[name] = parse_instant(given[name], name)
    if "tags" in given:
        given["tags"] = frozenset(_strings(given["tags"], "tags"))
    if "metadata" in given:
        given["metadata"] = _metadata(given["metadata"])
    if "entities" in given:
        given["entities"] = tuple(_entity(entity) for entity in _listed(given["entities"], "entities"))
    if "tier" in given:
        given["tier"] = _tier(given["tier"])
    return given


def _strings(values: object, name: str) -> Sequence[str]:
    if isinstance(values, str) or not isinstance(values, Sequence | frozenset | set):
        raise InvalidInput(name, "a list of strings", values)
    for value in values:
        if not isinstance(value, str):
            raise InvalidInput(name, "a list of strings", value)
    return list(values)


def _listed(values: object, name: str) -> Sequence[object]:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise InvalidInput(name, "a list", values)
    return values


def _metadata(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise InvalidInput("metadata", "an object of strings", given)
    return {str(key): value if isinstance(value, str) else str(value) for key, value in given.items()}


def _entity(given: object) -> tuple[str, str]:
    if isinstance(given, str):
        return (given, "concept")
    if isinstance(given, Mapping) and isinstance(given.get("text"), str):
        return (given["text"], str(given.get("type") or "concept").lower())
    if isinstance(given, tuple) and len(given) == 2:
        return (str(given[0]), str(given[1]))
    raise InvalidInput("entities", "names or objects with text and type", given)


def _tier(given: object) -> Tier:
    try:
        return Tier(str(given))
    except ValueError as error:
        raise InvalidInput("tier", "core or general", given) from error


def read_mode(mode: str | UpdateMode) -> UpdateMode:
    """The update mode by name."""
    try:
        return UpdateMode(mode)
    except ValueError as error:
        raise InvalidInput("update_mode", "replace or append", mode) from error


def read_request(
    bank: str, content: Content, update_mode: str | UpdateMode, fields: Mapping[str, Any]
) -> RetainRequest:
    """A retain as a caller asks for it; `fields` are those of an item that hold for all."""
    return RetainRequest(bank=bank, items=read_items(content, fields), mode=read_mode(update_mode))


def stamp_items(items: Sequence[Item], now: datetime) -> tuple[Item, ...]:
    """Items with their time fixed, so that a later run of the same request reads the same."""
    return tuple(
        item if item.timestamp is not None or item.timeless else replace(item, timestamp=now)
        for item in items
    )
