"""Hooks as processes: quick, silent, never failing; one warm process behind them."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.contrib.assistants import place, wire
from perdure.contrib.assistants.client import EVENTS
from tests.contrib.assistants.hook_process import HookUser, wait_until

HEAVY = {
    "numpy",
    "onnxruntime",
    "pydantic",
    "typer",
    "rich",
    "httpx",
    "sqlite3",
    "asyncio",
    "dataclasses",
    "pathlib",
    "spacy",
}
MOST_SECONDS = 2.0
SLOW_MACHINE = 3.0
"""More for the interpreter to start where other tests run beside."""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookUser]:
    """A user with a warm process and one session behind."""
    user = HookUser(tmp_path_factory.mktemp("user"))
    user.start("first")
    user.await_warm()
    user.prompt("first", "My dog is called Tilly.")
    user.stop("first", "A fine name.")
    user.await_empty_spool()
    yield user
    user.end_warm()


@pytest.fixture
def user(tmp_path: Path) -> Iterator[HookUser]:
    user = HookUser(tmp_path)
    yield user
    user.end_warm()


def no_start(user: HookUser) -> None:
    """Let hooks of this user start no process, as after one that failed."""
    place.make_folder(str(user.folder))
    (user.folder / "warm.failed").touch()


def test_a_hook_loads_no_model_no_framework_and_no_settings() -> None:
    code = (
        "import sys; import perdure.__main__; import perdure.contrib.assistants.client; "
        f"print(sorted({HEAVY} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_what_one_session_said_is_beside_the_prompt_of_the_next(warm: HookUser) -> None:
    wait_until(
        lambda: "Tilly" in warm.prompt(f"s{time.time_ns()}", "What is my dog called?").text,
        30,
        lambda: warm.log,
    )
    assert "Tilly" in warm.start("third").text


def test_files_of_the_memory_are_the_users_alone(warm: HookUser) -> None:
    for path in (warm.folder, *warm.folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert not mode & 0o077, f"{path} has {mode:o}"


def test_a_second_process_leaves_at_once_where_one_is_running(warm: HookUser) -> None:
    before = warm.running
    assert not place.Lock(str(warm.folder)).take()
    warm.prompt("again", "What is my dog called?")
    assert warm.running == before


def test_strangers_on_loopback_get_nothing_and_break_nothing(warm: HookUser) -> None:
    running = warm.running
    for body in (b"", b"\n", b"GET / HTTP/1.1\r\n\r\n", b"x" * 100 + b"\n" + b'bad {"event": "leave"}\n'):
        with socket.create_connection((wire.LOOPBACK, running["port"]), timeout=5) as connection:
            connection.sendall(body)
    with pytest.raises((wire.Refused, OSError)):
        wire.ask(running["port"], "00" * 32, {"event": "leave"}, time.monotonic() + 5)
    assert wire.ask(running["port"], running["secret"], {"event": "drain"}, time.monotonic() + 5) == {}


def test_a_stranger_on_the_port_of_a_dead_process_learns_nothing(user: HookUser) -> None:
    place.make_folder(str(user.folder))
    with socket.create_server((wire.LOOPBACK, 0)) as impostor:
        impostor.settimeout(10)
        body = {
            "port": impostor.getsockname()[1],
            "secret": "11" * 32,
            "identity": place.identity(str(user.folder), "0.1.0"),
        }
        (user.folder / "warm.json").write_text(json.dumps(body))
        (user.folder / "warm.failed").touch()
        hook = subprocess.Popen(
            [sys.executable, "-m", "perdure", "hook", "prompt"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=user.environment, cwd=user.project,
        )  # fmt: skip
        assert hook.stdin is not None
        hook.stdin.write(json.dumps({"session_id": "s", "prompt": "my secret"}).encode())
        hook.stdin.close()
        connection, _ = impostor.accept()
        heard = connection.recv(65536)
        connection.sendall(b"00" * 32 + b" " + b"22" * 16 + b"\n")
        heard += connection.recv(65536)
        connection.close()
        assert hook.wait(10) == 0
        assert hook.stdout is not None
        assert hook.stdout.read() == b""
        hook.stdout.close()
    assert b"secret" not in heard
    assert len(heard) == 33


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"prompt": "x"}', b'{"session_id": {}}', b"[" * 100_000],
)
def test_broken_input_costs_nothing(user: HookUser, body: bytes) -> None:
    no_start(user)
    done = user.hook("prompt", body)
    assert (done.code, done.output) == (0, "")


@pytest.mark.parametrize("event", EVENTS)
def test_a_dead_process_costs_only_the_memory(user: HookUser, event: str) -> None:
    place.make_folder(str(user.folder))
    with socket.create_server((wire.LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
    body = {
        "port": port,
        "secret": "11" * 32,
        "identity": place.identity(str(user.folder), "0.1.0"),
        "pid": 1,
    }
    (user.folder / "warm.json").write_text(json.dumps(body))
    no_start(user)
    done = user.hook(event, {"session_id": "s", "prompt": "What is my dog called?"})
    assert (done.code, done.output) == (0, "")
    assert done.seconds < MOST_SECONDS + SLOW_MACHINE
    (user.folder / "warm.json").unlink()


def test_a_process_that_hangs_is_given_up_in_time(user: HookUser) -> None:
    place.make_folder(str(user.folder))
    with socket.create_server((wire.LOOPBACK, 0)) as silent:
        body = {
            "port": silent.getsockname()[1],
            "secret": "11" * 32,
            "identity": place.identity(str(user.folder), "0.1.0"),
        }
        (user.folder / "warm.json").write_text(json.dumps(body))
        done = user.prompt("s", "What is my dog called?")
    assert (done.code, done.output) == (0, "")
    assert done.seconds < MOST_SECONDS + SLOW_MACHINE
    (user.folder / "warm.json").unlink()


def test_a_locked_database_costs_only_the_memory_and_what_was_said_is_kept(user: HookUser) -> None:
    place.make_folder(str(user.folder))
    (user.folder / "perdure.toml").write_text("busy_timeout_ms = 200\n")
    user.start("s")
    user.await_warm()
    holder = sqlite3.connect(user.folder / "perdure.db", isolation_level=None)
    holder.execute("begin exclusive")
    done = user.prompt("s", "My dog is called Tilly.")
    assert (done.code, done.output) == (0, "")
    assert user.stop("s", "Noted.").code == 0
    wait_until(lambda: "not retained" in user.log, 30, lambda: user.log)
    assert place.spooled(str(user.folder))
    holder.execute("rollback")
    holder.close()


@pytest.mark.long
def test_a_process_of_other_settings_is_replaced_and_idle_ones_end(user: HookUser) -> None:
    place.make_folder(str(user.folder))
    user.start("s")
    first = user.await_warm()
    (user.folder / "perdure.toml").write_text("assistant_idle_minutes = 0.01\n")
    wait_until(lambda: not user.running or user.running["pid"] != first["pid"], 30, lambda: user.log)
    user.start("s2")
    second = user.await_warm()
    assert second["pid"] != first["pid"]
    wait_until(lambda: not user.running, 30, lambda: user.log)
    lock = place.Lock(str(user.folder))
    wait_until(lock.take, 30, lambda: user.log)
    lock.release()
    assert user.log == ""


def test_one_of_another_version_is_told_to_go(warm: HookUser) -> None:
    before = warm.running
    body = {**before, "identity": "0.0.9/0"}
    (warm.folder / "warm.json").write_text(json.dumps(body))
    warm.prompt("version", "What is my dog called?")
    wait_until(lambda: warm.running.get("pid") not in (None, before["pid"]), 60, lambda: warm.log)
    assert warm.running["identity"] == before["identity"]


@pytest.mark.long
def test_a_killed_process_leaves_nothing_that_stops_the_next(user: HookUser) -> None:
    user.start("s")
    first = user.await_warm()
    user.prompt("s", "My dog is called Tilly.")
    os.kill(first["pid"], signal.SIGKILL)
    user.stop("s", "Noted.")
    wait_until(lambda: user.running.get("pid") not in (None, first["pid"]), 60, lambda: user.log)
    user.await_empty_spool()
    wait_until(
        lambda: "Tilly" in user.prompt(f"s{time.time_ns()}", "What is my dog called?").text,
        30,
        lambda: user.log,
    )
