"""Domain objects as rows and back. A column has the name of the field that it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache, partial
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import Document, Fact, FactType, Tier
from perdure.domain.record import Record
from perdure.errors import InvalidInput
from perdure.ports.embedder import Matrix, Vector

FACT = (
    "id", "text", "type", "document_id", "chunk_id", "ordinal", "source_text", "speaker", "listener",
    "asked", "context", "dates", "occurred_start", "occurred_end", "mentioned_at", "valid_from",
    "valid_to", "recorded_at", "retired_at", "end_recorded_at", "superseded_by", "invalidated_at",
    "invalid_reason", "subject", "relation", "object", "metadata", "topic", "tier", "classification",
    "trust", "credibility", "relevance", "emotion", "emotion_tags", "confidence", "expires_at",
    "language", "original_text", "flags", "proof_count",
)  # fmt: skip
"""Columns of `fact` but for recall statistics. Entities, tags and sources are rows of their own."""
RECALLS = ("recall_count", "last_recalled_at", "recall_times")
FACT_ROW = FACT + RECALLS
FEATURES = ("dedupe_key", "words", "signature", "terms", "passage", "passage_in_context")
DOCUMENT = ("id", "title", "context", "metadata", "content_hash", "characters", "created_at", "updated_at")
CHUNK = ("id", "document_id", "ordinal", "text", "content_hash")
TURN = ("start", "end", "speaker", "is_agent", "said_at")
ENTITY = ("id", "name", "type", "aliases", "mentions", "first_seen", "last_seen")
PROOF = ("document_id", "chunk_id", "seen_at")
RECORD = ("kind", "id", "body", "created_at", "updated_at")
DISPOSITION = ("skepticism", "literalism", "empathy", "bias_strength")
BANK = ("id", "name", "mission", "settings", "created_at", "updated_at")

MAX_PARAMETERS = 500
"""Values bound to one statement."""
T = TypeVar("T")
U = TypeVar("U")
Values = tuple[Any, ...]
"""The values of a row: what type each has only its column tells."""
_FLOAT16 = np.dtype("<f2")
_FACT_TYPES, _TIERS = {str(kind): kind for kind in FactType}, {str(tier): tier for tier in Tier}
_encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def batches(values: Iterable[T]) -> Iterator[tuple[T, ...]]:
    """Return the distinct values in groups that fit into one statement."""
    distinct = tuple(dict.fromkeys(values))
    for start in range(0, len(distinct), MAX_PARAMETERS):
        yield distinct[start : start + MAX_PARAMETERS]


def placeholders(values: Sequence[object]) -> str:
    """Return one question mark per value."""
    return ",".join("?" * len(values))


def names(columns: Sequence[str], table: str = "") -> str:
    """Return columns as SQL names them; quoted, since `end` is a keyword."""
    prefix = f"{table}." if table else ""
    return ", ".join(f'{prefix}"{name}"' for name in columns)


def to_json(field: str, value: object) -> str:
    """Return compact JSON; raise InvalidInput that names the field for what JSON cannot hold."""
    try:
        return _encode_json(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(field, "what JSON can hold", value) from error


def _mapping_json(field: str, value: Mapping[str, object]) -> str:
    return to_json(field, dict(value))


def strings(text: str) -> tuple[str, ...]:
    """Return a stored JSON list of strings."""
    return () if text == "[]" else tuple(json.loads(text))


def _pairs(text: str) -> tuple[tuple[str, ...], ...]:
    return () if text == "[]" else tuple(map(tuple, json.loads(text)))


def mapping(text: str) -> dict[str, Any]:
    """Return a stored JSON object."""
    return {} if text == "{}" else json.loads(text)


def moment(text: str | None) -> datetime | None:
    """Return a stored time."""
    return None if text is None else datetime.fromisoformat(text)


def to_float16(vector: Vector) -> bytes:
    """Return a vector as it is stored."""
    return np.asarray(vector, _FLOAT16).tobytes()


def from_float16(stored: Sequence[bytes]) -> Matrix:
    """Return stored vectors as a float32 matrix of shape (len(stored), dimensions)."""
    return np.frombuffer(b"".join(stored), _FLOAT16).reshape(len(stored), -1).astype(np.float32)


_TIMES = ("_at", "_start", "_end", "_seen", "valid_from", "valid_to")
"""How the names of columns end that hold times, as ISO 8601 text with the offset that they had."""
_READ: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(("metadata", "settings", "body", "terms"), mapping),
    **dict.fromkeys(("emotion_tags", "flags", "aliases", "words"), strings),
    "dates": _pairs,
    "recall_times": lambda text: tuple(map(datetime.fromisoformat, strings(text))),
    "is_agent": bool,
}
"""What makes a field's value of what is stored; other columns but times hold the value itself."""
_WRITE: dict[str, Callable[[Any], object]] = {
    **{name: partial(_mapping_json, name) for name in ("metadata", "settings", "body", "terms")},
    **{name: partial(to_json, name) for name in ("emotion_tags", "flags", "aliases", "words", "dates")},
    "recall_times": lambda times: to_json("recall_times", [time.isoformat() for time in times]),
    "type": str,
    "tier": str,
    **dict.fromkeys(("ordinal", "classification", "trust", "credibility", "start", "end", "is_agent"), int),
}
"""What is stored of a field's value: names of enumerations, numbers for truth values."""


@cache
def _converters(columns: Sequence[str], *, reading: bool) -> Sequence[tuple[int, Callable[[Any], object]]]:
    """Return (place of a column, what converts its values) of the columns whose values are converted."""
    of_time: Callable[[Any], object] = datetime.fromisoformat if reading else datetime.isoformat
    by_name = (_READ if reading else _WRITE) | {name: of_time for name in columns if name.endswith(_TIMES)}
    return [(place, by_name[name]) for place, name in enumerate(columns) if name in by_name]


def values(item: object, columns: Sequence[str]) -> Values:
    """Return the stored form of an object in these columns."""
    stored = [getattr(item, name) for name in columns]
    for place, write in _converters(columns, reading=False):
        if stored[place] is not None:
            stored[place] = write(stored[place])
    return tuple(stored)


def fields(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """Return the fields that these columns hold; the opposite of `values`, but for enumerations."""
    read = list(row)
    for place, convert in _converters(columns, reading=True):
        if read[place] is not None:
            read[place] = convert(read[place])
    return dict(zip(columns, read, strict=True))


def mentions(fact: Fact) -> list[tuple[int, str | None, str | None]]:
    """Return (ordinal, entity id, name) of what a fact mentions; old facts may have names without ids."""
    pairs = zip_longest(fact.entity_ids, fact.entities)
    return [(ordinal, entity_id, name) for ordinal, (entity_id, name) in enumerate(pairs)]


def read_facts(
    bank: str,
    rows: Mapping[int, Values],
    mentioned: Mapping[object, Sequence[Values]],
    tags: Mapping[object, Sequence[Values]],
    sources: Mapping[object, Sequence[Values]],
) -> dict[int, Fact]:
    """Return number -> fact from its rows, mentions, tags and sources."""
    if not rows:
        return {}
    # A recall reads a hundred facts and more: whole columns are converted at once, JSON as one text.
    by_field: dict[str, Iterable[Any]] = {}
    for name, column in zip(FACT_ROW, zip(*rows.values(), strict=True), strict=True):
        if name.endswith(_TIMES):
            by_field[name] = map(shared_moment, column)
        elif name in _FACT_JSON:
            by_field[name] = map(_FACT_JSON[name], json.loads(f"[{','.join(column)}]"))
        else:
            by_field[name] = column
    by_field["type"] = map(_FACT_TYPES.__getitem__, by_field["type"])
    by_field["tier"] = map(_TIERS.__getitem__, by_field["tier"])
    by_field["entities"] = _listed(rows, mentioned, 2)
    by_field["entity_ids"] = _listed(rows, mentioned, 1)
    by_field["tags"] = map(frozenset, _listed(rows, tags, 0))
    by_field["source_fact_ids"] = _listed(rows, sources, 1)
    names = tuple(by_field)
    return {
        no: Fact(bank=bank, **dict(zip(names, values, strict=True)))
        for no, values in zip(rows, zip(*by_field.values(), strict=True), strict=True)
    }


def _listed(
    numbers: Iterable[int], rows: Mapping[object, Sequence[Values]], place: int
) -> list[tuple[Any, ...]]:
    """Return for each fact the values at one place of its rows, where there are any."""
    return [
        tuple([row[place] for row in rows[no] if row[place] is not None]) if no in rows else ()
        for no in numbers
    ]


_FACT_JSON: dict[str, Callable[[Any], object]] = {
    "metadata": dict,
    "emotion_tags": tuple,
    "flags": tuple,
    "dates": lambda pairs: tuple(map(tuple, pairs)),
    "recall_times": lambda times: tuple(map(datetime.fromisoformat, times)),
}
shared_moment = lru_cache(maxsize=4096)(moment)
"""Facts of one text share their times."""


def read_bank(row: Values) -> Bank:
    """Return the bank of a row of BANK, DISPOSITION, model and dimensions."""
    *bank, skepticism, literalism, empathy, bias_strength, model, dimensions = row
    return Bank(
        **fields(BANK, bank),
        disposition=Disposition(skepticism, literalism, empathy, bias_strength),
        model=None if model is None else EmbeddingModel(model, dimensions),
    )


def bank_row(bank: Bank) -> dict[str, object]:
    """Return the columns of BANK and DISPOSITION."""
    stored = values(bank, BANK) + values(bank.disposition, DISPOSITION)
    return dict(zip(BANK + DISPOSITION, stored, strict=True))


def creation_order(item: Document | Record) -> datetime:
    """Return the time to sort by: text of times with different offsets does not sort."""
    assert item.created_at is not None
    return item.created_at


def oldest_first(records: Iterable[Record]) -> list[Record]:
    """Return records by their time of creation, ties by id."""
    return sorted(sorted(records, key=lambda record: record.id), key=creation_order)
