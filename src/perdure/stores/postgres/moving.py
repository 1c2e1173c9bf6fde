"""Moves a bank to another database while it is in use, without losing a row.

1. The map says that it moves; every process knows that `KEEP_SECONDS` later.
2. Rows are copied under a number that no bank has there, table by table, while others go on writing.
3. The lock of the bank's row is taken: writers wait, readers go on. What has changed since is copied, and both sides are
   compared in every table by counts and hashes.
4. The bank's row is inserted there and deleted here. The latter commit is the switch: nobody looks there as long as there is
   a row here, and whoever finds none here looks at the map again.
5. The map says where the bank is; after `ERASE_AFTER` seconds, which readings under way have to end, its rows here are erased.

Encrypted content is moved and compared as it is stored, with its keys; here the keys are destroyed behind the rows.

Killed at any moment, it goes on where it was when it is called again; a table that was under way is copied anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from perdure.errors import Conflict, NotFound, StoreCorrupt
from perdure.stores.postgres.bank_map import KEEP_SECONDS, Place
from perdure.stores.postgres.content import COLUMNS
from perdure.stores.postgres.rows import KEY_COLUMNS
from perdure.stores.postgres.sealed import ENCRYPTED, ENCRYPTING
from perdure.stores.postgres.shards import Shard, ShardedStore
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql.columns import names
from perdure.stores.sql.copying import (
    INCOMING,
    KEYS,
    BankMove,
    Digest,
    Progress,
    Tables,
    TableStore,
    abandon,
    bank_row,
    common_columns,
    incoming,
    joined,
    note_incoming,
    number_for,
)

ERASE_AFTER = 10.0
CONTENT_KEY = "content_key"
MOVED: Mapping[str, Sequence[str]] = {CONTENT_KEY: ("no",), **KEYS}
"""Table -> what tells its rows apart within a bank."""
_CONTENT = frozenset({CONTENT_KEY, *COLUMNS})
BUCKETS = 4096
"""Parts of a table, by the hash of a row's key, that are compared one by one."""
MOST_BUCKETS = BUCKETS // 4
"""Above so many that differ, the whole table is copied anew."""


def move(
    shards: ShardedStore,
    bank: str,
    to: str,
    *,
    known_after: float = KEEP_SECONDS + 1.0,
    erase_after: float = ERASE_AFTER,
    progress: Progress = lambda *_: None,
) -> BankMove:
    """Move a bank to one of the databases; ends an interrupted move first. Raises NotFound without such a bank."""
    target = shards.shard(to)
    place = shards.map.read(bank)
    if place is None:
        raise NotFound("bank", bank)
    if place.moving_to not in (None, target.id):
        there = shards.shard(place.moving_to or "").shown
        raise Conflict(f"bank {bank!r} is being moved to {there}; let that end first")
    if place.left_in is not None:
        place = _erase_source(shards, bank, place, 0.0)
    if place.database == target.id:
        return BankMove(bank=bank, source=target.shown, target=target.shown, rows={}, frozen_seconds=0.0)
    source = shards.shard(place.database)
    place, began = _announce(shards, bank, place, source, target)
    rows: Mapping[str, int] = {}
    frozen = 0.0
    if _number(source.store, bank) is not None:
        _hide(target.store, bank)
        number = number_for(target.store, bank)
        columns = {CONTENT_KEY: list(KEY_COLUMNS), **common_columns(source.store, target.store)}
        for _ in range(
            2
        ):  # the second time it takes what came during the first, so that less is left for the freeze
            with source.store.stored_tables(writing=False) as reading:
                _bring_over(reading, _required(place.no), target.store, number, bank, columns, progress)
        time.sleep(max(0.0, began + known_after - time.monotonic()))
        rows, frozen = _switch(source, target, bank, number, _required(place.no), columns, progress)
    elif _number(target.store, bank) is None:
        abandon(target.store, bank)
        shards.map.replace(bank, Place(database=source.id))
        raise NotFound("bank", bank)
    place = Place(database=target.id, left_in=source.id, no=place.no)
    shards.map.replace(bank, place)
    _erase_source(shards, bank, place, erase_after)
    return BankMove(
        bank=bank,
        source=source.shown,
        target=target.shown,
        rows=rows,
        frozen_seconds=frozen,
        encrypted=_is_wholly_encrypted(target.store, bank),
        pending=source.store.pending_traces(),
    )


def _announce(
    shards: ShardedStore, bank: str, place: Place, source: Shard, target: Shard
) -> tuple[Place, float]:
    """The entry of a bank that moves, and since when it has been so as far as this process can tell."""
    number = _number(source.store, bank)
    if number is None and place.moving_to is None:
        raise NotFound("bank", bank)
    if number is not None and number != place.no:  # new, or deleted and made again since an earlier attempt
        place = Place(database=source.id, moving_to=target.id, no=number)
        shards.map.replace(bank, place)
    return place, time.monotonic()


def _switch(
    source: Shard,
    target: Shard,
    bank: str,
    number: int,
    source_no: int,
    columns: Mapping[str, Sequence[str]],
    progress: Progress,
) -> tuple[dict[str, int], float]:
    """Copy the rest under the bank's lock, compare, and let the target have the bank."""
    with source.store.stored_tables(writing=True) as locked:
        locked.select("SELECT no FROM bank WHERE no = ? FOR UPDATE", source_no)
        began = time.monotonic()
        described = bank_row(locked, bank, columns["bank"])
        if described is None:
            raise NotFound("bank", bank)
        if described[0] != source_no:
            raise Conflict(f"bank {bank!r} was deleted and made again meanwhile; move it again")
        rows = _bring_over(locked, source_no, target.store, number, bank, columns, progress)
        with target.store.tables(writing=True) as there:
            there.insert("bank", ("no", *columns["bank"]), [(number, *described[1])])
            there.execute("DELETE FROM shared_record WHERE kind = ? AND id = ?", INCOMING, bank)
        locked.execute("DELETE FROM bank WHERE no = ?", source_no)
    return rows, time.monotonic() - began


