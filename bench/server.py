"""What the server adds to a recall: in process and over HTTP, one call at a time and 32 at once while one retains.

Run with `python -m bench.server`; `--quick` leaves the models out and shows the server's own share.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from perdure import Perdure, Settings

BANK = "bench"
RECALL = f"/v1/default/banks/{BANK}/memories/recall"
RETAIN = f"/v1/default/banks/{BANK}/memories"
QUICK = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
FIRST = "Alice Bruno Clara Dmitri Elena Farid Greta Hiro Ines Jonas Kira Lars Mina Nils Olga Pavel".split()
LAST = "Abbott Berg Costa Dietrich Evans Fischer Gomez Haas Ito Jensen Kovacs Lindt Moreau Novak".split()
DEEDS = (
    "visited",
    "moved to",
    "opened an office in",
    "gave a talk in",
    "bought a house in",
    "met an old friend in",
)
PLACES = "Zurich Lisbon Kyoto Oslo Nairobi Lima Quebec Tallinn Porto Ghent Turin Bergen Perth Split".split()
WARM_UP = 5


@dataclass(frozen=True)
class Latency:
    """Milliseconds of a series of calls."""

    calls: int
    p50: float
    p95: float
    worst: float

    @staticmethod
    def of(seconds: list[float]) -> Latency:
        """The figures of the durations."""
        ordered = sorted(1000 * s for s in seconds)
        cuts = (
            statistics.quantiles(ordered, n=20, method="inclusive") if len(ordered) > 1 else [ordered[0]] * 19
        )
        return Latency(len(ordered), round(cuts[9], 2), round(cuts[18], 2), round(ordered[-1], 2))


def sentence(rng: random.Random) -> str:
    """A made-up fact."""
    return (
        f"{rng.choice(FIRST)} {rng.choice(LAST)} {rng.choice(DEEDS)} {rng.choice(PLACES)} "
        f"in {rng.randint(1990, 2024)} with {rng.choice(FIRST)}."
    )


def question(rng: random.Random) -> str:
    """A question that made-up facts answer."""
    return (
        f"Who {rng.choice(DEEDS)} {rng.choice(PLACES)}, and was {rng.choice(FIRST)} {rng.choice(LAST)} there?"
    )


def fill(settings: Settings, facts: int) -> None:
    """A bank of made-up facts."""
    rng = random.Random(1)
    with Perdure.open(settings=settings) as engine:
        for start in range(0, facts, 200):
            size = min(200, facts - start)
            engine.retain(
                BANK, [{"content": sentence(rng), "document_id": f"d{start + i}"} for i in range(size)]
            )


def serve_in_child(values: dict[str, Any]) -> None:
    """The server, in a process of its own."""
    from perdure.surfaces.rest.app import serve

    serve(Settings(**values))


@dataclass(frozen=True)
class Memory:
    """A way to the same bank."""

    recall: Callable[[str], object]
    retain: Callable[[str], object]
    cpu: Callable[[], float]
    """Seconds of processor time that the process at work has used."""


def in_process(engine: Perdure) -> Memory:
    """The Python calls."""
    return Memory(
        recall=lambda query: engine.recall(BANK, query, track=False),
        retain=lambda text: engine.retain(BANK, text),
        cpu=time.process_time,
    )


def over_http(client: httpx.Client, server: int) -> Memory:
    """The same calls through the server, answers read as JSON; `server` is its process."""
    process = psutil.Process(server)

    def cpu() -> float:
        used = process.cpu_times()
        return float(used.user + used.system)

    def post(path: str, body: dict[str, Any]) -> object:
        return client.post(path, json=body).raise_for_status().json()

    return Memory(
        recall=lambda query: post(RECALL, {"query": query, "track": False}),
        retain=lambda text: post(RETAIN, {"items": [{"content": text}]}),
        cpu=cpu,
    )


def timed(call: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def by_turns(one: Memory, other: Memory, calls: int) -> tuple[Latency, Latency, float]:
    """Each question to both, so that a busy machine burdens both alike; and the median of what the other adds."""
    rng = random.Random(2)
    for _ in range(WARM_UP):
        one.recall(question(rng)), other.recall(question(rng))
    pairs = []
    for _ in range(calls):
        query = question(rng)
        pairs.append((timed(lambda: one.recall(query)), timed(lambda: other.recall(query))))  # noqa: B023
    added = statistics.median(late - early for early, late in pairs)
    return Latency.of([early for early, _ in pairs]), Latency.of([late for _, late in pairs]), added


def cpu_of(memory: Memory, calls: int) -> float:
    """Milliseconds of processor time a recall, which a busy machine hardly changes."""
    rng = random.Random(3)
    before = memory.cpu()
    for _ in range(calls):
        memory.recall(question(rng))
    return round(1000 * (memory.cpu() - before) / calls, 2)


def under_load(memory: Memory, concurrency: int, seconds: float) -> tuple[Latency, Latency]:
    """Recalls by so many threads at once while another retains; a refused or failed call ends the run."""
    end = time.perf_counter() + seconds

    def repeat(seed: int, call: Callable[[random.Random], object]) -> list[float]:
        rng, took = random.Random(seed), []
        while time.perf_counter() < end:
            took.append(timed(lambda: call(rng)))
        return took

    with ThreadPoolExecutor(concurrency + 1) as pool:
        telling = pool.submit(repeat, 99, lambda rng: memory.retain(sentence(rng)))
        asking = [
            pool.submit(repeat, seed, lambda rng: memory.recall(question(rng))) for seed in range(concurrency)
        ]
        recalls = [duration for one in asking for duration in one.result()]
        return Latency.of(recalls), Latency.of(telling.result())


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(client: httpx.Client) -> None:
    """Until the server answers."""
    for _ in range(1200):
        try:
            client.get("/health").raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures."""
    values: dict[str, Any] = {
        "database": str(folder / "bench.db"),
        "port": free_port(),
        "log_level": "warning",
        "require_keys": False,
        **(QUICK if options.quick else {}),
    }
    settings = Settings(**values)
    fill(settings, options.facts)
    child = multiprocessing.get_context("spawn").Process(target=serve_in_child, args=(values,))
    child.start()
    try:
        limits = httpx.Limits(max_connections=options.concurrency + 8)
        url = f"http://127.0.0.1:{settings.port}"
        with (
            httpx.Client(base_url=url, timeout=300, limits=limits) as client,
            Perdure.open(settings=settings) as engine,
        ):
            wait_until_ready(client)
            figures = compare(in_process(engine), over_http(client, child.pid or 0), options)
    finally:
        child.terminate()
        child.join()
    return {"facts": options.facts, **figures, "graceful_exit_code": child.exitcode}


def compare(direct: Memory, served: Memory, options: argparse.Namespace) -> dict[str, Any]:
    """Rows of latencies, and what HTTP adds to a single call."""
    alone, alone_http, added = by_turns(direct, served, options.calls)
    cpu, cpu_http = cpu_of(direct, options.calls), cpu_of(served, options.calls)
    rows = {"recall, alone": (alone, alone_http)}
    for concurrency in (1, options.concurrency):
        recalls, retains = under_load(direct, concurrency, options.seconds)
        recalls_http, retains_http = under_load(served, concurrency, options.seconds)
        rows[f"recall, {concurrency} at once and a writer"] = (recalls, recalls_http)
        rows[f"retain beside {concurrency} at once"] = (retains, retains_http)
    return {
        "added_ms_p50": round(1000 * added, 2),
        "cpu_ms": {"in_process": cpu, "server": cpu_http},
        "rows": [
            {"what": what, "in_process": asdict(one), "http": asdict(other)}
            for what, (one, other) in rows.items()
        ],
    }


def show(figures: dict[str, Any]) -> None:
    """The figures as a table."""
    print(f"{figures['facts']} facts; milliseconds")
    print(f"{'':36}{'in process':^27}{'over HTTP':^27}")
    print(f"{'':36}" + f"{'calls':>7}{'p50':>10}{'p95':>10}" * 2)
    for row in figures["rows"]:
        cells = "".join(
            f"{row[way]['calls']:>7}{row[way]['p50']:>10}{row[way]['p95']:>10}"
            for way in ("in_process", "http")
        )
        print(f"{row['what']:36}{cells}")
    cpu = figures["cpu_ms"]
    print(
        f"HTTP adds to a recall, asked by turns: {figures['added_ms_p50']} ms (p50, reading the answer included)"
    )
    print(f"processor time a recall: in process {cpu['in_process']} ms, in the server {cpu['server']} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each stretch under load")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--quick", action="store_true", help="no models: the server's own share")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(options, Path(folder))
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        show(figures)


if __name__ == "__main__":
    main()
