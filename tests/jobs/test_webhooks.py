"""Webhooks: written with what they report, signed, sent until they arrive, and never to a private address unless allowed."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from perdure import InvalidInput, NotFound, Perdure, Webhook, WebhookHttp
from perdure.domain.webhook import WebhookDelivery
from perdure.jobs.outbox import RETRY_AFTER, concluded
from perdure.jobs.send import AddressRefused, Sent, is_public, pinned_address
from perdure.retain.options import RetainOptions
from perdure.retain.pipeline import retain
from perdure.retain.request import read_request
from perdure.surfaces.rest.app import create_app

NOW = datetime(2026, 11, 18, tzinfo=UTC)
ALL = ["retain.completed", "consolidation.completed"]


class Receiver(ThreadingHTTPServer):
    """Keeps what it is sent, and answers with the next of its statuses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?a=1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = self.server
        assert isinstance(receiver, Receiver)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.got.append((self.path, dict(self.headers), body))
        self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing: the test reads what was sent."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def open_memory(path: Path, **options: Any) -> Perdure:
    return Perdure.open(
        path / "m.db",
        embedder="hashing",
        reranker="none",
        tagger="rules",
        require_keys=False,
        webhook_allow_private=True,
        **options,
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with open_memory(tmp_path) as engine:
        yield engine


def until(true: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def ended(memory: Perdure, webhook: Webhook) -> WebhookDelivery:
    until(lambda: any(one.status != "pending" for one in memory.webhooks.deliveries("b", webhook.id)))
    return memory.webhooks.deliveries("b", webhook.id)[0]


def test_a_retain_is_told_with_a_signature_over_the_body(memory: Perdure, receiver: Receiver) -> None:
    http = WebhookHttp(headers={"X-Own": "yes"}, params={"b": "2 3"})
    webhook = memory.webhooks.create("b", receiver.url, secret="s3cret", event_types=ALL, http=http)
    memory.retain("b", "Ann works at Lumen.", document_id="d1", tags=["work"])
    delivery = ended(memory, webhook)
    ((path, headers, body),) = receiver.got
    assert path == "/hook?a=1&b=2+3"
    assert headers["X-Hindsight-Event"] == "retain.completed"
    expected = hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
    assert headers["X-Hindsight-Signature"] == f"sha256={expected}"
    assert (headers["X-Own"], headers["X-Perdure-Delivery"]) == ("yes", delivery.id)
    told = json.loads(body)
    assert (told["event"], told["bank_id"], told["status"]) == ("retain.completed", "b", "completed")
    assert told["data"] == {"document_id": "d1", "tags": ["work"], "memory_unit_count": 1}
    assert "operation_id" not in told
    assert (delivery.status, delivery.attempts, delivery.last_response_status) == ("completed", 1, 200)
    assert delivery.payload is None
    assert "s3cret" not in repr(webhook)


def test_background_work_is_told_with_its_operation(memory: Perdure, receiver: Receiver) -> None:
    memory.webhooks.create("b", receiver.url, event_types=ALL)
    operation = memory.retain_later("b", "Ann works at Lumen. Ann lives in Oslo. Ann has a cat.")
    memory.operations.get("b", operation.id, wait=30)
    run = memory.consolidate("b")
    memory.operations.get("b", run.id, wait=30)
    until(lambda: len(receiver.got) == 2)
    told = {event["event"]: event for event in (json.loads(body) for _, _, body in receiver.got)}
    assert told["retain.completed"]["operation_id"] == operation.id
    assert told["consolidation.completed"]["operation_id"] == run.id
    assert set(told["consolidation.completed"]["data"]) == {
        "observations_created", "observations_updated", "observations_deleted",
    }  # fmt: skip
    assert "X-Hindsight-Signature" not in receiver.got[0][1]


def test_only_the_events_that_were_asked_for_are_told(memory: Perdure, receiver: Receiver) -> None:
    webhook = memory.webhooks.create("b", receiver.url)
    off = memory.webhooks.create("b", receiver.url, event_types=ALL, enabled=False)
    memory.retain("b", "Ann works at Lumen.")
    memory.retain("other", "Bob works at Lumen.")
    assert memory.webhooks.deliveries("b", webhook.id) == memory.webhooks.deliveries("b", off.id) == []


def test_a_retain_that_is_rolled_back_is_not_told(memory: Perdure, receiver: Receiver) -> None:
    webhook = memory.webhooks.create("b", receiver.url, event_types=ALL)

    def fail(*_: object) -> None:
        assert len(webhook_rows(memory)) == 1, "the delivery is written in the transaction of the retain"
        raise InvalidInput("test", "a failure at the end of the transaction")

    def webhook_rows(engine: Perdure) -> list[str]:
        return announced

    announced: list[str] = []

    def announce(tx: Any, receipt: Any) -> None:
        memory._background.announce_retain(tx, receipt)
        announced.extend(record.id for record in tx.records("webhook_delivery"))

    request = read_request("b", "Ann works at Lumen.", RetainOptions())
    with pytest.raises(InvalidInput, match="end of the transaction"):
        retain(memory._components.retain, request, within=fail, announce=announce)
    assert memory.facts.list("b").total == 0
    assert memory.webhooks.deliveries("b", webhook.id) == []
    assert receiver.got == []


def test_a_failed_attempt_waits_for_its_time(memory: Perdure, receiver: Receiver) -> None:
    receiver.statuses = [503]
    webhook = memory.webhooks.create("b", receiver.url, event_types=ALL)
    memory.retain("b", "Ann works at Lumen.")
    until(lambda: memory.webhooks.deliveries("b", webhook.id)[0].last_error)
    (delivery,) = memory.webhooks.deliveries("b", webhook.id)
    assert (delivery.status, delivery.attempts, delivery.last_response_status) == ("pending", 1, 503)
    assert delivery.next_retry_at is not None
    assert delivery.last_attempt_at is not None
    until(lambda: len(receiver.got) == 2, 15)
    assert ended(memory, webhook).attempts == 2


def test_retries_back_off_and_then_end() -> None:
    delivery = WebhookDelivery(
        id="d", bank="b", webhook_id="w", url="http://x", event_type="retain.completed", payload={}
    )
    for attempts in range(1, len(RETRY_AFTER) + 1):
        after = concluded(replace_attempts(delivery, attempts), Sent(error="no route"), NOW)
        assert after.status == "pending"
        assert after.next_retry_at == NOW + RETRY_AFTER[attempts - 1]
    last = concluded(replace_attempts(delivery, len(RETRY_AFTER) + 1), Sent(status=500), NOW)
    assert (last.status, last.next_retry_at, last.payload) == ("failed", None, None)
    refused = concluded(replace_attempts(delivery, 1), Sent(error="private", refused=True), NOW)
    assert refused.status == "failed"
    assert [seconds.total_seconds() for seconds in RETRY_AFTER] == [5, 300, 1800, 7200, 18000]


def replace_attempts(delivery: WebhookDelivery, attempts: int) -> WebhookDelivery:
    from dataclasses import replace

    return replace(delivery, attempts=attempts)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
     "192.0.2.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
     "2002:7f00:1::", "2002:0a00:0001::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2001:db8::1", "fec0::1"],
)  # fmt: skip
def test_a_private_address_is_refused(address: str) -> None:
    assert not is_public(ip_address(address))
    with pytest.raises(AddressRefused):
        pinned_address(
            "https://hook.example/x", allow_private=False, resolve=lambda *_: ["93.184.216.34", address]
        )


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_a_public_address_is_used_as_it_was_looked_up(address: str) -> None:
    assert (
        pinned_address("https://hook.example/x", allow_private=False, resolve=lambda *_: [address]) == address
    )


