"""Directives: rules that a bank's owner sets for every reflect, or for those within some tags."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack
from uuid import uuid4

from perdure.arguments import DirectiveArguments, DirectiveChangeArguments
from perdure.domain.bank import check_bank_id
from perdure.domain.directive import Directive, DirectiveChanges, DirectiveOptions
from perdure.domain.filter import TagExpression, TagLeaf, TagsMatch, read_tags
from perdure.domain.plain import from_record, readable, to_plain, to_record
from perdure.domain.record import Record
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import NotFound
from perdure.ports.clock import Clock
from perdure.ports.store import Rows, Store, Transaction

DIRECTIVE = "directive"
HISTORY = "directive_history"
MAX_HISTORY = 50
"""Earlier versions of a directive that are kept."""


class Directives:
    """The directives of a memory: `memory.directives`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    @verb(READ)
    def get(self, bank: str, directive_id: str) -> Directive:
        """Return a directive."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return find_directive(reading, directive_id)

    @verb(READ)
    def history(self, bank: str, directive_id: str) -> list[Directive]:
        """Return what a directive said before its changes, newest first; `updated_at` is when each version came into force."""
        with self._store.reading(check_bank_id(bank)) as reading:
            find_directive(reading, directive_id)
            records = reading.records(HISTORY, [directive_id])
        return [version for record in records for version in read_earlier(record)]

    @verb(WRITE)
    def create(
        self,
        bank: str,
        name: str,
        content: str,
        **options: Unpack[DirectiveArguments],
    ) -> Directive:
        """Create a rule for every reflect in this bank; with tags, for those that match them."""
        now = self._clock()
        directive = Directive(
            id=str(uuid4()), bank=check_bank_id(bank), name=name, content=content, created_at=now,
            updated_at=now, **DirectiveOptions.read(options).given(),
        )  # fmt: skip
        with self._store.transaction(bank) as tx:
            put_directive(tx, directive)
        return directive

    @verb(WRITE)
    def update(self, bank: str, directive_id: str, **changes: Unpack[DirectiveChangeArguments]) -> Directive:
        """Change fields of a directive; its history keeps what it said before."""
        fields = DirectiveChanges.read_changes(changes)
        with self._store.transaction(check_bank_id(bank)) as tx:
            directive = find_directive(tx, directive_id)
            changed = replace(directive, **fields, updated_at=self._clock())
            if replace(changed, updated_at=directive.updated_at) != directive:
                _keep_version(tx, directive)
            put_directive(tx, changed)
        return changed

    @verb(WRITE)
    def delete(self, bank: str, directive_id: str) -> None:
        """Delete a directive and its history."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            find_directive(tx, directive_id)
            tx.delete_records(DIRECTIVE, [directive_id])
            tx.delete_records(HISTORY, [directive_id])

    @verb(READ)
    def list(
        self,
        bank: str,
        *,
        tags: Sequence[str] = (),
        tags_match: TagsMatch | str = TagsMatch.ANY,
        active_only: bool = True,
    ) -> list[Directive]:
        """Return the bank's directives, highest priority first, then newest; with tags those that match them or have none."""
        with self._store.reading(check_bank_id(bank)) as reading:
            directives = every_directive(reading)
        return [
            directive
            for directive in directives
            if (directive.is_active or not active_only)
            and (not tags or _within(directive, [_leaf(tags, tags_match)]))
        ]


def read_directive(record: Record) -> Directive:
    return from_record(Directive, record)


def put_directive(tx: Transaction, directive: Directive) -> None:
    """Insert or replace a directive."""
    tx.put_records([to_record(DIRECTIVE, directive)])


def read_earlier(record: Record) -> list[Directive]:
    """Return what a directive was before, newest first; `updated_at` is since when each version was in force."""
    return [from_record(Directive, record, **entry) for entry in _entries(record)]


def _entries(record: Record) -> list[Mapping[str, Any]]:
    body: Mapping[str, Any] = record.body
    return list(body["entries"])


def _keep_version(tx: Transaction, directive: Directive) -> None:
    """Keep what a directive says before it is changed."""
    stored = tx.records(HISTORY, [directive.id])
    entry = {**to_record(DIRECTIVE, directive).body, "updated_at": to_plain(directive.updated_at)}
    entries = [entry, *(_entries(stored[0]) if stored else ())]
    tx.put_records(
        [
            Record(
                kind=HISTORY, id=directive.id, bank=directive.bank, body={"entries": entries[:MAX_HISTORY]},
                created_at=directive.created_at,
            )
        ]
    )  # fmt: skip


def every_directive(rows: Rows) -> list[Directive]:
    """Return all directives of a bank: highest priority first, then newest, ties by id."""
    directives = sorted(readable(rows.records(DIRECTIVE), read_directive), key=lambda one: one.id)
    directives.sort(key=lambda one: _moment(one.created_at), reverse=True)
    return sorted(directives, key=lambda one: -one.priority)


def active_directives(
    rows: Rows,
    tags: Collection[str] = (),
    tags_match: TagsMatch | str = TagsMatch.ANY,
    apply_all: bool = False,
) -> list[Directive]:
    """Return what a reflect with these tags is given: active rules without tags, and those whose tags match; or all active ones."""
    return directives_within(rows, [_leaf(tags, tags_match)] if tags else (), apply_all)


def directives_within(rows: Rows, scope: Sequence[TagExpression], apply_all: bool = False) -> list[Directive]:
    """Return the same by the tag conditions of a filter. Conditions that name no tags to match admit no tagged rule."""
    named = any(isinstance(expression, TagLeaf) and expression.tags for expression in scope)
    conditions = scope if named else ()
    return [one for one in every_directive(rows) if one.is_active and (apply_all or _within(one, conditions))]


def find_directive(rows: Rows, directive_id: str) -> Directive:
    """Return the directive of an id."""
    for record in rows.records(DIRECTIVE, [directive_id]):
        return read_directive(record)
    raise NotFound("directive", directive_id)


def _leaf(tags: Collection[str], match: TagsMatch | str) -> TagExpression:
    return read_tags(tags, match)[0]


def _within(directive: Directive, scope: Sequence[TagExpression]) -> bool:
    if not directive.tags:
        return True
    return bool(scope) and all(expression.admits(directive.tags) for expression in scope)


def _moment(moment: datetime | None) -> float:
    return 0.0 if moment is None else moment.timestamp()
