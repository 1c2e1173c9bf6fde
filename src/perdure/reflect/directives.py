"""Directives: rules that a bank's owner sets for every reflect, or for those within some tags."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from perdure.domain.directive import Directive
from perdure.domain.filter import TagExpression, TagLeaf, TagsMatch, read_tags
from perdure.domain.record import Record
from perdure.errors import InvalidInput, NotFound
from perdure.ports.store import Rows, Store, Transaction

DIRECTIVE = "directive"
CHANGEABLE = ("name", "content", "priority", "is_active", "tags")


def read_directive(record: Record) -> Directive:
    """A directive from its record."""
    body = {name: record.body[name] for name in CHANGEABLE}
    return Directive(
        id=record.id,
        bank=record.bank,
        created_at=record.created_at,
        updated_at=record.updated_at,
        **{**body, "tags": frozenset(body["tags"])},  # type: ignore[call-overload]
    )


def put_directive(tx: Transaction, directive: Directive) -> None:
    """Insert or replace a directive."""
    body = {name: getattr(directive, name) for name in CHANGEABLE}
    tx.put_records(
        [
            Record(
                kind=DIRECTIVE,
                id=directive.id,
                bank=directive.bank,
                body={**body, "tags": sorted(directive.tags)},
                created_at=directive.created_at,
                updated_at=directive.updated_at,
            )
        ]
    )


def every_directive(rows: Rows) -> list[Directive]:
    """All directives of a bank: highest priority first, then newest, ties by id."""
    directives = sorted(map(read_directive, rows.records(DIRECTIVE)), key=lambda one: one.id)
    directives.sort(key=lambda one: _moment(one.created_at), reverse=True)
    return sorted(directives, key=lambda one: -one.priority)


def list_directives(
    rows: Rows,
    tags: Collection[str] = (),
    tags_match: TagsMatch | str = TagsMatch.ANY,
    active_only: bool = True,
) -> list[Directive]:
    """Those within some tags, and those without tags; all of them where no tags are asked for."""
    return [
        one
        for one in every_directive(rows)
        if (one.is_active or not active_only) and (not tags or _within(one, [_leaf(tags, tags_match)]))
    ]


def active_directives(
    rows: Rows,
    tags: Collection[str] = (),
    tags_match: TagsMatch | str = TagsMatch.ANY,
    apply_all: bool = False,
) -> list[Directive]:
    """What a reflect with these tags is given: active rules without tags, and those whose tags match; or all active ones."""
    return directives_within(rows, [_leaf(tags, tags_match)] if tags else (), apply_all)


def directives_within(rows: Rows, scope: Sequence[TagExpression], apply_all: bool = False) -> list[Directive]:
    """The same by the tag conditions of a filter. Conditions that name no tags to match admit no tagged rule."""
    named = any(isinstance(expression, TagLeaf) and expression.tags for expression in scope)
    conditions = scope if named else ()
    return [one for one in every_directive(rows) if one.is_active and (apply_all or _within(one, conditions))]


def find_directive(rows: Rows, directive_id: str) -> Directive:
    """The directive of an id."""
    for record in rows.records(DIRECTIVE, [directive_id]):
        return read_directive(record)
    raise NotFound("directive", directive_id)


def create_directive(store: Store, bank: str, fields: Mapping[str, object], now: datetime) -> Directive:
    """Keep a new directive."""
    directive = Directive(id=str(uuid4()), bank=bank, created_at=now, updated_at=now, **fields)  # type: ignore[arg-type]
    with store.transaction(bank) as tx:
        put_directive(tx, directive)
    return directive


def update_directive(
    store: Store, bank: str, directive_id: str, changes: Mapping[str, object], now: datetime
) -> Directive:
    """Change some fields of a directive."""
    unknown = next((name for name in changes if name not in CHANGEABLE), None)
    if unknown is not None:
        raise InvalidInput(unknown[:80], "one of " + ", ".join(CHANGEABLE))
    with store.transaction(bank) as tx:
        changed = replace(find_directive(tx, directive_id), **changes, updated_at=now)  # type: ignore[arg-type]
        put_directive(tx, changed)
    return changed


def delete_directive(store: Store, bank: str, directive_id: str) -> None:
    """Drop a directive."""
    with store.transaction(bank) as tx:
        find_directive(tx, directive_id)
        tx.delete_records(DIRECTIVE, [directive_id])


def _leaf(tags: Collection[str], match: TagsMatch | str) -> TagExpression:
    return read_tags(tags, match)[0]


def _within(directive: Directive, scope: Sequence[TagExpression]) -> bool:
    if not directive.tags:
        return True
    return bool(scope) and all(expression.admits(directive.tags) for expression in scope)


def _moment(moment: datetime | None) -> float:
    return 0.0 if moment is None else moment.timestamp()
