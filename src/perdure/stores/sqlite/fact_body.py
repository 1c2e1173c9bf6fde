"""The fields of a fact that are stored together, as JSON: those that are not as usual, after a number that tells which.

Most fields of most facts have their default. Schemas 1 and 2 stored all of them, without a number; such bodies are read too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any

from perdure.domain.fact import Fact, FactType, Tier
from perdure.domain.revise import made
from perdure.errors import StoreCorrupt
from perdure.stores.sqlite.codec import compact, instant, iso

_OTHERS = ("id", "bank", "text", "recall_count", "last_recalled_at", "recall_times")
_DATES = (
    "occurred_start", "occurred_end", "mentioned_at", "valid_from", "valid_to",
    "recorded_at", "retired_at", "expires_at",
)  # fmt: skip
_TUPLES = ("entities", "entity_ids", "emotion_tags", "flags", "source_fact_ids")
_CONVERTED = (*_DATES, *_TUPLES, "tags", "type", "tier")
_PLAIN = tuple(field.name for field in fields(Fact) if field.name not in (*_OTHERS, *_CONVERTED))
_STORED = (*_CONVERTED, *_PLAIN)
"""The fields of a body in their order there."""
_DEFAULTS = [
    field.default if field.default is not MISSING else None
    for name in _STORED
    for field in fields(Fact)
    if field.name == name
]
_USUAL = (
    "occurred_start", "occurred_end", "mentioned_at", "valid_from", "recorded_at", "entities", "entity_ids", "emotion_tags",
    "tags", "type", "document_id", "chunk_id", "ordinal", "source_text", "speaker", "metadata", "topic", "emotion",
)  # fmt: skip
"""What many facts have. They are read in columns; the others, which few facts have, one by one."""
_USUAL_PLACES = [_STORED.index(name) for name in _USUAL]
_USUAL_DEFAULTS = [_DEFAULTS[place] for place in _USUAL_PLACES]
_RARE = sum(1 << place for place, name in enumerate(_STORED) if name not in _USUAL)
_MUTABLE = 1 << _STORED.index("metadata")
"""Never left out, since facts must not share it."""
_ALL = (1 << len(_STORED)) - 1
_get_stored = attrgetter(*_STORED)
_scan: Callable[[str, int], tuple[list[Any], int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_REMEMBERED = 8192


class _Instants(dict[Any, Any]):
    """Times as they are stored -> what they are; the last ones read are kept, since facts of one text share them."""

    def __missing__(self, stored: str | None) -> datetime | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        read = self[stored] = instant(stored)
        return read


_INSTANTS = _Instants()
_CONVERT: dict[str, Callable[[Any], Any]] = (
    dict.fromkeys(_DATES, _INSTANTS.__getitem__)
    | dict.fromkeys(_TUPLES, tuple)
    | {
        "tags": frozenset,
        "type": {str(kind): kind for kind in FactType}.__getitem__,
        "tier": {str(tier): tier for tier in Tier}.__getitem__,
    }
)
"""What makes a field's value of what is stored; a default stays as it is."""
_USUAL_CONVERTED = [name for name in _USUAL if name in _CONVERT]

FACT_COLUMNS = (
    "group_concat(no), json_group_array(id), group_concat(text, char(0)), group_concat(body),"
    " group_concat(iif(recalls, no, NULL)), group_concat(nullif(recalls, 0)),"
    " group_concat(iif(recalls, coalesce(recall_times, '[]'), NULL))"
)
"""What `decode_facts` takes: all facts in one row, which SQLite joins faster than Python takes hundreds of rows."""


def encode_fact(fact: Fact) -> str:
    """All fields but id, bank, text and recall statistics."""
    held, present = [], _MUTABLE
    for place, (value, usual) in enumerate(zip(_get_stored(fact), _DEFAULTS, strict=True)):
        if present >> place & 1 or value != usual:
            present |= 1 << place
            held.append(value)
    return compact([present, *map(_plain, held)])


