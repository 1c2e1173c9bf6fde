"""A primary that lacks transactions which another one has answered with: a failover without synchronous replication."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from perdure import Perdure
from tests.support.postgres import Server
from tests.support.rest_server import QUICK


@contextmanager
def primary_and_standby() -> Iterator[tuple[Server, Server]]:
    primary = Server()
    primary.start()
    primary.execute("CREATE DATABASE memory")
    standby = primary.standby()
    try:
        yield primary, standby
    finally:
        for server in (standby, primary):
            if not (server.data / "postmaster.pid").exists():
                server.start()
            server.remove()


def position(server: Server, function: str) -> int:
    """The place in the log that a function of the server names."""
    with closing(psycopg.connect(server.url("postgres"), autocommit=True)) as db:
        row = db.execute(f"SELECT {function}() - '0/0'::pg_lsn".encode()).fetchone()
        assert row is not None
        return int(row[0] or 0)


def follow(standby: Server, primary: Server) -> None:
    """Wait until the standby has all that there is."""
    written = position(primary, "pg_current_wal_insert_lsn")
    until = time.monotonic() + 30
    while position(standby, "pg_last_wal_replay_lsn") < written:
        assert time.monotonic() < until
        time.sleep(0.05)


def texts(engine: Perdure, query: str) -> list[str]:
    return [one.fact.text for one in engine.recall("garden", query, recipe="fast").recollections]


def test_an_index_of_transactions_that_a_failover_lost_is_not_used() -> None:
    with primary_and_standby() as (primary, standby):
        url = f"postgresql://postgres@/memory?host={primary.folder},{standby.folder}"
        with Perdure.open(url, **QUICK) as engine:
            engine.retain("garden", "Ann keeps bees in Leeds.", document_id="bees")
            follow(standby, primary)
            standby.stop("fast")
            # This the standby never gets, and the index in memory has it.
            engine.retain("garden", "Bob keeps ferrets in York.", document_id="ferrets")
            assert any("ferrets" in text for text in texts(engine, "What does Bob keep?"))
            primary.stop()
            standby.start()
            standby.run("pg_ctl", "-w", "-t", "60", "promote")
            # It gets the numbers and the version that the lost fact had.
            engine.retain("garden", "Cleo breeds parrots in Hull.", document_id="parrots")
            assert any("parrots" in text for text in texts(engine, "What does Cleo breed?"))
            assert not any("ferrets" in text for text in texts(engine, "What does Bob keep?"))
