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
from operator import attrgetter
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
    time; those with the same fields are made together; and a stored fact was checked when it was written, so facts
    are made without checking their fields again.
    """
    if not rows:
        return []
    ids, texts, bodies, counts, times, *_ = zip(*rows, strict=True)
    parsed, _ = _scan("[" + ",".join(bodies) + "]", 0)
    alike: dict[int, list[int]] = {}
    for place, body in enumerate(parsed):
        if type(body[0]) is not int:
            body.insert(0, _ALL)
        alike.setdefault(body[0], []).append(place)
    recalls = _recalls(times)
    decoded: list[Any] = [None] * len(rows)
    for present, places in alike.items():
        _, *values = zip(*[parsed[place] for place in places], strict=True)
        columns: dict[str, Iterable[Any]] = dict(zip(_held(present), values, strict=True))
        for name in columns.keys() & _CONVERT.keys():
            columns[name] = map(_CONVERT[name], columns[name])
        if recalls is not None:
            columns["recall_times"] = [recalls[place] for place in places]
            columns["last_recalled_at"] = [held[-1] if held else None for held in columns["recall_times"]]
        facts = made(
            Fact,
            id=[ids[place] for place in places],
            bank=repeat(bank),
            text=[texts[place] for place in places],
            recall_count=[counts[place] for place in places],
            **columns,
        )
        for place, fact in zip(places, facts, strict=True):
            decoded[place] = fact
    return decoded


@lru_cache(maxsize=4096)
def _held(present: int) -> Sequence[str]:
    """The fields that a body holds, by its number."""
    return [name for place, name in enumerate(_STORED) if present >> place & 1]


def _recalls(times: Sequence[str | None]) -> list[tuple[datetime, ...]] | None:
    """When facts were recalled, None when none was."""
    if not any(times):
        return None
    recalled, _ = _scan("[" + ",".join([held or "[]" for held in times]) + "]", 0)
    return [tuple(map(_INSTANTS.__getitem__, held)) for held in recalled]
