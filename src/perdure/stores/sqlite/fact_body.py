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

FACT_COLUMNS = "id, text, body, recalls, recall_times"
"""What `decode_facts` takes."""


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


def decode_facts(bank: str, rows: Sequence[tuple[Any, ...]]) -> list[Fact]:
    """The facts of rows of FACT_COLUMNS, after which others may follow.

    Recall reads hundreds at once: all bodies, and all times of recalls, are parsed as one text, which takes half the
    time; and a stored fact was checked when it was written, so facts are made without checking their fields again.
    """
    if not rows:
        return []
    ids, texts, bodies, counts, times, *_ = zip(*rows, strict=True)
    parsed, _ = _scan("[" + ",".join(bodies) + "]", 0)
    columns: dict[str, Iterable[Any]] = dict(
        zip(_STORED, zip(*map(_whole, parsed), strict=True), strict=True)
    )
    for name, convert in _CONVERT.items():
        columns[name] = map(convert, columns[name])
    recalls = _recalls(times)
    return made(
        Fact,
        id=ids,
        bank=repeat(bank),
        text=texts,
        recall_count=counts,
        recall_times=recalls,
        last_recalled_at=[held[-1] if held else None for held in recalls],
        **columns,
    )


def _whole(body: list[Any]) -> tuple[Any, ...]:
    """All stored fields in their order, with the defaults of those that the body leaves out."""
    if type(body[0]) is not int:
        body.insert(0, _ALL)
    return _in_order(body[0])(body + _DEFAULTS)


@lru_cache(maxsize=4096)
def _in_order(present: int) -> Callable[[list[Any]], tuple[Any, ...]]:
    """For bodies with certain fields, after which the defaults follow: what puts the fields in their order."""
    held = [place for place in range(len(_STORED)) if present >> place & 1]
    sources = {place: 1 + len(held) + place for place in range(len(_STORED))}
    sources |= {place: at for at, place in enumerate(held, 1)}
    return itemgetter(*(sources[place] for place in range(len(_STORED))))


def _recalls(times: Sequence[str | None]) -> list[tuple[datetime, ...]]:
    if not any(times):
        return [()] * len(times)
    recalled, _ = _scan("[" + ",".join([held or "[]" for held in times]) + "]", 0)
    return [tuple(map(_INSTANTS.__getitem__, held)) for held in recalled]