def _erase_source(shards: ShardedStore, bank: str, place: Place, after: float) -> Place:
    """Erase the rows that a bank has left behind, and their keys at last: until then this can be told from a plain bank."""
    time.sleep(after)
    source, number = shards.shard(place.left_in or ""), _required(place.no)
    source.store.drop_search_tables(number)
    for table in KEYS:
        with source.store.tables(writing=True) as tables:
            tables.execute(f"DELETE FROM {table} WHERE bank = ?", number)
    encrypted = _is_wholly_encrypted(shards.shard(place.database).store, bank)
    with source.store.stored_tables(writing=True) as tables:
        tables.execute("DELETE FROM content_key WHERE bank = ?", number)
        tables.note_erasure(keys_destroyed=encrypted)
    settled = Place(database=place.database)
    shards.map.replace(bank, settled)
    return settled


def _is_wholly_encrypted(store: PostgresStore, bank: str) -> bool:
    """Whether no content of a bank is stored as it is."""
    query = (
        "SELECT scope FROM content_key WHERE bank = (SELECT no FROM bank WHERE id = ?) AND scope IN (?, ?)"
    )
    with store.tables(writing=False) as tables:
        return tables.select(query, bank, ENCRYPTED, ENCRYPTING) == [(ENCRYPTED,)]


def _bring_over(
    rows: Tables,
    source_no: int,
    target: PostgresStore,
    number: int,
    bank: str,
    columns: Mapping[str, Sequence[str]],
    progress: Progress,
) -> dict[str, int]:
    """Make the target's rows the same as the source's, copying what differs; table -> rows, the same on both sides now."""
    counts = {}
    every, arrived_before = (
        _buckets(rows, source_no, columns, MOVED),
        _target_buckets(target, number, columns, MOVED),
    )
    for table in MOVED:
        ours, theirs = every[table], arrived_before[table]
        if table in KEYS:
            counts[table] = sum(digest.rows for digest in ours.values())
        differing = [
            bucket for bucket in ours.keys() | theirs.keys() if ours.get(bucket) != theirs.get(bucket)
        ]
        if not differing:
            continue
        some = len(differing) <= MOST_BUCKETS
        condition, values = (f" AND {_bucket(table)} = ANY(?)", (differing,)) if some else ("", ())
        none = Digest(0, "")
        were_erased = any(theirs[bucket].rows > ours.get(bucket, none).rows for bucket in theirs)
        with target.stored_tables(writing=True) as there:
            there.execute(f"DELETE FROM {table} WHERE bank = ?{condition}", number, *values)
            if were_erased and table in _CONTENT:
                # What the source has erased meanwhile had arrived before; keys are noted where there are any.
                there.note_erasure(keys_destroyed=bool(ours) and table == CONTENT_KEY)
        arrived = sum(theirs[bucket].rows for bucket in theirs.keys() - set(differing)) if some else 0
        query = f"SELECT {names(columns[table])} FROM {table} WHERE bank = ?{condition}"
        for block in joined(rows.stream(query, source_no, *values)):
            with target.stored_tables(writing=True) as there:
                there.insert(table, ("bank", *columns[table]), [(number, *row) for row in block])
            arrived += len(block)
            progress(bank, table, arrived)
        if _target_buckets(target, number, columns, [table])[table] != ours:
            raise StoreCorrupt(f"bank {bank!r}: the rows of {table} arrived otherwise than they were sent")
    return counts


def _bucket(table: str) -> str:
    return f"(hash_record_extended(ROW({names(MOVED[table])}), 0) & {BUCKETS - 1})"


def _buckets(
    rows: Tables, bank_no: int, columns: Mapping[str, Sequence[str]], tables: Iterable[str]
) -> dict[str, dict[int, Digest]]:
    """Table -> bucket -> count and sum of the 64-bit hashes of its rows, computed by the server in one round trip."""
    chosen = list(tables)
    queries = [
        f"SELECT {number}, {_bucket(table)}, count(*),"
        f" sum(hash_record_extended(ROW({names(sorted(columns[table]))}), 0))::text FROM {table} WHERE bank = ? GROUP BY 2"
        for number, table in enumerate(chosen)
    ]
    buckets: dict[str, dict[int, Digest]] = {table: {} for table in chosen}
    for number, bucket, count, total in rows.select(" UNION ALL ".join(queries), *[bank_no] * len(chosen)):
        buckets[chosen[number]][bucket] = Digest(count, total)
    return buckets


def _target_buckets(
    target: PostgresStore, number: int, columns: Mapping[str, Sequence[str]], tables: Iterable[str]
) -> dict[str, dict[int, Digest]]:
    with target.stored_tables(writing=False) as there:
        return _buckets(there, number, columns, tables)


def _hide(target: TableStore, bank: str) -> None:
    """Take back the row of a bank that was inserted just before an earlier move was killed."""
    with target.tables(writing=True) as tables:
        rows = tables.select("SELECT no FROM bank WHERE id = ? FOR UPDATE", bank)
        if rows and incoming(tables, bank) is None:
            note_incoming(tables, bank, rows[0][0])
            tables.execute("DELETE FROM bank WHERE no = ?", rows[0][0])


def _number(store: TableStore, bank: str) -> int | None:
    with store.tables(writing=False) as tables:
        rows = tables.select("SELECT no FROM bank WHERE id = ?", bank)
    return int(rows[0][0]) if rows else None


def _required(number: int | None) -> int:
    assert number is not None
    return number
