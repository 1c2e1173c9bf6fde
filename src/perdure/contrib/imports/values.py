"""Values of foreign files, read with care: texts that can be stored, times that somebody meant, the rest as metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from perdure.domain.fact import Origin
from perdure.domain.item import Item
from perdure.extending import read_moment

LONGEST_METADATA = 1_000
"""Characters of one value among the metadata; longer ones are left out."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PLACEHOLDER_YEARS = (1, 9999)
"""Years by which programs write that a time is open or unknown."""


def as_text(value: object) -> str:
    """Return the value if it is a text, without what no store takes (NUL characters, lone surrogates); else nothing."""
    if not isinstance(value, str):
        return ""
    plain = value.replace("\x00", "")
    return plain if plain.isascii() else plain.encode("utf-8", "replace").decode("utf-8")


def as_id(*parts: object) -> str:
    """Return a document's id of parts, without control characters."""
    return _CONTROLS.sub(" ", ":".join(as_text(str(part)) for part in parts)).strip()


def as_moment(value: object) -> datetime | None:
    """Return a moment as programs write it; None for what is none, or stands for an unknown one (year 1 or 9999)."""
    moment = read_moment(value)
    return None if moment is None or moment.year in _PLACEHOLDER_YEARS else moment


def as_object(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> Sequence[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def as_texts(value: object) -> list[str]:
    """Return the texts of a list, or a single text, without blank ones."""
    listed = [value] if isinstance(value, str) else as_list(value)
    return [text for one in listed if (text := as_text(one).strip())]


def as_metadata(values: Mapping[str, object], *, without: Sequence[str] = ()) -> dict[str, str]:
    """Return what has no place of its own, as texts by name: numbers, flags, short texts and small objects."""
    kept: dict[str, str] = {}
    for key, value in values.items():
        if key in without or value is None or value == "" or value == [] or value == {}:
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        if len(text) <= LONGEST_METADATA:
            kept[as_text(str(key))] = as_text(text)
    return kept


def as_tags(values: Sequence[str]) -> frozenset[str]:
    """Tags without marks and blanks."""
    return frozenset(tag for value in values if (tag := value.strip().lstrip("#").strip()))


def turn(
    content: str,
    *,
    speaker: str = "",
    role: str = "",
    said_at: datetime | None = None,
    title: str = "",
    context: str = "",
    tags: frozenset[str] = frozenset(),
    metadata: Mapping[str, str] | None = None,
    entities: Sequence[tuple[str, str]] = (),
) -> Item | None:
    """Return an item with its time, or timeless; None when it has no words."""
    text = as_text(content)
    if not text.strip():
        return None
    return Item(
        content=text,
        speaker=as_text(speaker).strip() or role,
        role=role,
        origin=None if role else Origin.IMPORT,
        timestamp=said_at,
        timeless=said_at is None,
        title=as_text(title).strip(),
        context=as_text(context).strip(),
        tags=tags,
        metadata=dict(metadata or {}),
        entities=tuple(entities),
    )