def test_an_erased_document_leaves_what_is_still_to_be_sent(memory: Perdure, receiver: Receiver) -> None:
    receiver.statuses = [500]
    webhook = memory.webhooks.create("b", receiver.url, event_types=ALL)
    memory.retain("b", "Ann works at Lumen.", document_id="secret-name", tags=["private"])
    until(lambda: memory.webhooks.deliveries("b", webhook.id)[0].last_error)
    memory.forget("b", document_id="secret-name")
    (delivery,) = memory.webhooks.deliveries("b", webhook.id)
    assert delivery.payload is not None
    assert "secret-name" not in json.dumps(delivery.payload)
    assert "private" not in json.dumps(delivery.payload)


def test_a_deleted_webhook_is_told_nothing_more(memory: Perdure, receiver: Receiver) -> None:
    receiver.statuses = [500]
    webhook = memory.webhooks.create("b", receiver.url, event_types=ALL)
    memory.retain("b", "Ann works at Lumen.")
    until(lambda: len(receiver.got) == 1)
    memory.webhooks.delete("b", webhook.id)
    assert (
        memory.records.list("webhook_due", bank="b")
        == memory.records.list("webhook_delivery", bank="b")
        == []
    )
    with pytest.raises(NotFound):
        memory.webhooks.deliveries("b", webhook.id)


def test_rest_makes_changes_lists_and_deletes_webhooks(tmp_path: Path) -> None:
    options = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "require_keys": False}
    with (
        Perdure.open(tmp_path / "m.db", **options) as engine,  # type: ignore[arg-type]
        TestClient(create_app(engine), base_url="http://localhost") as client,
    ):
        base = "/v1/default/banks/b/webhooks"
        for private in (
            "http://127.0.0.1/x",
            "http://localhost:9/x",
            "http://[::1]/",
            "http://169.254.169.254/latest",
        ):
            refused = client.post(base, json={"url": private})
            assert refused.status_code == 400, private
            assert "public" in refused.json()["detail"]
        assert client.post(base, json={"url": "gopher://93.184.216.34/"}).status_code == 400
        created = client.post(base, json={"url": "https://93.184.216.34/hook", "secret": "hush"})
        assert created.status_code == 201
        body = created.json()
        assert (body["secret"], body["event_types"], body["enabled"]) == (
            None,
            ["consolidation.completed"],
            True,
        )
        assert body["http_config"]["timeout_seconds"] == 30
        one = f"{base}/{body['id']}"
        assert client.patch(one, json={}).status_code == 422
        assert client.patch(one, json={"enabled": False}).json()["enabled"] is False
        assert engine.webhooks.list("b")[0].secret == "hush"
        assert client.patch(one, json={"url": "http://10.0.0.1/"}).status_code == 400
        client.patch(one, json={"secret": None})
        assert engine.webhooks.list("b")[0].secret is None
        assert [item["id"] for item in client.get(base).json()["items"]] == [body["id"]]
        assert client.get(f"{one}/deliveries").json() == {"items": [], "next_cursor": None}
        assert client.get(f"{base}/nothing/deliveries").status_code == 404
        assert client.delete(one).json()["success"] is True
        assert client.delete(one).status_code == 404
