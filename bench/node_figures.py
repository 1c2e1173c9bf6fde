"""One file and one server on PostgreSQL side by side: `python -m bench.nodes --figures [--facts 100000] [--banks 50]`.

The same made-up facts (`bench.recall`: sentences of a grammar, vectors near those of embedded examples) are written to a file
without extraction and copied to PostgreSQL (binary COPY). Then everything is asked by turns, one request at a time, with the
real models: the file in this process (embedded), the file behind `perdure serve`, and `perdure serve` on PostgreSQL. Models,
HTTP and JSON are part of every figure.
"""

from __future__ import annotations

import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
import psycopg

from bench.cluster import NodeProcess, PostgresServer, free_urls
from bench.recall import PEOPLE, PLACES, QUESTIONS, embedded_examples, fill_bank
from bench.store import resident_mb
from perdure.databases import copy_banks, open_file, open_store
from perdure.engine import Perdure
from perdure.settings import Settings

MEMORY_MB = 16_384
"""For indexes: nothing leaves memory."""
SERVED = {"index_memory_mb": MEMORY_MB, "require_keys": False}
EMBEDDED = "embedded"
WARM_UP = "Zoe moved to Graz because of the light, and she keeps bees there."
Recall = Callable[[str, str, str], int]
"""Bank, question, recipe -> how many facts came."""


@dataclass(slots=True)
class Setup:
    """One way to run Perdure."""

    name: str
    recall: Recall
    retain: Callable[[str, str], object]
    warm_up: Callable[[], None]
    """Have every process load its models, and no bank of those that are asked."""
    memory: Callable[[], tuple[float, float]]
    """MB of indexes and MB resident, of all its processes."""
    times: dict[str, list[float]] = field(default_factory=dict)

    def timed(self, what: str, action: Callable[[], object]) -> None:
        began = time.perf_counter()
        action()
        self.times.setdefault(what, []).append((time.perf_counter() - began) * 1000)


def embedded(engine: Perdure) -> Setup:
    """The file in this process."""

    def recall(bank: str, question: str, recipe: str) -> int:
        return len(engine.recall(bank, question, recipe=recipe, track=False).recollections)

    def warm_up() -> None:
        engine.retain("warm-up", WARM_UP)
        recall("warm-up", WARM_UP, "default")

    return Setup(
        EMBEDDED,
        recall,
        engine.retain,
        warm_up,
        lambda: (engine.database.index_usage().bytes / 2**20, resident_mb()),
    )


def served(name: str, node: NodeProcess) -> Setup:
    """A server."""
    client = httpx.Client(timeout=600, trust_env=False)

    def post(bank: str, path: str, body: object) -> dict[str, list[object]]:
        answer = client.post(f"{node.url}/v1/default/banks/{bank}/{path}", json=body)
        answer.raise_for_status()
        return dict(answer.json())

    def recall(bank: str, question: str, recipe: str) -> int:
        body = {"query": question, "recipe": recipe, "track": False, "include": {"entities": None}}
        return len(post(bank, "memories/recall", body)["results"])

    def retain(bank: str, text: str) -> None:
        post(bank, "memories", {"items": [{"content": text}]})

    def warm_up() -> None:
        retain("warm-up", WARM_UP)
        recall("warm-up", WARM_UP, "default")

    def memory() -> tuple[float, float]:
        match = re.search(
            r"^perdure_index_bytes (\S+)$", client.get(f"{node.url}/metrics").text, re.MULTILINE
        )
        assert match is not None
        return float(match[1]) / 2**20, node.resident_bytes() / 2**20

    return Setup(name, recall, retain, warm_up, memory)


def ask(setups: list[Setup], banks: list[str], queries: int, singles: int) -> None:
    """Everything by turns, so that what disturbs one disturbs all, each first in its turn: it reads rows that the others then get warm."""
    chance = random.Random(3)
    for setup in setups:
        setup.warm_up()
    for number, bank in enumerate(banks):
        for setup in rotated(setups, number):
            first = partial(setup.recall, bank, "Where did Ann Abe move?", "fast")
            setup.timed("first recall of a bank (`fast`)", first)
    for number in range(queries):
        question = chance.choice(QUESTIONS).format(person=chance.choice(PEOPLE), place=chance.choice(PLACES))
        bank = banks[number % len(banks)]
        for recipe in ("fast", "default"):
            for setup in rotated(setups, number):
                setup.timed(f"recall `{recipe}`", partial(setup.recall, bank, question, recipe))
    for number in range(singles):
        bank, word = banks[number % len(banks)], "".join(chance.choices("bcdfghklmnprstvz", k=9))
        for setup in rotated(setups, number):
            setup.timed("one text retained and recalled (`fast`)", partial(write_and_find, setup, bank, word))


def rotated(setups: list[Setup], turn: int) -> list[Setup]:
    """The same, beginning with another at each turn."""
    first = turn % len(setups)
    return setups[first:] + setups[:first]


