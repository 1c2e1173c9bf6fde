"""A server under load: recalls and retains of 1, 8, 32 and 64 clients, two banks, and one recall beside 64 retains.

Run with `python -m bench.load`; `--quick` leaves the models out; `--source FOLDER` serves another tree's code (`FOLDER/src`), for
figures of before and after. Clients that get 429 come back when `Retry-After` says so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from bench.server import QUICK, free_port, question, sentence

BANKS = ("one", "two")
CLIENTS = (1, 8, 32, 64)
RECALL_SHARE = 0.5
FLOOD = 64
TIMEOUT = 300.0
WARM_UP = 5


@dataclass
class Calls:
    """What became of the calls of one sort."""

    seconds: list[float] = field(default_factory=list)
    """Of answers 200."""
    told: list[float] = field(default_factory=list)
    """Of answers 429: how long it took to say so."""
    failed: int = 0

    def figures(self) -> dict[str, Any]:
        ordered = sorted(1000 * seconds for seconds in self.seconds)
        shown = {"answered": len(ordered), "429": len(self.told), "failed": self.failed}
        if not ordered:
            return shown
        return {
            **shown,
            "p50": round(statistics.median(ordered), 1),
            "p99": round(percentile(ordered, 0.99), 1),
            "worst": round(max(ordered[-1], *(1000 * seconds for seconds in self.told), 0.0), 1),
        }


def percentile(ordered: list[float], share: float) -> float:
    """The value that this share of the ordered ones does not exceed (nearest rank)."""
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))]


def fairness(counts: list[int]) -> float:
    """Jain's index: 1 when all had the same, 1/n when one had everything (Jain, Chiu and Hawe 1984)."""
    squares = sum(count * count for count in counts)
    return sum(counts) ** 2 / (len(counts) * squares) if squares else 1.0


class Client:
    """One caller of one bank, which waits for each answer before it asks again."""

    def __init__(self, http: httpx.AsyncClient, number: int) -> None:
        self._http, self.bank = http, BANKS[number % len(BANKS)]
        self._rng = random.Random(number)
        self.calls = {"recall": Calls(), "retain": Calls()}

    @property
    def answered(self) -> int:
        return sum(len(calls.seconds) for calls in self.calls.values())

    async def work(self, until: float, recall_share: float) -> None:
        while time.perf_counter() < until:
            sort = "recall" if self._rng.random() < recall_share else "retain"
            pause = await self.call(sort)
            if pause:
                await asyncio.sleep(min(pause, max(0.0, until - time.perf_counter())))

    async def call(self, sort: str) -> float:
        """One call; returns how long to stay away."""
        path = f"/v1/default/banks/{self.bank}/memories"
        if sort == "recall":
            path, body = f"{path}/recall", {"query": question(self._rng), "track": False}
        else:
            body = {"items": [{"content": sentence(self._rng)}]}
        calls, began = self.calls[sort], time.perf_counter()
        try:
            answer = await self._http.post(path, json=body)
        except httpx.HTTPError:
            calls.failed += 1
            return 0.1
        took = time.perf_counter() - began
        if answer.status_code == 200:
            calls.seconds.append(took)
            return 0.0
        if answer.status_code == 429:
            calls.told.append(took)
            return float(answer.headers["Retry-After"])
        calls.failed += 1
        return 0.1


def merged(clients: list[Client], sort: str) -> Calls:
    every = [client.calls[sort] for client in clients]
    return Calls(
        [seconds for calls in every for seconds in calls.seconds],
        [seconds for calls in every for seconds in calls.told],
        sum(calls.failed for calls in every),
    )


async def stretch(url: str, count: int, seconds: float) -> dict[str, Any]:
    """So many clients for so long."""
    limits = httpx.Limits(max_connections=count + 8)
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT, limits=limits) as http:
        clients = [Client(http, number) for number in range(count)]
        until = time.perf_counter() + seconds
        await asyncio.gather(*(client.work(until, RECALL_SHARE) for client in clients))
    per_bank = [sum(client.answered for client in clients if client.bank == bank) for bank in BANKS]
    return {
        "clients": count,
        "recall": merged(clients, "recall").figures(),
        "retain": merged(clients, "retain").figures(),
        "fairness": {
            "clients": round(fairness([client.answered for client in clients]), 2),
            "banks": round(fairness(per_bank), 2) if count > 1 else 1.0,
        },
    }


