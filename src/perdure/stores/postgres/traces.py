"""Clearing what erased content left in the server's files, as far as a client can.

A deleted row stays in its table's file as a dead tuple, and in the write-ahead log. CLUSTER writes the tables
to new files, from rows alone; after that a checkpoint lets the server drop the old segments of the log. A
server that recycles segments (`wal_recycle`, on by default) keeps their bytes under new names until it writes
over them: an erasure counts as cleared when the log has passed the last of them. Without the privilege to
look (`pg_monitor`) it stays pending. Replicas, archives of the log and backups are out of reach.

Of an encrypted bank the keys are destroyed by the erasure itself. Their own traces are cleared first: the
table of keys is small, and is written anew however large the database is.
"""

from __future__ import annotations

import json
from contextlib import suppress

import psycopg

from perdure.ports.store import Traces
from perdure.stores.postgres.connections import SCHEMA_NAME, Connections, Db

SMALL_DATABASE = 256 << 20
"""Bytes of all tables up to which they are rewritten without being asked, which locks them."""
KEYS = "content_key"
_KEPT = ("erasure", "schema_version", KEYS)
"""Tables that hold no content."""
_FILES = (
    "SELECT relname, relfilenode::bigint FROM pg_class"
    " WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND relname <> ALL(%s)"
)


def note_erasure(db: Db, now: str, *, keys_destroyed: bool = False) -> None:
    """Mark that the transaction erases content for good; destroyed keys have a mark of their own."""
    marks = [_files(db)] + ([{KEYS: _file(db, KEYS)}] if keys_destroyed else [])
    for files in marks:
        db.execute(
            b"INSERT INTO erasure (erased_at, files, encrypted) VALUES (%s, %s, %s)",
            (now, json.dumps(files), int(keys_destroyed)),
        )


def traces(connections: Connections) -> Traces:
    """Return whether an erasure is still marked."""
    ((pending,),) = connections.select("SELECT EXISTS (SELECT 1 FROM erasure)")
    return Traces.PENDING if pending else Traces.CLEARED


def pending(connections: Connections) -> tuple[str, ...]:
    """Return what may still be in the server's files, and until when."""
    query = "SELECT files, encrypted, rewritten IS NULL FROM erasure ORDER BY no"
    marks = [
        (set(json.loads(files)), bool(sealed), dead) for files, sealed, dead in connections.select(query)
    ]
    told: list[str] = []
    if any(dead for files, _, dead in marks if files == {KEYS}):
        told.append(
            "destroyed keys in old versions of the key table, until background work has written it anew"
        )
    if any(not dead for files, _, dead in marks if files == {KEYS}):
        told.append(
            "destroyed keys in the write-ahead log, until the server has written over its old segments"
        )
    for sealed in (False, True):
        what = (
            "names, tags, vectors and hashed words (the texts are unreadable: their keys are destroyed)"
            if sealed
            else "erased texts"
        )
        rest = [dead for files, mark, dead in marks if files != {KEYS} and mark is sealed]
        if any(rest):
            size = _size(connections)
            who = (
                "background work has written the tables anew"
                if size <= SMALL_DATABASE
                else f"you run VACUUM FULL on the schema {SCHEMA_NAME} ({size >> 20} MB)"
            )
            told.append(f"{what} in dead rows of the tables, until {who}")
        if rest:
            told.append(f"{what} in the write-ahead log, until the server has written over its old segments")
    return (
        (*told, "copies on replicas, in archives of the log and in backups, until you remove them")
        if told
        else ()
    )


def clear(connections: Connections) -> Traces:
    """Write small tables anew, and unmark the erasures that are in no file any more."""
    if traces(connections) is Traces.CLEARED:
        return Traces.CLEARED
    size = _size(connections)
    with connections.writing() as db:
        _write_anew(db, size)
    with connections.writing() as db:
        rewritten = _note_rewritten(db)
    if rewritten:
        _drop_old_log(connections)
    with suppress(psycopg.errors.InsufficientPrivilege), connections.writing() as db:
        _unmark(db)
    return traces(connections)