def write_and_find(setup: Setup, bank: str, word: str) -> None:
    """Retain a text of which one word is new, and recall it."""
    setup.retain(bank, f"Zoe keeps a {word}{setup.name[0]} in Graz.")
    if not setup.recall(bank, f"Who keeps a {word}{setup.name[0]}?", "fast"):
        raise RuntimeError(f"{setup.name}: what was retained is not recalled")


def show(setups: list[Setup], facts: int, banks: int) -> None:
    """Medians, 95th percentiles and ratios of medians to the embedded ones."""
    print(
        f"| {facts:,} facts in {banks} banks, ms | "
        + " | ".join(f"{one.name} p50 | p95" for one in setups)
        + " | ratios of p50 |"
    )
    print("| --- |" + " ---: |" * (2 * len(setups)) + " --- |")
    for what in setups[0].times:
        cells, medians = [], []
        for setup in setups:
            ordered = sorted(setup.times[what])
            medians.append(statistics.median(ordered))
            cells += [f"{medians[-1]:.1f}", f"{ordered[int(0.95 * (len(ordered) - 1))]:.1f}"]
        ratios = " / ".join(f"{one / medians[0]:.2f}" for one in medians[1:])
        print(f"| {what} | {' | '.join(cells)} | {ratios} |")
    for what, place in (("indexes in memory, MB", 0), ("resident memory with models, MB", 1)):
        cells = [f"{setup.memory()[place]:,.0f} | " for setup in setups]
        print(f"| {what} | {' | '.join(cells)} | |")


def figures(
    facts: int,
    banks: int,
    queries: int,
    singles: int,
    keep: str | None = None,
    *,
    url: str | None = None,
    serve_file: bool = True,
) -> None:
    """Fill, copy, ask, print.

    `keep` is a folder whose file is used again when it is there; `url` a database, empty or with the file's banks.
    """
    names = [f"bank-{number:03}" for number in range(banks)]
    with ExitStack() as stack:
        folder = Path(keep or stack.enter_context(tempfile.TemporaryDirectory()))
        file = folder / f"memory-{facts}-{banks}.db"
        if not file.exists():
            began = time.perf_counter()
            examples = embedded_examples()
            store = open_file(str(file))
            for number, bank in enumerate(names):
                fill_bank(store, bank, facts // banks, examples, seed=number)
            store.close()
            print(f"{facts:,} facts written to a file in {time.perf_counter() - began:.0f} s", flush=True)
        if url is None:
            server = PostgresServer(buffers=1024)
            stack.callback(server.remove)
            server.initialise()
            server.start()
            server.execute("CREATE DATABASE memory")
            url = f"postgresql://postgres@/memory?host={server.folder}"
        began = time.perf_counter()
        size = copy(file, url)
        print(f"copied to PostgreSQL and compared in {time.perf_counter() - began:.0f} s", flush=True)
        ways = [("PostgreSQL, served", url)]
        if serve_file:
            served_file = folder / "served.db"
            stack.callback(served_file.unlink, missing_ok=True)
            _copy_file(file, served_file)
            ways.insert(0, ("file, served", str(served_file)))
        processes = []
        for (name, database), server_url in zip(ways, free_urls(len(ways)), strict=True):
            node = NodeProcess(server_url, database, SERVED, folder / f"{name}.log")
            stack.callback(node.stop)
            node.start()
            processes.append((name, node))
        for _, node in processes:
            node.wait_until_ready()
        engine = stack.enter_context(Perdure.open(file, index_memory_mb=MEMORY_MB))
        setups = [embedded(engine), *(served(name, node) for name, node in processes)]
        ask(setups, names, queries, singles)
        show(setups, facts, banks)
        index = setups[0].memory()[0] * 2**20 / facts
        print(
            f"\nbytes per fact: {file.stat().st_size / facts:,.0f} in a file, {size / facts:,.0f} in PostgreSQL, {index:,.0f} of index in memory"
        )


def copy(file: Path, url: str) -> int:
    """Copy the banks that a database does not have yet; returns how many bytes its tables and indexes take."""
    with closing(psycopg.connect(url, autocommit=True)) as db:
        # Until it is filled.
        db.execute("ALTER SYSTEM SET synchronous_commit = off")
        db.execute("SELECT pg_reload_conf()")
        with closing(open_store(Settings(database=url))) as target, closing(open_file(str(file))) as source:
            there = {bank.id for bank in target.banks()}
            missing = [bank.id for bank in source.banks() if bank.id not in there]
        copy_banks(url, banks=missing, settings=Settings(database=str(file), database_timeout=3600))
        db.execute("ALTER SYSTEM RESET synchronous_commit")
        db.execute("SELECT pg_reload_conf()")
        db.execute("VACUUM ANALYZE")
        rows = db.execute(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
            " WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r'"
        ).fetchall()
    return int(rows[0][0])


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as reading, target.open("wb") as writing:
        while block := reading.read(1 << 24):
            writing.write(block)