def _plain(value: Any) -> Any:
    """The value as JSON can hold it."""
    if isinstance(value, datetime):
        return iso(value)
    return sorted(value) if isinstance(value, frozenset) else value


def decode_facts(bank: str, row: Sequence[Any]) -> dict[int, Fact]:
    """Number -> fact, of a row of FACT_COLUMNS.

    Recall reads hundreds at once: all bodies are parsed as one text, which takes half the time; and a stored fact was
    checked when it was written (so no text holds the character that parts them): its fields are not checked again.
    """
    if row[0] is None:
        return {}
    numbers, ids, texts, parsed = _parsed(row[0]), json.loads(row[1]), row[2].split("\0"), _parsed(row[3])
    if len(texts) != len(numbers):
        raise StoreCorrupt(
            f"texts of facts of bank {bank!r} cannot be told apart; restore the file from a copy"
        )
    columns: dict[str, Iterable[Any]] = dict(zip(_USUAL, zip(*_usual(parsed), strict=True), strict=True))
    for name in _USUAL_CONVERTED:
        columns[name] = map(_CONVERT[name], columns[name])
    if row[4] is not None:
        columns |= _recalls(numbers, *map(_parsed, row[4:]))
    facts = made(Fact, id=ids, bank=repeat(bank), text=texts, **columns)
    for fact, body in zip(facts, parsed, strict=True):
        if body[0] & _RARE:
            _add_rare(fact, body)
    return dict(zip(numbers, facts, strict=True))


def _recalls(
    numbers: Sequence[int], recalled: Sequence[int], counts: Sequence[int], times: Sequence[Sequence[str]]
) -> dict[str, Iterable[Any]]:
    """The fields of recalls of all facts, of those of the recalled ones."""
    moments = [tuple(map(_INSTANTS.__getitem__, held)) for held in times]
    if len(recalled) < len(numbers):
        held = dict(zip(recalled, zip(counts, moments, strict=True), strict=True))
        counts, moments = zip(*[held.get(no, (0, ())) for no in numbers], strict=True)
    lasts = [held[-1] if held else None for held in moments]
    return {"recall_count": counts, "recall_times": moments, "last_recalled_at": lasts}


def _parsed(values: str) -> list[Any]:
    """JSON values with commas between them."""
    held, _ = _scan("[" + values + "]", 0)
    return held


def _usual(bodies: list[list[Any]]) -> list[tuple[Any, ...]]:
    """The usual fields in their order, with the defaults of those that a body leaves out."""
    for body in bodies:
        if type(body[0]) is not int:
            body.insert(0, _ALL)
    return [_IN_ORDER[body[0]](body + _USUAL_DEFAULTS) for body in bodies]


class _InOrder(dict[int, Callable[[list[Any]], tuple[Any, ...]]]):
    """For bodies with certain fields, after which the usual defaults follow: what takes the usual fields."""

    def __missing__(self, present: int) -> Callable[[list[Any]], tuple[Any, ...]]:
        if len(self) >= _REMEMBERED:
            self.clear()
        held = {place: at for at, place in enumerate(_held(present), 1)}
        sources = [held.get(place, 1 + len(held) + at) for at, place in enumerate(_USUAL_PLACES)]
        taken = self[present] = itemgetter(*sources)
        return taken


_IN_ORDER = _InOrder()


def _held(present: int) -> list[int]:
    """Places of the fields that a body holds, by its number."""
    return [place for place in range(len(_STORED)) if present >> place & 1]


def _add_rare(fact: Fact, body: list[Any]) -> None:
    """Set the fields that are not usual."""
    for name, at in _rare(body[0]):
        value, convert = body[at], _CONVERT.get(name)
        # The fact is frozen, and nobody has seen it yet.
        object.__setattr__(fact, name, convert(value) if convert else value)


@lru_cache(maxsize=4096)
def _rare(present: int) -> Sequence[tuple[str, int]]:
    """Names and places of the fields that are not usual, in bodies with certain fields."""
    return [(_STORED[place], at) for at, place in enumerate(_held(present), 1) if _RARE >> place & 1]
