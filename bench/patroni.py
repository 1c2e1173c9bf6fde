"""Perdure under Patroni: `python -m bench.patroni [--rounds 2] [--nodes 0] [--ttl 30]`.

Three members with etcd, commits wait for a standby, `PERDURE_DATABASE` names all three. Writers and readers use Perdure in
this process, or with `--nodes 3` over HTTP. Each round kills the leader (SIGKILL for Patroni and PostgreSQL), brings it back as
a standby, and switches over with `patronictl`. Writers send each document until it is acknowledged; readers ask for one that
was acknowledged before they ask. Prints a table; the exit code is 1 when a fact is missing or doubled, a recall missed one, a
request failed while there was a primary, or failed otherwise than by "no primary answers".
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import httpx

from bench.cluster import QUICK, NodeProcess, free_urls
from bench.nodes import count_facts, token
from bench.patroni_cluster import Member, PatroniCluster
from perdure.engine import Perdure
from perdure.errors import PerdureError, StoreUnreachable
from perdure.surfaces.keys import create_key

WRITERS, READERS, BANKS = 4, 4, 8
QUIET_SECONDS = 8.0
"""Between what is done to the cluster."""
MOMENT = "2026-01-02T03:04:05Z"
"""When all texts were said, so that no fact is preferred for being the newest."""
SLACK = 1.0
"""Seconds around a time without a primary in which a request may still meet it: it is looked for several times a second."""


class Refused(Exception):
    """A request that was not answered; whether it says that no primary answers."""

    def __init__(self, what: str, *, is_unreachable: bool) -> None:
        super().__init__(what)
        self.what, self.is_unreachable = what, is_unreachable


class Caller(Protocol):
    """How Perdure is reached."""

    def retain(self, bank: str, document: str, text: str) -> None:
        """Raises Refused."""

    def recall(self, bank: str, query: str) -> tuple[list[str], str]:
        """The texts of the facts found, and which parts failed; raises Refused."""


class EngineCaller:
    """Perdure in this process."""

    def __init__(self, engine: Perdure) -> None:
        self._engine = engine

    def retain(self, bank: str, document: str, text: str) -> None:
        try:
            self._engine.retain(bank, text, document_id=document, timestamp=MOMENT)
        except PerdureError as error:
            raise _refused(error) from error

    def recall(self, bank: str, query: str) -> tuple[list[str], str]:
        try:
            result = self._engine.recall(bank, query, recipe="fast", max_tokens=1000)
        except PerdureError as error:
            raise _refused(error) from error
        return [one.fact.text for one in result.recollections], str(result.degraded)


def _refused(error: PerdureError) -> Refused:
    return Refused(type(error).__name__, is_unreachable=isinstance(error, StoreUnreachable))


class NodeCaller:
    """Any of several nodes."""

    def __init__(self, urls: list[str], key: str, seed: int) -> None:
        self._urls, self._random = urls, random.Random(seed)
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"}, timeout=httpx.Timeout(120, connect=5), trust_env=False
        )

    def retain(self, bank: str, document: str, text: str) -> None:
        item = {"content": text, "document_id": document, "timestamp": MOMENT}
        self._post(f"{bank}/memories", {"items": [item]})

    def recall(self, bank: str, query: str) -> tuple[list[str], str]:
        answer = self._post(f"{bank}/memories/recall", {"query": query, "recipe": "fast", "max_tokens": 1000})
        return [one["text"] for one in answer.json()["results"]], str(answer.json().get("degraded"))

    def _post(self, path: str, body: object) -> httpx.Response:
        try:
            answer = self._http.post(f"{self._random.choice(self._urls)}/v1/default/banks/{path}", json=body)
        except httpx.TransportError as error:
            raise Refused(type(error).__name__, is_unreachable=False) from error
        if answer.status_code != 200:
            code = answer.text[:100]
            raise Refused(f"{answer.status_code} {code}", is_unreachable=answer.status_code == 503)
        return answer

    def close(self) -> None:
        self._http.close()


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that failed."""

    what: str
    is_unreachable: bool
    began: float
    ended: float


@dataclass(slots=True)
class Tally:
    """What happened, as all threads note it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    acknowledged: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Bank -> documents."""
    acknowledged_at: list[float] = field(default_factory=list)
    recalls: int = 0
    missed: list[tuple[float, str]] = field(default_factory=list)
    """When a recall began that lacked what was acknowledged before, and what it had."""
    failures: list[Failure] = field(default_factory=list)
    without_primary: list[tuple[float, float]] = field(default_factory=list)
    events: list[tuple[str, float, float]] = field(default_factory=list)
    """(what was done, when, when the cluster was whole again)."""
    crashed: list[BaseException] = field(default_factory=list)


def write(caller: Caller, number: int, tally: Tally, stop: threading.Event) -> None:
    chosen = random.Random(number)
    count = 0
    while not stop.is_set():
        document, bank = f"{number:02d}{count:06d}", f"bank-{chosen.randrange(BANKS)}"
        count += 1
        text = f"Visitor {number} saw {token(document)} in the garden on day {count}."
        while not _noted(tally, lambda: caller.retain(bank, document, text)):  # noqa: B023
            time.sleep(0.1)
        with tally.lock:
            tally.acknowledged[bank].append(document)
            tally.acknowledged_at.append(time.monotonic())


def read(caller: Caller, number: int, tally: Tally, stop: threading.Event) -> None:
    chosen = random.Random(1000 + number)
    while not stop.wait(0.02):
        with tally.lock:
            bank = chosen.choice([*tally.acknowledged] or [""])
            documents = tally.acknowledged[bank] if bank else []
            # Every second recall asks for the newest.
            document = (
                documents[-1 if chosen.random() < 0.5 else chosen.randrange(len(documents))]
                if documents
                else ""
            )
        if not document:
            continue
        answers: list[tuple[list[str], str]] = []

        def recall() -> None:
            answers.append(caller.recall(bank, f"Who saw {token(document)}?"))  # noqa: B023

        began = time.monotonic()
        if not _noted(tally, recall):
            continue
        texts, degraded = answers[0]
        with tally.lock:
            tally.recalls += 1
            if all(token(document) not in text for text in texts):
                tally.missed.append(
                    (began, f"{bank} {document}: {len(texts)} results, failed parts: {degraded}")
                )


def _noted(tally: Tally, request: Callable[[], None]) -> bool:
    """Whether it succeeded; a failure is noted."""
    began = time.monotonic()
    try:
        request()
    except Refused as refused:
        with tally.lock:
            tally.failures.append(Failure(refused.what, refused.is_unreachable, began, time.monotonic()))
        return False
    return True


def watch(cluster: PatroniCluster, tally: Tally, stop: threading.Event) -> None:
    """Note the times without a primary."""
    last = time.monotonic()
    lost: float | None = None
    while not stop.wait(0.1):
        if any(member.is_primary() for member in cluster.members):
            if lost is not None:
                with tally.lock:
                    tally.without_primary.append((lost, time.monotonic()))
                lost = None
            last = time.monotonic()
        elif lost is None:
            lost = last


def disturb(cluster: PatroniCluster, tally: Tally, rounds: int) -> None:
    """What is done to the cluster, one thing after the other."""
    standbys = len(cluster.members) - 1

    def noted(what: str, act: Callable[[], object], standbys: int) -> None:
        began = time.monotonic()
        act()
        cluster.wait_for_standbys(standbys)
        with tally.lock:
            tally.events.append((what, began, time.monotonic()))
        time.sleep(QUIET_SECONDS)

    time.sleep(QUIET_SECONDS)
    for _ in range(rounds):
        leader = cluster.leader()

        def kill(leader: Member = leader) -> None:
            leader.kill()
            cluster.leader()  # until the others have noticed, they say that all is well

        noted("leader killed", kill, standbys - 1)
        noted("it rejoined", leader.start, standbys)
        noted("switchover", cluster.switch_over, standbys)


def run(rounds: int, *, nodes: int = 0, ttl: int = 30, loop_wait: int = 10, retry_timeout: int = 10) -> bool:
    """The whole run; whether everything held. Raises Missing."""
    tally, stop = Tally(), threading.Event()
    cluster = PatroniCluster(3, ttl=ttl, loop_wait=loop_wait, retry_timeout=retry_timeout)
    with ExitStack() as stack:
        stack.callback(cluster.remove)
        cluster.start()
        callers = _callers(stack, cluster.url, nodes)
        work = [
            threading.Thread(target=_guarded, args=(tally, target, callers(number), number, tally, stop))
            for target, count in ((write, WRITERS), (read, READERS))
            for number in range(count)
        ]
        work.append(threading.Thread(target=_guarded, args=(tally, watch, cluster, tally, stop)))
        for thread in work:
            thread.start()
        try:
            disturb(cluster, tally, rounds)
        finally:
            stop.set()
            for thread in work:
                thread.join()
        with Perdure.open(cluster.url, **QUICK) as engine:  # type: ignore[arg-type]
            damage = len(engine.database.verify().damage)
        facts = count_facts(cluster.url.replace("/memory", "/memory?application_name=bench"))
        held = report(tally, facts, damage, nodes)
        if not held:
            print(cluster.logs(), file=sys.stderr)
    return held


def _guarded(tally: Tally, target: Callable[..., None], *arguments: object) -> None:
    """A thread that ends by an error ends the run's success."""
    try:
        target(*arguments)
    except BaseException as error:
        with tally.lock:
            tally.crashed.append(error)
        raise


def _callers(stack: ExitStack, database: str, nodes: int) -> Callable[[int], Caller]:
    """The number of a thread -> how it reaches Perdure."""
    if not nodes:
        # Two engines: what one writes the other must find.
        engines = [stack.enter_context(Perdure.open(database, **QUICK)) for _ in range(2)]  # type: ignore[arg-type]
        return lambda number: EngineCaller(engines[number % 2])
    with Perdure.open(database, **QUICK) as engine:  # type: ignore[arg-type]
        _, key = create_key(engine, scopes=["admin"])
    urls = free_urls(nodes)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    for number, url in enumerate(urls):
        node = NodeProcess(url, database, QUICK, folder / f"{number}.log")
        stack.callback(node.stop)
        node.start()
        node.wait_until_ready()

    def connect(number: int) -> NodeCaller:
        caller = NodeCaller(urls, key, number)
        stack.callback(caller.close)
        return caller

    return connect


def report(tally: Tally, facts: dict[str, Counter[str]], damage: int, nodes: int) -> bool:
    documents = [(bank, document) for bank, group in tally.acknowledged.items() for document in group]
    missing = [one for one in documents if not facts[one[0]][one[1]]]
    doubled = [(bank, one) for bank, group in facts.items() for one, count in group.items() if count > 1]
    expected = [one for one in tally.failures if one.is_unreachable and _met(one, tally.without_primary)]
    unexpected = [one for one in tally.failures if one not in expected]
    rows = [
        ("reached", f"{nodes} nodes" if nodes else "in this process"),
        *[(what, _times(tally, began, ended)) for what, began, ended in tally.events],
        ("facts acknowledged", f"{len(documents):,}"),
        ("of these missing, doubled", f"{len(missing)}, {len(doubled)}"),
        ("rows damaged", str(damage)),
        ("recalls answered", f"{tally.recalls:,}"),
        ("of these without a fact acknowledged before", str(len(tally.missed))),
        ("requests that failed without a primary, all `StoreUnreachable` or 503", str(len(expected))),
        ("requests that failed otherwise", str(len(unexpected))),
    ]
    print("| what | |\n| --- | --- |")
    for what, value in rows:
        print(f"| {what} | {value} |")
    for title, group in (("missing", missing), ("doubled", doubled)):
        for one in group[:10]:
            print(f"{title}: {one}")
    for at, what in tally.missed[:10]:
        print(f"missed: {what}; {_nearest(at, tally.without_primary)}")
    for failure in unexpected[:10]:
        print(f"unexpected: {failure.what}, {failure.ended - failure.began:.1f} s,"
              f" {_nearest(failure.began, tally.without_primary)}")  # fmt: skip
    for error in tally.crashed:
        print(f"a thread ended: {error!r}")
    return not (missing or doubled or damage or tally.missed or unexpected or tally.crashed) and bool(
        documents and tally.recalls
    )


def _met(failure: Failure, times: list[tuple[float, float]]) -> bool:
    return any(failure.began < ended + SLACK and failure.ended > began - SLACK for began, ended in times)


def _nearest(moment: float, times: list[tuple[float, float]]) -> str:
    distances = [(abs(moment - ended), moment - ended) for _, ended in times]
    return (
        f"{min(distances)[1]:.1f} s after a primary was back" if distances else "there always was a primary"
    )


def _times(tally: Tally, began: float, ended: float) -> str:
    """Seconds without a primary in this time, the longest pause between acknowledged writes, and until all was whole."""
    without = sum(
        until - lost
        for lost, until in tally.without_primary
        if lost >= began - SLACK and until <= ended + SLACK
    )
    at = [began, *(one for one in sorted(tally.acknowledged_at) if began <= one <= ended + QUIET_SECONDS)]
    pause = max((later - earlier for earlier, later in pairwise(at)), default=0.0)
    return f"no primary for {without:.1f} s, no write acknowledged for {pause:.1f} s, whole after {ended - began:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--nodes", type=int, default=0, help="so many `perdure serve` instead of this process"
    )
    parser.add_argument("--ttl", type=int, default=30, help="Patroni's settings, here its defaults")
    parser.add_argument("--loop-wait", type=int, default=10)
    parser.add_argument("--retry-timeout", type=int, default=10)
    options = parser.parse_args()
    held = run(
        options.rounds, nodes=options.nodes, ttl=options.ttl, loop_wait=options.loop_wait,
        retry_timeout=options.retry_timeout,
    )  # fmt: skip
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
