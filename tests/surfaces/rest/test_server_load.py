"""Backpressure and fairness over real loopback HTTP: nobody starves, nobody waits for long, who left is forgotten."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from perdure import Perdure
from perdure.domain.work import check_work
from perdure.errors import Cancelled
from perdure.surfaces.keys import create_key
from tests.support.rest_server import open_quick, running

get = partial(httpx.get, timeout=30)
post = partial(httpx.post, timeout=30)
BANKS = "/v1/default/banks"
QUERY = {"query": "What does Ivan collect?"}
ITEMS = {"items": [{"content": "Ivan Stone collects maps."}]}


def recall_path(bank: str) -> str:
    return f"{BANKS}/{bank}/memories/recall"


def retain_path(bank: str) -> str:
    return f"{BANKS}/{bank}/memories"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        for bank in ("main", "other"):
            engine.retain(bank, "Ivan Stone collects stamps.")
        yield engine


class Slowed:
    """A method of the engine that takes its time, or waits until it is let go, checking meanwhile as pipelines do."""

    def __init__(
        self, engine: Perdure, monkeypatch: pytest.MonkeyPatch, name: str, seconds: float | None = None
    ) -> None:
        self.entered = threading.Semaphore(0)
        self.release = threading.Event()
        self.ends: list[str] = []
        method = getattr(engine, name)

        def slow(*args: Any, **options: Any) -> Any:
            self.entered.release()
            until = time.monotonic() + (30 if seconds is None else seconds)
            try:
                while time.monotonic() < until and not self.release.is_set():
                    check_work()
                    time.sleep(0.005)
                outcome = method(*args, **options)
            except Cancelled as error:
                self.ends.append(str(error))
                raise
            self.ends.append("done")
            return outcome

        monkeypatch.setattr(engine, name, slow)


@contextmanager
def asked(url: str, path: str, body: dict[str, Any]) -> Iterator[None]:
    """A request under way, whose client leaves at the end of the block."""
    at, sent = urlsplit(url), json.dumps(body).encode()
    line = http.client.HTTPConnection(at.hostname or "", at.port, timeout=30)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    line.request("POST", path, sent, headers)
    try:
        yield
    finally:
        line.close()


def wait_until(condition: Callable[[], bool], seconds: float = 15.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def metric(url: str, line: str) -> float:
    matched = re.search(rf"^{re.escape(line)} (\S+)$", get(f"{url}/metrics").text, re.MULTILINE)
    assert matched is not None, f"no {line} in the metrics"
    return float(matched[1])


def test_recalls_and_keys_do_not_wait_for_retains(engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    _, secret = create_key(engine)
    slowed = Slowed(engine, monkeypatch, "retain")
    headers = {"Authorization": f"Bearer {secret}"}
    limits = httpx.Limits(max_connections=100)
    with (
        running(engine, require_keys=True, max_wait=60.0) as url,
        httpx.Client(base_url=url, headers=headers, timeout=60, limits=limits) as client,
        ThreadPoolExecutor(64) as pool,
    ):
        retains = [pool.submit(client.post, retain_path("main"), json=ITEMS) for _ in range(64)]
        assert wait_until(lambda: sum(call.done() for call in retains) >= 48)
        took = []
        for number in range(10):
            time.sleep(0.2)  # the keys are read again meanwhile
            began = time.monotonic()
            assert client.post(recall_path("main"), json=QUERY).status_code == 200
            assert client.get(BANKS).status_code == 200
            assert client.get("/health").status_code == 200
            took.append(time.monotonic() - began)
            if number == 2:
                assert metric(url, 'perdure_waiting{lane="retain"}') == 14
                assert metric(url, 'perdure_refused_total{lane="retain",reason="share"}') == 48
        assert max(took) < 5
        slowed.release.set()
        statuses = [call.result().status_code for call in retains]
    assert statuses.count(200) == 16
    assert statuses.count(429) == 48


def test_those_told_to_come_back_are_told_when_from_measured_times(
    engine: Perdure, monkeypatch: pytest.MonkeyPatch
) -> None:
    Slowed(engine, monkeypatch, "retain", seconds=0.4)
    with (
        running(engine) as url,
        httpx.Client(base_url=url, timeout=60, limits=httpx.Limits(max_connections=60)) as client,
        ThreadPoolExecutor(40) as pool,
    ):
        for _ in range(12):  # so that the mean is measured
            assert client.post(retain_path("main"), json=ITEMS).status_code == 200
        answers = list(pool.map(lambda _: client.post(retain_path("main"), json=ITEMS), range(40)))
        refused = [answer for answer in answers if answer.status_code == 429]
        waits = sorted(int(answer.headers["Retry-After"]) for answer in refused)
        # 16 have room, 2 at a time, 0.4 seconds each: room for the first of the others after 3 s, for the last after 8.
        assert len(refused) >= 20
        assert 1 <= waits[0] <= 5
        assert 5 <= waits[-1] <= 14
        assert len(set(waits)) > 3, "all were told the same moment"


def test_a_bank_that_floods_leaves_room_for_another(engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line never has all threads, and lines take turns: the quiet bank's recalls pass the loud one's queue."""
    Slowed(engine, monkeypatch, "recall", seconds=0.2)
    with (
        running(engine) as url,
        httpx.Client(base_url=url, timeout=60, limits=httpx.Limits(max_connections=60)) as client,
        ThreadPoolExecutor(40) as pool,
    ):
        ended: list[float] = []

        def loud() -> int:
            status = client.post(recall_path("main"), json=QUERY).status_code
            ended.append(time.monotonic())
            return status

        flood = [pool.submit(loud) for _ in range(32)]
        assert wait_until(lambda: len(ended) >= 4)
        took = []
        for _ in range(3):
            began = time.monotonic()
            assert client.post(recall_path("other"), json=QUERY).status_code == 200
            took.append(time.monotonic() - began)
        done_then = len(ended)
        assert [call.result() for call in flood] == [200] * 32
    assert done_then < 32, "the flood was over: the test proves nothing"
    assert max(took) < 1.0


def test_work_whose_client_left_is_stopped(engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    slowed = Slowed(engine, monkeypatch, "retain")
    with running(engine) as url:
        for _ in range(2):
            with asked(url, retain_path("main"), ITEMS):
                assert slowed.entered.acquire(timeout=20)
        assert wait_until(lambda: len(slowed.ends) == 2)
        assert slowed.ends == ["the client left"] * 2
        assert metric(url, 'perdure_abandoned_total{lane="retain"}') == 2
        assert metric(url, 'perdure_running{lane="retain"}') == 0
        slowed.release.set()
        assert post(f"{url}{retain_path('main')}", json=ITEMS).status_code == 200


def test_work_past_its_time_is_stopped_and_frees_its_thread(
    engine: Perdure, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "on 3 May 2024, 2024-05-04 and 5/6/2024, next Monday, two weeks ago; " * 40_000
    with running(engine, request_timeout=1.0) as url:
        began = time.monotonic()
        late = post(f"{url}{retain_path('main')}", json={"items": [{"content": text}]}, timeout=60)
        assert late.status_code == 504
        assert time.monotonic() - began < 5
        assert wait_until(lambda: metric(url, 'perdure_running{lane="retain"}') == 0, 5)
    assert not [fact for fact in engine.facts.iterate("main") if "2024" in fact.text]
