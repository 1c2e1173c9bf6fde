"""The fields of a fact that are stored together, as JSON: those that are not as usual, after a number that tells which.

Most fields of most facts have their default. Schemas 1 and 2 stored all of them, without a number; such bodies are read too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, make_dataclass
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any, cast

from perdure.domain.fact import Fact, FactType, Tier
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
_Draft = make_dataclass("_Draft", (*_STORED, *_OTHERS), slots=True)
"""Has the slots of a Fact and can be written: a frozen object's fields cost ten times as much to set."""
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
    time; and a stored fact was checked when it was written, so its fields are set without checking them again.
    """
    if not rows:
        return []
    ids, texts, bodies, counts, times, *_ = zip(*rows, strict=True)
    parsed, _ = _scan("[" + ",".join(bodies) + "]", 0)
    recalled, _ = _scan("[" + ",".join([held or "[]" for held in times]) + "]", 0)
    return list(map(_decoded, repeat(bank), ids, texts, parsed, counts, recalled))


def _decoded(bank: str, ident: str, text: str, body: list[Any], count: int, times: list[str]) -> Fact:
    if type(body[0]) is not int:
        body.insert(0, _ALL)
    convert, in_order = _form(body[0])
    for place, converted in convert:
        body[place] = converted(body[place])
    recalls = tuple(map(_from_iso, times))
    last = recalls[-1] if recalls else None
    draft = _Draft(*in_order(body + _DEFAULTS), ident, bank, text, count, last, recalls)
    draft.__class__ = Fact
    return cast(Fact, draft)


@lru_cache(maxsize=4096)
def _form(present: int) -> tuple[list[tuple[int, _Convert]], Callable[[list[Any]], tuple[Any, ...]]]:
    """For bodies with certain fields: what to convert where, and the order of fields when the defaults follow."""
    held = [place for place in range(len(_STORED)) if present >> place & 1]
    converters = _CONVERT | dict.fromkeys(_DATES, instant) if present == _ALL else _CONVERT
    convert = [
        (at, converters[_STORED[place]]) for at, place in enumerate(held, 1) if _STORED[place] in converters
    ]
    size = 1 + len(held)
    sources = {place: size + place for place in range(len(_STORED))}
    sources |= {place: at for at, place in enumerate(held, 1)}
    return convert, itemgetter(*(sources[place] for place in range(len(_STORED))))
