"""Filters and selections as conditions on `large_fact AS f`; they agree with `perdure.stores.index.masks`."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from perdure.domain.fact import FOREIGN, Origin
from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagsMatch
from perdure.domain.time import Window
from perdure.ports.store import Order, Selection
from perdure.stores.index.packing import (
    NEVER,
    TIER_CODES,
    TYPE_CODES,
    digest,
    micros,
    name_hash,
    origin_hash,
    pair_hash,
)

DATED = (Order.LATEST_DATED, Order.EARLIEST_DATED)
_NAMES = ("subject", "relation", "speaker")


class Condition(NamedTuple):
    """A condition in SQL and the values of its question marks."""

    sql: str
    values: tuple[object, ...] = ()


def signed(hashed: int) -> int:
    """Return a 64-bit hash as BIGINT holds it."""
    return hashed - 2**64 if hashed >= 2**63 else hashed


def every(conditions: list[Condition]) -> Condition:
    """Join conditions that must all hold."""
    return Condition(
        " AND ".join(f"({one.sql})" for one in conditions) or "true",
        tuple(value for one in conditions for value in one.values),
    )


def admitted(where: Filter) -> Condition:
    """Translate a filter."""
    conditions: list[Condition] = []
    if not where.include_closed:
        conditions.append(_current(where))
    if not where.include_expired:
        conditions.append(Condition("f.expires > ?", (micros(where.judged_at),)))
    if not where.questions:
        conditions.append(Condition("f.question = 0"))
    if not where.foreign:
        conditions.append(Condition("NOT f.pairs && ?::int8[]", (_origins(FOREIGN),)))
    if where.origins is not None:
        conditions.append(Condition("f.pairs && ?::int8[]", (_origins(where.origins),)))
    if where.types is not None:
        conditions.append(Condition("f.type = ANY(?::int8[])", ([TYPE_CODES[kind] for kind in where.types],)))
    conditions += [_tags(expression) for expression in where.tags]
    if where.metadata:
        hashes = [signed(pair_hash(key, value)) for key, value in where.metadata.items()]
        conditions.append(Condition("f.pairs @> ?::int8[]", (hashes,)))
    if where.topic is not None:
        conditions.append(Condition("f.topic = ?", (signed(digest(where.topic)),)))
    if where.tier is not None:
        conditions.append(Condition("f.tier = ?", (TIER_CODES[where.tier],)))
    if where.max_classification is not None:
        conditions.append(Condition("f.classification <= ?", (where.max_classification,)))
    if where.document_ids is not None:
        hashes = [signed(digest(document_id)) for document_id in where.document_ids]
        conditions.append(Condition("f.document = ANY(?::int8[])", (hashes,)))
    if where.during is not None:
        said, happened = dated_in(where.during), happened_during(where.during)
        case = f"CASE WHEN f.unsure = 1 THEN {said.sql} ELSE {happened.sql} END"
        conditions.append(Condition(case, said.values + happened.values))
    return every(conditions)


def _origins(origins: Collection[Origin]) -> list[int]:
    return sorted(signed(origin_hash(origin)) for origin in origins)


def selected(selection: Selection) -> Condition:
    """Translate the selection of a listing, but for its text."""
    conditions = [admitted(selection.where)]
    for name in _NAMES:
        value = getattr(selection, name)
        if value is not None:
            conditions.append(Condition(f"f.{name} = ?", (signed(name_hash(value)),)))
    if selection.entity_id is not None:
        member = (
            "EXISTS (SELECT 1 FROM large_member m WHERE m.bank = f.bank AND m.fact = f.no AND m.entity = ?)"
        )
        conditions.append(Condition(member, (signed(digest(selection.entity_id)),)))
    if selection.dated is not None or selection.order in DATED:
        conditions.append(dated_in(selection.dated or Window()))
    return every(conditions)


def happened_during(window: Window) -> Condition:
    """Test that a fact happened (undated: was said) in the window, by a guess where the date is unsure."""
    return _overlap("f.first", "f.last", window)


def dated_in(window: Window) -> Condition:
    """Test that a fact has its one date in the window."""
    return _overlap("f.dated", "f.dated", window)


def _overlap(first: str, last: str, window: Window) -> Condition:
    conditions = [Condition(f"{first} < ?", (NEVER if window.end is None else micros(window.end),))]
    if window.start is not None:
        conditions.append(Condition(f"{last} >= ?", (micros(window.start),)))
    return every(conditions)


def _current(where: Filter) -> Condition:
    """Translate `perdure.domain.filter.is_current`."""
    if where.as_of.valid is None:
        valid_at = Condition("greatest(f.recorded, ?)", (micros(where.judged_at),))
    else:
        valid_at = Condition("?::int8", (micros(where.as_of.valid),))
    known_at = NEVER - 1 if where.as_of.known is None else micros(where.as_of.known)
    believed = Condition(
        f"f.recorded <= ? AND f.valid_from <= {valid_at.sql} AND f.retired > ?",
        (known_at, *valid_at.values, known_at),
    )
    if where.include_ended:
        return believed
    # An end that no other fact made known was stated with the fact itself.
    ended = Condition(
        f"f.valid_to <= {valid_at.sql} AND (f.end_recorded <= ? OR f.end_recorded = ?)",
        (*valid_at.values, known_at, NEVER),
    )
    return Condition(f"{believed.sql} AND NOT ({ended.sql})", believed.values + ended.values)


def _tags(expression: TagExpression) -> Condition:
    if isinstance(expression, TagLeaf):
        return _leaf(expression)
    if isinstance(expression, TagNot):
        inner = _tags(expression.part)
        return Condition(f"NOT ({inner.sql})", inner.values)
    parts = [_tags(part) for part in expression.parts]
    values = tuple(value for part in parts for value in part.values)
    if isinstance(expression, TagAnd):
        return Condition(" AND ".join(f"({part.sql})" for part in parts) or "true", values)
    return Condition(" OR ".join(f"({part.sql})" for part in parts) or "false", values)


def _leaf(leaf: TagLeaf) -> Condition:
    """Translate `TagLeaf.admits`."""
    tags = sorted(leaf.tags)
    if leaf.match is TagsMatch.EXACT:
        return Condition("f.tags @> ?::text[] AND f.tags <@ ?::text[]", (tags, tags))
    if not tags:
        return Condition("true")
    operator = "&&" if leaf.match in (TagsMatch.ANY, TagsMatch.ANY_STRICT) else "@>"
    condition = f"f.tags {operator} ?::text[]"
    if leaf.match in (TagsMatch.ANY, TagsMatch.ALL):
        condition = f"f.tags = array[]::text[] OR {condition}"
    return Condition(condition, (tags,))
