"""Servers on one database: recalls of a bank are answered by its owner, or by whoever is asked when that one is gone."""

from __future__ import annotations

import logging
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from perdure import Perdure
from perdure.domain.rendezvous import rendezvous
from perdure.surfaces.keys import create_key
from perdure.surfaces.mcp.http import mount
from perdure.surfaces.nodes import forward
from tests.integration.rest_server import QUICK, running
from tests.postgres import new_database

BANKS = "/v1/default/banks"


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


@dataclass
class Cluster:
    """Servers in threads of this process, each with an engine of its own."""

    database: str
    urls: list[str]
    overrides: dict[str, Any]

    @contextmanager
    def node(self, number: int) -> Iterator[str]:
        """One of them, while the block runs."""
        url = self.urls[number]
        with Perdure.open(self.database, **QUICK) as engine:

            def with_mcp(app: Any) -> None:
                mount(app, app.state.service.engine, app.state.service.workers, engine.settings)

            port = int(url.rpartition(":")[2])
            nodes = ",".join(self.urls)
            with running(engine, extend=with_mcp, port=port, nodes=nodes, **self.overrides):
                yield url

    @contextmanager
    def all_nodes(self) -> Iterator[None]:
        with ExitStack() as stack:
            for number in range(len(self.urls)):
                stack.enter_context(self.node(number))
            yield

    def bank_of(self, number: int, also: str = "") -> str:
        """A bank that this node owns."""
        names = (f"bank{also}-{one}" for one in range(1000))
        return next(name for name in names if rendezvous(name, self.urls) == self.urls[number])


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with new_database() as url:
        urls = [f"http://127.0.0.1:{port}" for port in free_ports(2)]
        yield Cluster(url, urls, getattr(request, "param", {}))


def retain(url: str, bank: str, text: str, **headers: str) -> None:
    body = {"items": [{"content": text}]}
    httpx.post(f"{url}{BANKS}/{bank}/memories", json=body, headers=headers, timeout=30).raise_for_status()


def ask(url: str, bank: str, query: str, path: str = "memories/recall", **headers: str) -> httpx.Response:
    return httpx.post(f"{url}{BANKS}/{bank}/{path}", json={"query": query}, headers=headers, timeout=30)


def texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["text"] for one in answer.json()["results"]]


def metric(url: str, name: str) -> float:
    match = re.search(rf"^perdure_{name} (\S+)$", httpx.get(f"{url}/metrics", timeout=30).text, re.MULTILINE)
    assert match is not None, name
    return float(match[1])


def test_a_recall_is_answered_by_the_owner_of_its_bank_whoever_is_asked(cluster: Cluster) -> None:
    first, second = cluster.urls
    with cluster.all_nodes():
        bank = cluster.bank_of(1)
        retain(first, bank, "Ann keeps bees in Leeds.")
        passed_on = ask(first, bank, "What does Ann keep?")
        assert any("bees" in text for text in texts(passed_on))
        assert texts(ask(second, bank, "What does Ann keep?")) == texts(passed_on)
        assert passed_on.headers["content-type"] == "application/json"
        reflected = ask(first, bank, "What does Ann keep?", "reflect").json()
        assert "bees" in reflected["text"]
        assert metric(first, "hops_passed_on_total") == 2
        assert metric(first, "hops_arrived_total") == 0
        assert metric(second, "hops_arrived_total") == 2
        assert metric(second, "hops_passed_on_total") == 0
        assert metric(second, "index_banks") == 1
        assert metric(second, "index_bytes") > 0
        assert metric(second, "index_misses_total") == 1
        assert metric(second, "index_hits_total") >= 1
        assert 'path="/v1/default/banks/{bank_id}/memories/recall"' in httpx.get(f"{first}/metrics").text
        # What the other node has written is there at once.
        for number in range(5):
            retain(first if number % 2 else second, bank, f"Ann bought hive number {number}.")
            assert any(
                f"number {number}." in text for text in texts(ask(first, bank, f"hive number {number}"))
            )
        wrong = httpx.post(f"{first}{BANKS}/{bank}/memories/recall", json={"budget": "mid"}, timeout=30)
        assert wrong.status_code == 422
        assert metric(first, "hops_passed_on_total") == 8


