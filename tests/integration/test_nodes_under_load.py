"""Nodes that die behind a proxy, and lists of nodes that are changed one node after the other, while others write and read."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from bench.cluster import QUICK, NodeProcess, free_urls
from bench.nodes import token
from perdure import Perdure
from perdure.domain.rendezvous import rendezvous
from perdure.surfaces.keys import create_key
from tests.postgres import new_database

DEPLOY = Path(__file__).resolve().parents[2] / "examples" / "deploy"
HAPROXY = shutil.which("haproxy", path=f"{os.defpath}:/usr/sbin")
BANKS = [f"bank-{number}" for number in range(12)]
BANK_PATH = "/v1/default/banks"


LOGGED = "defaults\n  log global\n  option httplog\n  option dontlog-normal\n"


class Load:
    """Writers and readers, each with a thread, that send to the addresses in `urls`."""

    def __init__(self, urls: Sequence[str], headers: Mapping[str, str]) -> None:
        self._headers = headers
        self.urls = list(urls)
        """Changed while they run."""
        self.acknowledged: list[tuple[str, str]] = []
        """(bank, document)."""
        self.recalls = 0
        self.missed: list[str] = []
        self.refused: Counter[tuple[str, str]] = Counter()
        """(retain or recall, what came instead of an answer) -> how often."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._gave_up = threading.Event()

    @contextmanager
    def running(self, writers: int = 3, readers: int = 3) -> Iterator[None]:
        threads = [threading.Thread(target=self._write, args=(number,)) for number in range(writers)]
        threads += [threading.Thread(target=self._read, args=(number,)) for number in range(readers)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            last = threading.Timer(30, self._gave_up.set)
            last.start()
            for thread in threads:
                thread.join()
            last.cancel()

    def answered(self) -> tuple[int, int]:
        """How many writes and recalls were answered so far."""
        return len(self.acknowledged), self.recalls

    def wait_for_more(self, count: int) -> None:
        """Until so many more writes and recalls were answered."""
        writes, recalls = (one + count for one in self.answered())
        until = time.monotonic() + 120
        while self.answered()[0] < writes or self.answered()[1] < recalls:
            assert time.monotonic() < until, f"{self.answered()}, {self.refused}"
            time.sleep(0.05)

    def _write(self, number: int) -> None:
        for count in itertools.count():
            if self._stop.is_set():
                return
            document, bank = f"{number:02d}{count:06d}", random.choice(BANKS)
            item = {
                "content": f"Visitor {number} saw {token(document)} in the garden on day {count}.",
                "document_id": document,
                "timestamp": "2026-01-02T03:04:05Z",
            }
            # What was begun is sent until it is acknowledged, also at the end.
            while self._post("retain", f"{bank}/memories", {"items": [item]}) is None:
                if self._gave_up.wait(0.05):
                    return
            with self._lock:
                self.acknowledged.append((bank, document))

    def _read(self, number: int) -> None:
        while not self._stop.is_set():
            with self._lock:
                bank, document = random.choice(self.acknowledged[-20:] or [("", "")])
            if not bank:
                time.sleep(0.05)
                continue
            query = {"query": f"Who saw {token(document)}?", "recipe": "fast", "max_tokens": 1000}
            answer = self._post("recall", f"{bank}/memories/recall", query)
            if answer is None:
                continue
            results = answer.json()["results"]
            with self._lock:
                self.recalls += 1
                if all(token(document) not in one["text"] for one in results):
                    self.missed.append(f"{bank} {document}: {len(results)} results")

    def _post(self, kind: str, path: str, body: object) -> httpx.Response | None:
        """The answer; None, and a note, when there is none that can be used."""
        with self._lock:
            url = random.choice(self.urls)
        try:
            answer = httpx.post(
                f"{url}{BANK_PATH}/{path}", json=body, headers=self._headers, timeout=60, trust_env=False
            )
        except httpx.TransportError as error:
            what = type(error).__name__
        else:
            if answer.status_code == 200:
                return answer
            what = str(answer.status_code)
        with self._lock:
            self.refused[kind, what] += 1
        return None


def key_of(database: str) -> dict[str, str]:
    """The header with a new key."""
    with Perdure.open(database, **QUICK) as engine:  # type: ignore[arg-type]
        return {"Authorization": f"Bearer {create_key(engine, scopes=['admin'])[1]}"}


def documents(database: str) -> Counter[tuple[str, str]]:
    """(bank, document) -> how many facts it has."""
    query = "SELECT bank.id, fact.document_id FROM perdure.fact JOIN perdure.bank ON bank.no = fact.bank"
    with psycopg.connect(database) as db:
        return Counter((str(bank), str(document)) for bank, document in db.execute(query.encode()))


def check_kept(load: Load, database: str) -> None:
    """Every acknowledged document has its one fact, and no recall missed one."""
    counts = documents(database)
    assert [one for one in load.acknowledged if counts[one] != 1] == []
    assert [one for one, count in counts.items() if count != 1] == []
    assert load.missed == []


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready", timeout=5, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def haproxy(folder: Path, nodes: Sequence[str]) -> Iterator[str]:
    """The proxy of the example, before these nodes."""
    assert HAPROXY is not None
    proxy = free_urls(1)[0]
    text = (DEPLOY / "haproxy.cfg").read_text().replace("bind :8888", f"bind {proxy.removeprefix('http://')}")
    for name, node in zip(("one", "two", "three"), nodes, strict=True):
        text, replaced = re.subn(rf"(server {name}) {name}:8888", rf"\1 {node.removeprefix('http://')}", text)
        assert replaced == 1
    configuration = folder / "haproxy.cfg"
    configuration.write_text("global\n  log stdout format raw local0\n" + text.replace("defaults\n", LOGGED))
    subprocess.run([HAPROXY, "-c", "-f", configuration], check=True, capture_output=True, timeout=30)
    with (folder / "haproxy.log").open("w") as log:
        running = subprocess.Popen([HAPROXY, "-db", "-f", configuration], stdout=log, stderr=log)
    try:
        until = time.monotonic() + 30
        while not is_ready(proxy):
            assert time.monotonic() < until
            time.sleep(0.1)
        yield proxy
    finally:
        running.terminate()
        running.wait(20)


Start = Callable[[Sequence[str], Sequence[str]], list[NodeProcess]]


@contextmanager
def started(database: str, folder: Path) -> Iterator[Start]:
    """Starts nodes with a list of nodes, and waits until they are ready."""
    numbers = itertools.count()
    with ExitStack() as stack:

        def start(urls: Sequence[str], listed: Sequence[str]) -> list[NodeProcess]:
            nodes = [
                NodeProcess(url, list(listed), database, QUICK, folder / f"{next(numbers)}.log")
                for url in urls
            ]
            for node in nodes:
                stack.callback(node.stop)
                node.start()
            for node in nodes:
                node.wait_until_ready()
            return nodes

        yield start


@pytest.mark.long
@pytest.mark.skipif(HAPROXY is None, reason="needs HAProxy (Debian: apt-get install haproxy)")
def test_callers_behind_the_proxy_of_the_example_notice_little_of_nodes_that_die(tmp_path: Path) -> None:
    urls = free_urls(3)
    with new_database() as database, started(database, tmp_path) as start:
        headers = key_of(database)
        nodes = start(urls, urls)
        with haproxy(tmp_path, urls) as proxy:
            load = Load([proxy], headers)
            with load.running():
                load.wait_for_more(10)
                for node in nodes:
                    node.kill()
                    load.wait_for_more(10)
                    node.start()
                    node.wait_until_ready()
                    time.sleep(2)  # the proxy asks once a second
        print(f"\n{load.answered()} writes and recalls, refused: {dict(load.refused)}")
        check_kept(load, database)
        # Writes under way break, and recalls whose connection was reset; no request that came later does.
        assert set(load.refused) <= {("retain", "502"), ("recall", "502")}
        assert sum(load.refused.values()) <= 6 * len(nodes)


@pytest.mark.long
def test_nodes_are_added_and_taken_away_one_after_the_other_under_load(tmp_path: Path) -> None:
    one, two, three = urls = free_urls(3)
    with new_database() as database, started(database, tmp_path) as start:
        headers = key_of(database)
        first, second = start([one, two], [one, two])
        load = Load([one, two], headers)

        def restart(node: NodeProcess, url: str, listed: Sequence[str]) -> NodeProcess:
            """As a careful operator does it: callers know that the node goes."""
            load.urls.remove(url)
            node.stop()
            (new,) = start([url], listed)
            load.urls.append(url)
            load.wait_for_more(10)
            return new

        with load.running():
            load.wait_for_more(10)
            (third,) = start([three], urls)
            load.urls.append(three)
            load.wait_for_more(10)
            first = restart(first, one, urls)
            second = restart(second, two, urls)
            check_share(urls, joined=three, before=[one, two], headers=headers)
            # Two leaves.
            first = restart(first, one, [one, three])
            third = restart(third, three, [one, three])
            load.urls.remove(two)
            second.stop()
            load.wait_for_more(10)
        print(f"\n{load.answered()} writes and recalls, refused: {dict(load.refused)}")
        check_share([one, three], joined=one, before=[one, three], headers=headers)
        check_kept(load, database)
        # Requests that were under way when their node was stopped; nothing was answered with an error.
        assert all(what in ("ConnectError", "RemoteProtocolError", "ReadError") for _, what in load.refused)


def check_share(
    nodes: Sequence[str], *, joined: str, before: Sequence[str], headers: Mapping[str, str]
) -> None:
    """Each bank is answered by the node that the list names; none moved but to the node that joined."""
    for bank in BANKS:
        owner = rendezvous(bank, nodes)
        assert owner in (joined, rendezvous(bank, before))
        arrived = {node: hops(node, "arrived") for node in nodes}
        for node in nodes:
            answer = httpx.post(
                f"{node}{BANK_PATH}/{bank}/memories/recall",
                json={"query": "Who saw what?"},
                headers=headers,
                timeout=60,
                trust_env=False,
            )
            answer.raise_for_status()
        # Others' recalls go to the owner as well; at least ours do.
        assert hops(owner, "arrived") - arrived[owner] >= len(nodes) - 1


def hops(node: str, name: str) -> int:
    text = httpx.get(f"{node}/metrics", timeout=30, trust_env=False).text
    match = re.search(rf"^perdure_hops_{name}_total (\S+)$", text, re.MULTILINE)
    assert match is not None
    return int(float(match[1]))