def _files(db: Db) -> dict[str, int]:
    """Return table -> the number of its file, which changes whenever the table is written anew."""
    return dict(db.execute(_FILES.encode(), (SCHEMA_NAME, list(_KEPT))).fetchall())


def _file(db: Db, table: str) -> int:
    """Return the number of a table's file."""
    ((number,),) = db.execute(b"SELECT pg_relation_filenode(%s::regclass)::bigint", (table,)).fetchall()
    return int(number)


def _size(connections: Connections) -> int:
    """Return bytes of all tables with their indexes."""
    query = (
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
        " WHERE relnamespace = to_regnamespace(?) AND relkind = 'r'"
    )
    return int(connections.select(query, SCHEMA_NAME)[0][0])


def _write_anew(db: Db, size: int) -> None:
    """Rewrite the tables, unless they are large or still read by others; keys in any case."""
    marks = db.execute(
        b"SELECT xid, files FROM erasure WHERE rewritten IS NULL ORDER BY xid::xid8"
    ).fetchall()
    of_keys = [xid for xid, files in marks if set(json.loads(files)) == {KEYS}]
    of_rows = [xid for xid, files in marks if set(json.loads(files)) != {KEYS}]
    tables: list[str] = []
    if of_keys and not _still_seen(db, of_keys[-1]):
        tables.append(KEYS)
    if of_rows and size <= SMALL_DATABASE and not _still_seen(db, of_rows[-1]):
        tables += sorted(_files(db))
    for table in tables:
        key = db.execute(
            b"SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass AND indisunique"
            b" ORDER BY indisprimary DESC, indexrelid LIMIT 1",
            (table,),
        ).fetchone()
        assert key is not None
        db.execute(f"CLUSTER {table} USING {key[0]}".encode())


def _still_seen(db: Db, xid: str) -> bool:
    """Return whether a transaction or replication slot still sees rows that this one deleted."""
    query = (
        b"SELECT pg_snapshot_xmin(pg_current_snapshot()) <= %(xid)s::xid8 OR EXISTS ("
        b"SELECT 1 FROM (SELECT backend_xmin AS xmin FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        b" UNION ALL SELECT xmin FROM pg_replication_slots UNION ALL SELECT transaction FROM pg_prepared_xacts) AS seen"
        b" WHERE age(xmin) >= age(%(xid)s::xid8::xid))"
    )
    (seen,) = db.execute(query, {"xid": xid}).fetchone() or (True,)
    return bool(seen)


def _note_rewritten(db: Db) -> bool:
    """Mark erasures since which every table was written anew, by us or by an administrator's VACUUM FULL."""
    files = _files(db) | {KEYS: _file(db, KEYS)}
    rows = db.execute(b"SELECT no, files FROM erasure WHERE rewritten IS NULL FOR UPDATE").fetchall()
    done = [no for no, before in rows if not set(json.loads(before).items()) & set(files.items())]
    db.execute(
        b"UPDATE erasure SET rewritten = pg_current_wal_insert_lsn()::text WHERE no = ANY(%s)", (done,)
    )
    return bool(done)


def _drop_old_log(connections: Connections) -> None:
    """Let the server go on to a new segment and drop the old ones, where the role may ask for that."""
    for statement in (b"SELECT pg_switch_wal()", b"CHECKPOINT"):
        with suppress(psycopg.errors.InsufficientPrivilege), connections.writing() as db:
            db.execute(statement)


def _unmark(db: Db) -> None:
    """Delete the marks of erasures whose segments of the log are gone or overwritten."""
    db.execute(
        b"WITH log AS (SELECT min(substr(name, 9)) AS first, max(substr(name, 9)) AS last FROM pg_ls_waldir()"
        b" WHERE name ~ '^[0-9A-F]{24}$')"
        b" UPDATE erasure SET wal_until ="
        b" CASE WHEN current_setting('wal_recycle')::boolean THEN log.last ELSE '' END FROM log"
        b" WHERE rewritten IS NOT NULL AND wal_until IS NULL AND substr(pg_walfile_name(rewritten::pg_lsn), 9) < log.first"
    )
    db.execute(
        b"DELETE FROM erasure WHERE wal_until < substr(pg_walfile_name(pg_current_wal_insert_lsn()), 9)"
    )
