"""Items of a retain request as the engine takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from perdure.errors import InvalidInput
from perdure.retain.request import read_item
from perdure.surfaces.rest.present import instant
from perdure.surfaces.rest.schemas.retain import MemoryItem

_TIMES = ("timestamp", "expires_at", "valid_from", "valid_to")
_SAME_NAME = (
    "context", "metadata", "document_id", "speaker", "role", "title", "topic", "tier", "classification", "trust",
    "credibility",
)  # fmt: skip
TIMELESS = "unset"


def item_fields(item: MemoryItem, index: int, more_tags: Iterable[str]) -> dict[str, Any]:
    """The fields that were given, under the engine's names."""
    fields = {name: value for name in _SAME_NAME if (value := getattr(item, name)) is not None}
    content = item.content
    fields["content"] = content if isinstance(content, str) else "\n".join(block.text for block in content)
    for name in _TIMES:
        value = getattr(item, name)
        if value is not None:
            fields[name] = TIMELESS if value == TIMELESS else instant(value, f"items[{index}].{name}")
    tags = {*(item.tags or ()), *more_tags}
    if tags:
        fields["tags"] = sorted(tags)
    if item.entities:
        fields["entities"] = [{"text": entity.text, "type": entity.type} for entity in item.entities]
    _check(fields, index)
    return fields


def _check(fields: dict[str, Any], index: int) -> None:
    """Raise by the item's place what retain would refuse, before any other item is stored."""
    try:
        read_item(fields, {}, f"items[{index}]")
    except InvalidInput as error:
        raise InvalidInput(f"items[{index}].{error.field}", error.expected) from error


def split_by_mode(
    items: Sequence[MemoryItem], document_tags: Sequence[str] | None
) -> list[tuple[str, list[dict[str, Any]]]]:
    """The items that replace and those that append, in that order; each group is one transaction."""
    groups: dict[str, list[dict[str, Any]]] = {"replace": [], "append": []}
    for index, item in enumerate(items):
        groups[item.update_mode or "replace"].append(item_fields(item, index, document_tags or ()))
    return [(mode, group) for mode, group in groups.items() if group]


def warnings_of(items: Sequence[MemoryItem]) -> list[str]:
    """What was asked for and has no effect here."""
    found = []
    if any(item.observation_scopes is not None for item in items):
        found.append("observation_scopes has no effect: consolidation is not built yet")
    if any(item.strategy is not None for item in items):
        found.append("strategy has no effect: there is one way of extraction")
    if any(item.entities and not item.resolve_entities for item in items):
        found.append("resolve_entities=false has no effect: given names are always resolved")
    return found
