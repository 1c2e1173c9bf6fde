"""How the server answers: alone, and under 32 concurrent recalls while it retains; against the in-process call.

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
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from perdure import Perdure, Settings

BANK = "bench"
RECALL = f"/v1/default/banks/{BANK}/memories/recall"
RETAIN = f"/v1/default/banks/{BANK}/memories"
QUICK = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
FIRST = [
    "Alice",
    "Bruno",
    "Clara",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hiro",
    "Ines",
    "Jonas",
    "Kira",
    "Lars",
    "Mina",
    "Nils",
    "Olga",
    "Pavel",
]
LAST = [
    "Abbott",
    "Berg",
    "Costa",
    "Dietrich",
    "Evans",
    "Fischer",
    "Gomez",
    "Haas",
    "Ito",
    "Jensen",
    "Kovacs",
    "Lindt",
    "Moreau",
    "Novak",
]
DEEDS = [
    "visited",
    "moved to",
    "opened an office in",
    "gave a talk in",
    "bought a house in",
    "met an old friend in",
]
PLACES = [
    "Zurich",
    "Lisbon",
    "Kyoto",
    "Oslo",
    "Nairobi",
    "Lima",
    "Quebec",
    "Tallinn",
    "Porto",
    "Ghent",
    "Turin",
    "Bergen",
    "Perth",
    "Split",
]


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
    from perdure.surfaces.rest.serve import serve

    serve(Settings(**values))


def timed(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def alone(settings: Settings, calls: int) -> Latency:
    """The in-process call, one after another; the first few only warm up."""
    rng = random.Random(2)
    with Perdure.open(settings=settings) as engine:
        for _ in range(5):
            engine.recall(BANK, question(rng))
        return Latency.of([timed(lambda: engine.recall(BANK, question(rng))) for _ in range(calls)])


def over_http(client: httpx.Client, calls: int) -> Latency:
    """The same calls over HTTP, one after another."""
    rng = random.Random(2)
    for _ in range(5):
        client.post(RECALL, json={"query": question(rng)}).raise_for_status()
    return Latency.of(
        [
            timed(lambda: client.post(RECALL, json={"query": question(rng)}).raise_for_status())
            for _ in range(calls)
        ]
    )


def under_load(client: httpx.Client, concurrency: int, seconds: float) -> tuple[Latency, Latency, int]:
    """Recalls from many clients at once while one retains; how many were refused or failed."""
    end = time.perf_counter() + seconds
    failed = 0
    lock = threading.Lock()

    def ask(seed: int) -> list[float]:
        nonlocal failed
        rng, took = random.Random(seed), []
        while time.perf_counter() < end:
            started = time.perf_counter()
            status = client.post(RECALL, json={"query": question(rng)}).status_code
            took.append(time.perf_counter() - started)
            if status != 200:
                with lock:
                    failed += 1
        return took

    def tell() -> list[float]:
        rng, took = random.Random(99), []
        while time.perf_counter() < end:
            body = {"items": [{"content": sentence(rng)}]}
            started = time.perf_counter()
            client.post(RETAIN, json=body).raise_for_status()
            took.append(time.perf_counter() - started)
        return took

    with ThreadPoolExecutor(concurrency + 1) as pool:
        telling = pool.submit(tell)
        asking = [pool.submit(ask, seed) for seed in range(concurrency)]
        recalls = [duration for one in asking for duration in one.result()]
        return Latency.of(recalls), Latency.of(telling.result()), failed


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
        **(QUICK if options.quick else {}),
    }
    settings = Settings(**values)
    fill(settings, options.facts)
    process_only = alone(settings, options.calls)
    child = multiprocessing.get_context("spawn").Process(target=serve_in_child, args=(values,))
    child.start()
    try:
        limits = httpx.Limits(max_connections=options.concurrency + 8)
        url = f"http://127.0.0.1:{settings.port}"
        with httpx.Client(base_url=url, timeout=300, limits=limits) as client:
            wait_until_ready(client)
            single = over_http(client, options.calls)
            loaded, retains, failed = under_load(client, options.concurrency, options.seconds)
    finally:
        child.terminate()
        child.join()
    return {
        "facts": options.facts,
        "concurrency": options.concurrency,
        "in_process": asdict(process_only),
        "http_single": asdict(single),
        "overhead_ms_p50": round(single.p50 - process_only.p50, 2),
        "http_concurrent_recall": asdict(loaded),
        "http_concurrent_retain": asdict(retains),
        "recalls_per_second": round(loaded.calls / options.seconds, 1),
        "failed": failed,
        "graceful_exit_code": child.exitcode,
    }


def show(figures: dict[str, Any]) -> None:
    """The figures as a table."""
    print(f"{figures['facts']} facts, {figures['concurrency']} concurrent recalls, one writer")
    print(f"{'':28}{'calls':>7}{'p50 ms':>10}{'p95 ms':>10}{'worst ms':>10}")
    for name, label in (
        ("in_process", "in process, one by one"),
        ("http_single", "HTTP, one by one"),
        ("http_concurrent_recall", "HTTP, recalls under load"),
        ("http_concurrent_retain", "HTTP, retains under load"),
    ):
        row = figures[name]
        print(f"{label:28}{row['calls']:>7}{row['p50']:>10}{row['p95']:>10}{row['worst']:>10}")
    print(f"overhead of HTTP at p50: {figures['overhead_ms_p50']} ms")
    print(f"recalls a second under load: {figures['recalls_per_second']}; failed: {figures['failed']}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
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
