"""`perdure serve` under a service manager: it says when it is ready, and ends in time however busy it is."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx

from perdure.settings import Settings
from tests.surfaces.cli.conftest import QUICK

get = partial(httpx.get, timeout=30)
ITEMS = "/v1/default/banks/b/memories"
DENSE = "on 3 May 2024, 2024-05-04 and 5/6/2024, next Monday, two weeks ago; "


@contextmanager
def serving(folder: Path, environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "perdure.surfaces.cli.main", "serve", "--open", "--port", str(port)],
        cwd=folder, env={**os.environ, **QUICK, **environment}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.communicate()


def test_systemd_is_told_when_the_server_is_ready_and_when_it_stops(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(60)
        with serving(tmp_path, {"NOTIFY_SOCKET": address}) as (process, url):
            assert manager.recv(100) == b"READY=1"
            assert get(f"{url}/health/ready").status_code == 200
            process.send_signal(signal.SIGTERM)
            assert manager.recv(100) == b"STOPPING=1"
            process.communicate(timeout=10)
    assert process.returncode == 143


def test_sigterm_ends_a_busy_server_within_ten_seconds_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """Callers that retain and recall, a retain of minutes, one in the background, and a request that is half sent."""
    with serving(tmp_path, {}) as (process, url), httpx.Client(base_url=url, timeout=60) as client:
        for _ in range(600):
            try:
                if client.get("/health/ready").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        acknowledged: list[str] = []
        stop = threading.Event()

        def write(number: int) -> None:
            count = 0
            while not stop.is_set():
                text = f"Ivan Stone bought map {number}-{count}."
                try:
                    answer = client.post(ITEMS, json={"items": [{"content": text}]})
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    acknowledged.extend(answer.json()["fact_ids"])
                    count += 1

        def dense(later: bool) -> None:
            body = {"items": [{"content": DENSE * 20_000}], "async": later}
            try:
                client.post(ITEMS, json=body)
            except httpx.HTTPError:
                return

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        threads += [threading.Thread(target=dense, args=(later,)) for later in (True, False)]
        for thread in threads:
            thread.start()
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as half:
            half.sendall(b"POST / HTTP/1.1\r\n")
            until = time.monotonic() + 60
            while len(acknowledged) < 5 and time.monotonic() < until:
                time.sleep(0.1)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=30)
            took = time.monotonic() - began
        stop.set()
        for thread in threads:
            thread.join()
    assert took < 10
    assert process.returncode == 143
    assert "Traceback" not in err, err
    assert len(acknowledged) >= 5
    with sqlite3.connect(tmp_path / "perdure.db") as file:
        stored = {row[0] for row in file.execute("SELECT id FROM fact")}
    assert set(acknowledged) <= stored


def test_the_examples_of_deployment_name_settings_and_a_command_that_exist() -> None:
    folder = Path(__file__).parents[3] / "examples" / "deploy"
    settings = {f"PERDURE_{name.upper()}" for name in Settings.model_fields}
    composed = ("compose.yaml", "compose-three-nodes.yaml")
    for name in ("perdure.service", "perdure@.service", "Containerfile", *composed):
        text = (folder / name).read_text(encoding="utf-8")
        variables = set(re.findall(r"PERDURE_[A-Z_]+", text))
        assert variables
        assert variables <= settings
        assert re.search(r'perdure serve|"perdure", "serve"', text) or name in composed
    unit = (folder / "perdure.service").read_text(encoding="utf-8")
    assert "Type=notify" in unit
    assert "SuccessExitStatus=143" in unit