def test_what_was_passed_on_is_not_passed_on_again(cluster: Cluster) -> None:
    with cluster.all_nodes():
        bank = cluster.bank_of(1)
        retain(cluster.urls[0], bank, "Ann keeps bees in Leeds.")
        answer = ask(cluster.urls[0], bank, "What does Ann keep?", **{"Perdure-Hop": "http://other:1"})
        assert any("bees" in text for text in texts(answer))
        assert metric(cluster.urls[0], "hops_arrived_total") == 1
        assert metric(cluster.urls[0], "hops_passed_on_total") == 0


def test_the_banks_of_a_node_that_is_gone_are_answered_by_others_until_it_is_back(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward, "ABSENT_SECONDS", 0.2)
    bank = cluster.bank_of(1)
    with cluster.node(0) as url:
        with cluster.node(1):
            retain(url, bank, "Ann keeps bees in Leeds.")
            ask(url, bank, "What does Ann keep?").raise_for_status()
        with caplog.at_level(logging.WARNING, "perdure.nodes"):
            for _ in range(3):
                assert any("bees" in text for text in texts(ask(url, bank, "What does Ann keep?")))
        assert f"node {cluster.urls[1]} does not answer" in caplog.text
        assert metric(url, "hops_answered_for_absent_owner_total") == 3
        with cluster.node(1):
            threading.Event().wait(0.3)
            ask(url, bank, "What does Ann keep?").raise_for_status()
            assert metric(url, "hops_passed_on_total") == 2
            assert "answers again" in caplog.text


def test_an_owner_that_hangs_is_waited_for_no_longer_than_its_deadline(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward, "ANSWER_SECONDS", 0.3)
    bank = cluster.bank_of(1)
    with closing(socket.socket()) as silent, cluster.node(0) as url:
        silent.bind(("127.0.0.1", int(cluster.urls[1].rpartition(":")[2])))
        silent.listen()
        retain(url, bank, "Ann keeps bees in Leeds.")
        answer = ask(url, bank, "What does Ann keep?")
        assert any("bees" in text for text in texts(answer))
        assert metric(url, "hops_answered_for_absent_owner_total") == 1


@pytest.mark.parametrize("cluster", [{"require_keys": True}], indirect=True)
def test_the_key_goes_along_and_the_owner_checks_it(cluster: Cluster) -> None:
    own, other = cluster.bank_of(1), cluster.bank_of(1, "x")
    with Perdure.open(cluster.database, **QUICK) as engine:
        _, text = create_key(engine, banks=[own])
        engine.retain(other, "Bob keeps ants.")
    key = {"Authorization": f"Bearer {text}"}
    with cluster.all_nodes():
        url = cluster.urls[0]
        retain(url, own, "Ann keeps bees in Leeds.", **key)
        assert any("bees" in text for text in texts(ask(url, own, "What does Ann keep?", **key)))
        refused = ask(url, other, "What does Bob keep?", **key)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
        assert metric(url, "hops_passed_on_total") == 2
        assert ask(url, own, "What does Ann keep?").status_code == 401
        assert metric(cluster.urls[1], "hops_arrived_total") == 2


def test_an_alias_leads_to_the_owner_of_its_bank(cluster: Cluster) -> None:
    with cluster.all_nodes():
        url, bank = cluster.urls[0], cluster.bank_of(1)
        retain(url, bank, "Ann keeps bees in Leeds.")
        alias = cluster.bank_of(0, "-alias")
        created = httpx.post(f"{url}{BANKS}/{bank}/aliases", json={"alias": alias}, timeout=30)
        created.raise_for_status()
        assert any("bees" in text for text in texts(ask(url, alias, "What does Ann keep?")))
        assert metric(cluster.urls[1], "hops_arrived_total") == 1


def test_recalls_over_mcp_are_passed_on_too(cluster: Cluster) -> None:
    def call(path: str, name: str, **arguments: str) -> str:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        headers = {"Accept": "application/json, text/event-stream"}
        answer = httpx.post(f"{cluster.urls[0]}{path}", json=message, headers=headers, timeout=30)
        answer.raise_for_status()
        return str(answer.json()["result"]["content"][0]["text"])

    with cluster.all_nodes():
        bank = cluster.bank_of(1)
        retain(cluster.urls[0], bank, "Ann keeps bees in Leeds.")
        assert "bees" in call("/mcp", "recall", query="What does Ann keep?", bank=bank, precision="search")
        assert "bees" in call(f"/mcp/{bank}", "reflect", query="What does Ann keep?")
        assert metric(cluster.urls[1], "hops_arrived_total") == 2
        call("/mcp", "retain", content="Ann keeps a cat.", bank=bank)
        assert metric(cluster.urls[1], "hops_arrived_total") == 2