async def flood(url: str, seconds: float) -> dict[str, Any]:
    """One client that recalls from one bank while many retain into the other."""
    limits = httpx.Limits(max_connections=FLOOD + 8)
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT, limits=limits) as http:
        reader = Client(http, 0)
        writers = [Client(http, 2 * number + 1) for number in range(FLOOD)]
        for _ in range(WARM_UP):
            await reader.call("recall")
        alone, reader.calls["recall"] = reader.calls["recall"], Calls()
        until = time.perf_counter() + seconds
        await asyncio.gather(reader.work(until, 1.0), *(writer.work(until, 0.0) for writer in writers))
    return {
        "alone": alone.figures(),
        "beside": reader.calls["recall"].figures(),
        "retain": merged(writers, "retain").figures(),
    }


def serve(folder: Path, options: argparse.Namespace) -> tuple[subprocess.Popen[bytes], str]:
    """A server process of the chosen tree."""
    port = free_port()
    own = {"database": str(folder / "load.db"), "require_keys": "false", **(QUICK if options.quick else {})}
    environment = {f"PERDURE_{name.upper()}": value for name, value in own.items()}
    environment["PYTHONPATH"] = str(Path(options.source).resolve() / "src")
    process = subprocess.Popen(
        [sys.executable, "-m", "perdure.surfaces.cli.main", "serve", "--port", str(port)],
        env={**os.environ, **environment},
        stderr=subprocess.DEVNULL,
    )
    return process, f"http://127.0.0.1:{port}"


def fill(url: str, facts: int) -> None:
    """Wait until the server answers, and give both banks some memory."""
    rng = random.Random(1)
    with httpx.Client(base_url=url, timeout=TIMEOUT) as client:
        for _ in range(1200):
            try:
                client.get("/health").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        for bank in BANKS:
            for start in range(0, facts, 100):
                items = [{"content": sentence(rng)} for _ in range(min(100, facts - start))]
                client.post(f"/v1/default/banks/{bank}/memories", json={"items": items}).raise_for_status()
            body = {"query": question(rng)}
            client.post(f"/v1/default/banks/{bank}/memories/recall", json=body).raise_for_status()


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder:
        process, url = serve(Path(folder), options)
        try:
            fill(url, options.facts)
            server = psutil.Process(process.pid)
            rows = []
            for count in options.clients:
                row = asyncio.run(stretch(url, count, options.seconds))
                rows.append({**row, "memory_mb": server.memory_info().rss >> 20})
            beside = asyncio.run(flood(url, options.seconds))
            began = time.perf_counter()
        finally:
            process.terminate()
            process.wait()
        ended = round(time.perf_counter() - began, 2)
    return {"facts": options.facts, "rows": rows, "flood": beside, "seconds_to_end": ended}


def show(figures: dict[str, Any]) -> None:
    """The figures as a table."""
    print(f"{figures['facts']} facts a bank, two banks; milliseconds")
    print("clients  sort    answered   429  failed      p50      p99    worst  fairness (clients, banks)  MB")
    for row in figures["rows"]:
        for sort in ("recall", "retain"):
            one = row[sort]
            times = "".join(f"{one.get(name, ''):>9}" for name in ("p50", "p99", "worst"))
            share = (
                f"{row['fairness']['clients']:>10}, {row['fairness']['banks']}" if sort == "recall" else ""
            )
            print(
                f"{row['clients']:>7}  {sort:<7}{one['answered']:>9}{one['429']:>6}{one['failed']:>8}{times}{share:<27}"
                + (f"{row['memory_mb']:>4}" if sort == "recall" else "")
            )
    told = figures["flood"]
    print(f"one recall at a time, alone: {told['alone']}")
    print(f"beside {FLOOD} that retain:     {told['beside']}")
    print(f"those:                       {told['retain']}")
    print(f"SIGTERM to the end: {figures['seconds_to_end']} s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=500, help="facts in each bank at first")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each stretch")
    parser.add_argument("--clients", type=int, nargs="+", default=list(CLIENTS))
    parser.add_argument("--source", default=str(Path(__file__).resolve().parent.parent))
    parser.add_argument("--quick", action="store_true", help="no models: the server's own share")
    parser.add_argument("--json", action="store_true")
    figures = measure(options := parser.parse_args())
    print(json.dumps(figures, indent=2)) if options.json else show(figures)


if __name__ == "__main__":
    main()
