"""Clearing what erased content left in the server's files, as far as a client can, and saying what is still pending.

A deleted row stays in its table's file as a dead tuple, and in the write-ahead log. CLUSTER writes the tables to new files,
from rows alone; after that a checkpoint lets the server drop the old segments of the log. A server that recycles segments
(`wal_recycle`, on by default) keeps their bytes under new names until it writes over them: an erasure counts as cleared when
the log has passed the last of them. Without the privilege to look (`pg_monitor`) it stays pending.
Replicas, archives of the log and backups are out of reach.
"""

from __future__ import annotations

import json
from contextlib import suppress

import psycopg

from perdure.ports.store import Traces
from perdure.stores.postgres.connections import SCHEMA_NAME, Connections, Db

SMALL_DATABASE = 256 << 20
"""Bytes of all tables up to which they are written anew without being asked: it locks each of them meanwhile."""
_KEPT = ("erasure", "schema_version")
"""Tables that hold no content."""
_FILES = (
    "SELECT relname, relfilenode::bigint FROM pg_class"
    " WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND relname <> ALL(%s)"
)


def note_erasure(db: Db, now: str) -> None:
    """Mark that the transaction erases content for good."""
    db.execute(b"INSERT INTO erasure (erased_at, files) VALUES (%s, %s)", (now, json.dumps(_files(db))))


def traces(connections: Connections) -> Traces:
    """Whether an erasure is still marked."""
    ((pending,),) = connections.select("SELECT EXISTS (SELECT 1 FROM erasure)")
    return Traces.PENDING if pending else Traces.CLEARED


def progress(connections: Connections) -> float:
    """0 while tables hold dead tuples, a half while only the log has traces, 1 when nothing is to be cleared."""
    query = "SELECT count(*), count(*) FILTER (WHERE rewritten IS NULL) FROM erasure"
    ((pending, unwritten),) = connections.select(query)
    return 1.0 if not pending else 0.0 if unwritten else 0.5


def clear(connections: Connections) -> Traces:
    """Write small tables anew, and unmark the erasures that are in no file any more."""
    if traces(connections) is Traces.CLEARED:
        return Traces.CLEARED
    with connections.writing() as db:
        _write_anew(db)
    with connections.writing() as db:
        rewritten = _note_rewritten(db)
    if rewritten:
        _drop_old_log(connections)
    with suppress(psycopg.errors.InsufficientPrivilege), connections.writing() as db:
        _unmark(db)
    return traces(connections)


def _files(db: Db) -> dict[str, int]:
    """Table -> the number of its file, which changes whenever the table is written anew."""
    return dict(db.execute(_FILES.encode(), (SCHEMA_NAME, list(_KEPT))).fetchall())


def _write_anew(db: Db) -> None:
    """Write the tables to new files, unless they are large or somebody may still see what was erased."""
    files = _files(db)
    (last,) = db.execute(b"SELECT max(xid::xid8)::text FROM erasure WHERE rewritten IS NULL").fetchone() or (
        None,
    )
    if last is None:
        return
    (size,) = db.execute(
        b"SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relnamespace = %s::regnamespace"
        b" AND relkind = 'r'",
        (SCHEMA_NAME,),
    ).fetchone() or (0,)
    if size > SMALL_DATABASE or _still_seen(db, last):
        return
    for table in sorted(files):
        key = db.execute(
            b"SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass AND indisunique"
            b" ORDER BY indisprimary DESC, indexrelid LIMIT 1",
            (table,),
        ).fetchone()
        assert key is not None
        db.execute(f"CLUSTER {table} USING {key[0]}".encode())


def _still_seen(db: Db, xid: str) -> bool:
    """Whether a transaction, prepared transaction or replication slot still sees rows that this one deleted."""
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
    files = _files(db)
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
    """Delete the marks of erasures whose segments of the log are gone, and written over where they were recycled."""
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
