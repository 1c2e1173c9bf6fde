"""Limits and behaviour under load: sizes, times, concurrency, idempotency, a graceful end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.errors import StoreLocked
from perdure.surfaces.rest.app import create_app
from tests.support.rest_server import open_quick, running

BANK = "/v1/default/banks/main"
RECALL = f"{BANK}/memories/recall"
ITEMS = {"items": [{"content": "Ivan Stone collects maps."}]}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        engine.retain("main", "Ivan Stone collects stamps.")
        yield engine


def client_of(engine: Perdure, **overrides: Any) -> TestClient:
    return TestClient(
        create_app(engine, engine.settings.model_copy(update=overrides)), base_url="http://localhost"
    )


def test_a_large_body_is_refused_announced_or_not(engine: Perdure) -> None:
    with client_of(engine, max_request_bytes=2000) as client:
        large = b'{"query": "' + b"x" * 3000 + b'"}'
        headers = {"content-type": "application/json"}
        announced = client.post(RECALL, content=large, headers=headers)
        chunked = client.post(RECALL, content=iter([large[:1500], large[1500:]]), headers=headers)
        for response in (announced, chunked):
            assert response.status_code == 413
            assert response.json()["error"]["code"] == "too_large"
        assert client.post(RECALL, json={"query": "stamps"}).status_code == 200


class Held:
    """Recalls that wait until they are let go."""

    def __init__(self, engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered = threading.Semaphore(0)
        self.release = threading.Event()
        recall = engine.recall

        def waiting(*args: Any, **options: Any) -> Any:
            self.entered.release()
            assert self.release.wait(30)
            return recall(*args, **options)

        monkeypatch.setattr(engine, "recall", waiting)


def test_too_many_recalls_are_told_to_come_back(engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(engine, monkeypatch)
    with running(engine, max_concurrent_recalls=4) as url, httpx.Client(base_url=url, timeout=60) as client:
        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(client.post, RECALL, json={"query": "stamps"}) for _ in range(4)]
            for _ in range(4):
                assert held.entered.acquire(timeout=30)
            refused = client.post(RECALL, json={"query": "stamps"})
            assert refused.status_code == 429
            assert float(refused.headers["Retry-After"]) > 0
            assert refused.json()["error"]["code"] == "busy"
            assert client.get(f"{BANK}/stats").status_code == 200
            assert client.post(f"{BANK}/memories", json=ITEMS).status_code == 200
            held.release.set()
            assert [call.result().status_code for call in calls] == [200] * 4
        assert client.post(RECALL, json={"query": "stamps"}).status_code == 200


def test_the_same_idempotency_key_is_the_same_call(engine: Perdure) -> None:
    with client_of(engine) as client:
        headers = {"Idempotency-Key": "once-1"}
        before = engine.banks.stats("main").documents
        first = client.post(f"{BANK}/memories", json=ITEMS, headers=headers).json()
        again = client.post(f"{BANK}/memories", json=ITEMS, headers=headers).json()
        assert again == first
        assert engine.banks.stats("main").documents == before + 1
        other = client.post(f"{BANK}/memories", json={"items": [{"content": "Else."}]}, headers=headers)
        assert other.status_code == 409
        elsewhere = client.post("/v1/default/banks/second/memories", json=ITEMS, headers=headers).json()
        assert elsewhere["bank_id"] == "second"
        later = {"Idempotency-Key": "once-2"}
        body = {**ITEMS, "async": True}
        one = client.post(f"{BANK}/memories", json=body, headers=later).json()
        two = client.post(f"{BANK}/memories", json=body, headers=later).json()
        assert one["operation_id"] == two["operation_id"]


def test_a_request_under_way_is_finished_before_the_server_stops(
    engine: Perdure, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(engine, monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        with running(engine) as url:
            call = pool.submit(httpx.post, f"{url}{RECALL}", json={"query": "stamps"}, timeout=60)
            assert held.entered.acquire(timeout=30)
            threading.Timer(0.3, held.release.set).start()
        assert call.result().status_code == 200


def test_a_busy_store_and_an_unforeseen_error(engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(engine)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        monkeypatch.setattr(engine.banks, "stats", _raise(StoreLocked("locked")))
        busy = client.get(f"{BANK}/tags")
        assert (busy.status_code, busy.json()["error"]["code"]) == (503, "store_locked")
        assert busy.headers["Retry-After"]
        monkeypatch.setattr(engine.banks, "stats", _raise(RuntimeError("a secret detail")))
        broken = client.get(f"{BANK}/tags")
        assert (broken.status_code, broken.json()["error"]["code"]) == (500, "internal")
        assert "secret" not in broken.text


def _raise(error: Exception) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail
