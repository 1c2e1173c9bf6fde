"""Nodes and primaries that die while others write and read: `python -m bench.nodes [--seconds 600] [--seed 1]`.

Three nodes (`perdure serve`) on one database, a PostgreSQL primary with a standby for which commits wait, 8 writers and 8 readers over HTTP.
Every 30 seconds a node is killed (SIGKILL) and started again; at a third and at two thirds of the time the primary is killed
and the standby promoted. Writers send each document until it is acknowledged, to any node; readers ask any node for a document
that was acknowledged before they ask. Prints a table; the exit code is 1 when a fact is missing or doubled, a recall missed
one, a request failed that met neither a dead node nor the time without a primary, or one was answered with an error of the
server other than 503, whose body and trace are then printed.

`python -m bench.nodes --figures` measures instead (`bench.node_figures`).
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg

from bench.cluster import QUICK, NodeProcess, Pair, free_urls
from bench.node_figures import figures as measure
from perdure.engine import Perdure
from perdure.surfaces.keys import create_key

NODES, WRITERS, READERS, BANKS = 3, 8, 8, 12
KILL_EVERY = 30.0
DOWN_SECONDS = 3.0
"""From the death of a node to its next start."""
SLACK = 1.0
"""Seconds after a primary or a node is back in which a request that it failed may still end."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which requests may fail: a node is dead (its URL), or there is no primary (empty)."""

    of: str
    began: float
    ended: float


@dataclass(slots=True)
class Tally:
    """What happened, as all threads note it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    acknowledged: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Bank -> documents."""
    writes: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    """Seconds of each that succeeded at the first attempt."""
    retries: Counter[str] = field(default_factory=Counter)
    """What failed -> how often, where it had to be expected."""
    missed: list[str] = field(default_factory=list)
    """Recalls without a document that was acknowledged before."""
    unexpected: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Answers of 500 and above other than 503, with their bodies."""
    outages: list[Outage] = field(default_factory=list)
    failures: list[tuple[str, str, float, float]] = field(default_factory=list)
    """(node, what, began, ended) of every request that failed."""


class Client:
    """Sends requests to one node after the other until one of them answers."""

    def __init__(self, urls: list[str], key: str, tally: Tally, seed: int) -> None:
        self._urls, self._tally = urls, tally
        self._random = random.Random(seed)
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"}, timeout=httpx.Timeout(60, connect=2), trust_env=False
        )

    def post(self, path: str, body: object, stop: threading.Event) -> tuple[dict[str, object], float] | None:
        """The answer and how long it took at the first attempt; None when the time is over before there is one."""
        url = self._random.choice(self._urls)
        first = True
        while True:
            began = time.monotonic()
            answer = None
            try:
                answer = self._http.post(url + path, json=body)
                if answer.status_code == 200:
                    taken = time.monotonic() - began if first else 0.0
                    return dict(answer.json()), taken
                what = f"{answer.status_code} {_code(answer)}"
            except httpx.TransportError as error:
                what = type(error).__name__
            with self._tally.lock:
                self._tally.failures.append((url, what, began, time.monotonic()))
                if (
                    isinstance(answer, httpx.Response)
                    and answer.status_code >= 500
                    and answer.status_code != 503
                ):
                    self._tally.broken.append(f"{url}{path}: {answer.status_code} {answer.text[:2000]}")
            if stop.wait(0.2):
                return None
            first = False
            url = self._random.choice([one for one in self._urls if one != url])

    def close(self) -> None:
        self._http.close()


def _code(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:80]


def token(document: str) -> str:
    """A word that only this document has."""
    return "zebra" + "".join(chr(ord("a") + int(digit)) for digit in document if digit.isdigit()) + "q"


def write(client: Client, number: int, tally: Tally, stop: threading.Event, gave_up: threading.Event) -> None:
    chosen = random.Random(number)
    count = 0
    while not stop.is_set():
        document, bank = f"{number:02d}{count:06d}", f"bank-{chosen.randrange(BANKS)}"
        count += 1
        text = f"Visitor {number} saw {token(document)} in the garden on day {count}."
        item = {"content": text, "document_id": document, "timestamp": "2026-01-02T03:04:05Z"}
        # What was begun is sent until it is acknowledged, also after the time.
        answer = client.post(f"/v1/default/banks/{bank}/memories", {"items": [item]}, gave_up)
        if answer is None:
            return
        with tally.lock:
            tally.acknowledged[bank].append(document)
            if answer[1]:
                tally.writes.append(answer[1])
    client.close()


def read(client: Client, number: int, tally: Tally, stop: threading.Event, gave_up: threading.Event) -> None:
    chosen = random.Random(1000 + number)
    while not stop.is_set():
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
            stop.wait(0.05)
            continue
        body = {"query": f"Who saw {token(document)}?", "recipe": "fast", "max_tokens": 1000}
        answer = client.post(f"/v1/default/banks/{bank}/memories/recall", body, gave_up)
        if answer is None:
            return
        results = answer[0]["results"]
        assert isinstance(results, list)
        with tally.lock:
            if answer[1]:
                tally.recalls.append(answer[1])
            if all(token(document) not in one["text"] for one in results):
                tally.missed.append(f"{bank} {document}: {len(results)} results, {answer[0].get('degraded')}")
    client.close()


def kill_nodes(nodes: list[NodeProcess], tally: Tally, stop: threading.Event, every: float) -> None:
    number, due = 0, time.monotonic() + every
    while not stop.wait(max(0.0, due - time.monotonic())):
        node = nodes[number % len(nodes)]
        number, due = number + 1, due + every
        began = time.monotonic()
        node.kill()
        time.sleep(DOWN_SECONDS)
        node.start()
        node.wait_until_ready()
        with tally.lock:
            tally.outages.append(Outage(node.url, began, time.monotonic()))


def kill_primaries(pair: Pair, tally: Tally, stop: threading.Event, seconds: float) -> None:
    for _ in range(2):
        if stop.wait(seconds / 3):
            return
        began, ended = pair.fail_over()
        with tally.lock:
            tally.outages.append(Outage("", began, ended))
        pair.mend()


def judge_failures(tally: Tally) -> None:
    """Each failure is expected where its request met an outage of its node or of the primary; or else it is not."""
    for node, what, began, ended in tally.failures:
        if any(
            outage.of in (node, "") and began < outage.ended + SLACK and ended > outage.began
            for outage in tally.outages
        ):
            tally.retries[what] += 1
        else:
            tally.unexpected.append(f"{node}: {what} after {ended - began:.1f} s")


def count_facts(url: str) -> dict[str, Counter[str]]:
    """Bank -> document -> how many facts it has, by the tables themselves."""
    query = (
        "SELECT bank.id, fact.document_id, count(*) FROM perdure.fact JOIN perdure.bank ON bank.no = fact.bank"
        " GROUP BY 1, 2"
    )
    facts: dict[str, Counter[str]] = defaultdict(Counter)
    with closing(psycopg.connect(url + "&target_session_attrs=read-write")) as db:
        for bank, document, count in db.execute(query.encode()):
            facts[bank][document] = count
    return facts


def run(seconds: float, *, seed: int = 1, kill_every: float = KILL_EVERY, fail_overs: bool = True) -> bool:
    """The whole run; whether everything held."""
    tally, stop, gave_up = Tally(), threading.Event(), threading.Event()
    pair = Pair()
    nodes: list[NodeProcess] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Perdure.open(pair.url, **QUICK) as engine:  # type: ignore[arg-type]
                _, key = create_key(engine, scopes=["admin"])
            urls = free_urls(NODES)
            nodes = [
                NodeProcess(url, pair.url, QUICK, Path(folder) / f"{n}.log") for n, url in enumerate(urls)
            ]
            for node in nodes:
                node.start()
            for node in nodes:
                node.wait_until_ready()
            work = [
                threading.Thread(
                    target=target,
                    args=(Client(urls, key, tally, seed + number), number, tally, stop, gave_up),
                )
                for target, count in ((write, WRITERS), (read, READERS))
                for number in range(count)
            ]
            trouble = [threading.Thread(target=kill_nodes, args=(nodes, tally, stop, kill_every))]
            if fail_overs:
                trouble.append(threading.Thread(target=kill_primaries, args=(pair, tally, stop, seconds)))
            for thread in (*work, *trouble):
                thread.start()
            time.sleep(seconds)
            stop.set()
            for thread in trouble:
                thread.join()
            last = threading.Timer(60, gave_up.set)
            last.start()
            for thread in work:
                thread.join()
            last.cancel()
            with Perdure.open(pair.url, **QUICK) as engine:  # type: ignore[arg-type]
                damage = len(engine.database.verify().damage)
            facts = count_facts(pair.url)
            judge_failures(tally)
            logs = "".join((Path(folder) / f"{number}.log").read_text() for number in range(NODES))
        finally:
            for node in nodes:
                node.stop()
            pair.remove()
    return report(tally, facts, damage, logs, seconds)


def report(
    tally: Tally,
    facts: dict[str, Counter[str]],
    damage: int,
    logs: str,
    seconds: float,
) -> bool:
    documents = [(bank, document) for bank, group in tally.acknowledged.items() for document in group]
    missing = [one for one in documents if not facts[one[0]][one[1]]]
    doubled = [(bank, one) for bank, group in facts.items() for one, count in group.items() if count > 1]
    without_primary = [one.ended - one.began for one in tally.outages if not one.of]
    rows = [
        ("seconds", f"{seconds:.0f}"),
        ("nodes killed", str(sum(1 for one in tally.outages if one.of))),
        ("primaries killed", f"{len(without_primary)}, away for {', '.join(f'{one:.1f} s' for one in without_primary)}"),
        ("facts acknowledged", f"{len(documents):,}"),
        ("of these missing", str(len(missing))),
        ("doubled", str(len(doubled))),
        ("rows damaged", str(damage)),
        ("recalls answered", f"{len(tally.recalls):,}"),
        ("of these without a fact acknowledged before", str(len(tally.missed))),
        ("requests that failed, of a dead node or without a primary, and were sent again", str(sum(tally.retries.values()))),
        ("requests that failed otherwise", str(len(tally.unexpected))),
        ("retain, ms", _times(tally.writes)),
        ("recall, ms", _times(tally.recalls)),
    ]  # fmt: skip
    print("| what | |\n| --- | --- |")
    for what, value in rows:
        print(f"| {what} | {value} |")
    print("\nfailed and sent again:", dict(tally.retries))
    for title, group in (
        ("missing", missing), ("doubled", doubled), ("missed", tally.missed), ("unexpected", tally.unexpected),
        ("broken", tally.broken),
    ):  # fmt: skip
        for one in group[:10]:
            print(f"{title}: {one}")
    if tally.unexpected or tally.broken:
        print(logs[-4000:], file=sys.stderr)
    for trace in traces(logs)[:20]:
        print(trace, file=sys.stderr)
    return not (missing or doubled or damage or tally.missed or tally.unexpected or tally.broken) and bool(
        documents and tally.recalls
    )


def traces(logs: str) -> list[str]:
    """The different traces of the nodes' logs, each with the lines before it; the rest of one that repeats is left out."""
    parts = logs.split("Traceback (most recent call last)")
    told: dict[str, str] = {}
    for before, trace in itertools.pairwise(parts):
        lines = trace.splitlines()
        ends = next(
            (n for n, line in enumerate(lines[1:], 1) if line and not line.startswith(" ")), len(lines)
        )
        body = "\n".join(lines[: ends + 1])
        told.setdefault(body, f"{before[-500:]}Traceback{body}")
    return list(told.values())


def _times(seconds: list[float]) -> str:
    ordered = sorted(one * 1000 for one in seconds) or [0.0]
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"p50 {statistics.median(ordered):.0f}, p95 {p95:.0f}, longest {ordered[-1]:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--kill-every", type=float, default=KILL_EVERY)
    parser.add_argument("--seed", type=int, default=1)
    figures = parser.add_argument_group("figures")
    figures.add_argument("--figures", action="store_true", help="measure instead")
    figures.add_argument("--facts", type=int, default=100_000)
    figures.add_argument("--banks", type=int, default=50)
    figures.add_argument("--queries", type=int, default=100)
    figures.add_argument("--singles", type=int, default=20, help="texts that are retained and recalled")
    figures.add_argument("--keep", help="a folder where the filled file stays for the next time")
    figures.add_argument("--url", help="a PostgreSQL database, empty or with that file's banks")
    figures.add_argument(
        "--no-served-file", action="store_true", help="leave out the file behind `perdure serve`"
    )
    options = parser.parse_args()
    if options.figures:
        measure(
            options.facts, options.banks, options.queries, options.singles, options.keep,
            url=options.url, serve_file=not options.no_served_file,
        )  # fmt: skip
        return
    sys.exit(0 if run(options.seconds, seed=options.seed, kill_every=options.kill_every) else 1)


if __name__ == "__main__":
    main()
