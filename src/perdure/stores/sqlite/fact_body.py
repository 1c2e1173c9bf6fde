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
_from_iso = datetime.fromisoformat
_Convert = Callable[[Any], Any]
_CONVERT: dict[str, _Convert] = (
    dict.fromkeys(_DATES, _from_iso)
    | dict.fromkeys(_TUPLES, tuple)
    | {
        "tags": frozenset,
        "type": {str(kind): kind for kind in FactType}.__getitem__,
        "tier": {str(tier): tier for tier in Tier}.__getitem__,
    }
)

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
    recalls = _recalls(times)
    others = {"id": ids, "text": texts, "recall_count": counts, "recall_times": recalls}
    alike: dict[int, list[int]] = {}
    for place, body in enumerate(parsed):
        if type(body[0]) is not int:
            body.insert(0, _ALL)
        alike.setdefault(body[0], []).append(place)
    facts: list[Fact] = [None] * len(rows)  # type: ignore[list-item]
    for present, places in alike.items():
        columns = _columns(present, [parsed[place] for place in places])
        columns |= {name: [column[place] for place in places] for name, column in others.items()}
        last = [times[-1] if times else None for times in columns["recall_times"]]
        for place, fact in zip(
            places, made(Fact, bank=repeat(bank), last_recalled_at=last, **columns), strict=True
        ):
            facts[place] = fact
    return facts


def _recalls(times: Sequence[str | None]) -> list[tuple[datetime, ...]]:
    if not any(times):
        return [()] * len(times)
    recalled, _ = _scan("[" + ",".join([held or "[]" for held in times]) + "]", 0)
    return [tuple(map(_from_iso, held)) for held in recalled]


def _columns(present: int, bodies: Sequence[list[Any]]) -> dict[str, Iterable[Any]]:
    """The fields that bodies of one form hold."""
    converters = _CONVERT | dict.fromkeys(_DATES, instant) if present == _ALL else _CONVERT
    names = _names(present)
    _, *columns = zip(*bodies, strict=True)
    return {
        name: map(converters[name], column) if name in converters else column
        for name, column in zip(names, columns, strict=True)
    }


@lru_cache(maxsize=4096)
def _names(present: int) -> tuple[str, ...]:
    """The fields of a body, of which a number tells which it has."""
    return tuple(name for place, name in enumerate(_STORED) if present >> place & 1)
