"""Writers that die, starve and race: `python -m bench.chaos [--seconds 60] [--tries N] [--only retain ...] [--seed 1]`.

The short form runs 60 seconds; the long one is `--seconds 600 --tries 1000`. Every try copies a file, lets a process of its own
work on it, kills that with SIGKILL at a random moment (or takes something away from it), and then another process checks
the file: SQLite's own check and `verify` meet no damage, everything acknowledged is there, nothing is half there. Prints a
table of tries and failures; the exit code is 1 when anything failed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from perdure.domain.bank import EmbeddingModel
from perdure.engine import Perdure
from perdure.errors import PerdureError, StoreError, StoreReadOnly
from perdure.models.hashing import HashingEmbedder
from perdure.ports.embedder import Matrix, Vector
from perdure.stores.sqlite.store import SqliteStore

BANK = "chaos"
DOCUMENTS = 24
"""Documents in a file that is worked on."""
PATIENCE = 60.0
"""Seconds for a check, and for background work to end."""
Tell = Callable[[str], None]


class Failure(Exception):
    """What a check met."""


@dataclass(slots=True)
class Tally:
    """How a path did."""

    tries: int = 0
    killed: int = 0
    """Tries in which the process died in the middle of its work."""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WritePath:
    """Work that is killed: what it begins with, what it does, and what must hold afterwards."""

    name: str
    prepare: Callable[[Path], None]
    work: Callable[[Path, Tell], None]
    check: Callable[[Path, list[str]], None]
    span: float
    """Seconds within which the kill falls after the first word."""


class OtherEmbedder:
    """Another model than the one that a file was written with."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder()
        self.model = EmbeddingModel("other", self._inner.model.dimensions)

    def embed_query(self, text: str) -> Vector:
        return self._inner.embed_query(text[::-1])

    def embed_passages(self, texts: list[str]) -> Matrix:
        return self._inner.embed_passages([text[::-1] for text in texts])


def engine_on(path: Path, **options: object) -> Perdure:
    """A memory whose models cost nothing."""
    usual: dict[str, object] = {
        "embedder": "hashing", "reranker": "none", "extractor": "verbatim", "tagger": "rules", "busy_timeout_ms": 30_000,
    }  # fmt: skip
    return Perdure.open(path, **{**usual, **options})  # type: ignore[arg-type]


def words_of(number: int) -> str:
    """A text of which every word of its own can be looked for."""
    return f"Person{number} keeps zebra{number}zulu in the garden. " * 3


def retain_document(engine: Perdure, number: int, bank: str = BANK) -> None:
    engine.retain(bank, words_of(number), document_id=f"d{number}", timestamp="2026-01-02T03:04:05+00:00")


def prepare_documents(path: Path) -> None:
    with engine_on(path) as engine:
        for number in range(DOCUMENTS):
            retain_document(engine, number)


def state(path: Path, bank: str = BANK) -> dict[int, tuple[int, int]]:
    """Number of a document -> how many facts and chunks it has."""
    with closing(SqliteStore.open(path)) as store, store.reading(bank) as reading:
        documents = {int(one.id[1:]) for one in reading.documents()}
        rows = {}
        with closing(sqlite3.connect(path)) as raw:
            facts = dict(
                raw.execute(
                    "SELECT document_id, count(*) FROM fact WHERE bank = (SELECT no FROM bank WHERE id = ?) GROUP BY 1",
                    (bank,),
                )
            )
        for number in documents | {int(one[1:]) for one in facts}:
            chunks = len(reading.chunks(document_id=f"d{number}"))
            rows[number] = (facts.get(f"d{number}", 0), chunks)
        return rows


def require(holds: bool, told: str) -> None:
    if not holds:
        raise Failure(told)


def check_sound(path: Path) -> None:
    """Nothing is damaged, by SQLite's own check and by ours."""
    with closing(sqlite3.connect(path)) as raw:
        (message,) = raw.execute("PRAGMA integrity_check(1)").fetchone()
        require(message == "ok", f"SQLite: {message}")
    with closing(SqliteStore.open(path)) as store:
        verification = store.verify()
        require(verification.sound, "; ".join(map(str, verification.left[:3])))


# The write paths


def work_retain(path: Path, tell: Tell) -> None:
    with engine_on(path) as engine:
        tell("ready")
        for number in range(DOCUMENTS, 10_000):
            retain_document(engine, number)
            tell(f"done {number}")


def check_retain(path: Path, told: list[str]) -> None:
    rows = state(path)
    done = set(range(DOCUMENTS)) | numbers(told, "done")
    require(done <= rows.keys(), f"acknowledged and lost: {sorted(done - rows.keys())}")
    require(rows.keys() <= done | {max(done) + 1}, "a document came from nowhere")
    half = [number for number, counts in rows.items() if not all(counts)]
    require(not half, f"half there: {half}")


def work_forget(path: Path, tell: Tell) -> None:
    with engine_on(path) as engine:
        tell("ready")
        for number in range(DOCUMENTS):
            tell(f"begun {number}")
            engine.forget(BANK, document_id=f"d{number}")
            tell(f"done {number}")


def check_forget(path: Path, told: list[str]) -> None:
    rows = state(path)
    begun, done = numbers(told, "begun"), numbers(told, "done")
    require(not done & rows.keys(), f"an erasure is undone: {sorted(done & rows.keys())}")
    require(set(range(DOCUMENTS)) - begun <= rows.keys(), "a document that nobody erased is gone")
    require(all(all(counts) for counts in rows.values()), "a document is half erased")
    with closing(SqliteStore.open(path)) as store:
        store.clear_traces()
    content = path.read_bytes()
    left = [number for number in done if f"zebra{number}zulu".encode() in content]
    require(not left, f"erased words are still in the file: {left}")


BANKS = 6


def prepare_banks(path: Path) -> None:
    with engine_on(path) as engine:
        for bank in range(BANKS):
            for number in range(4):
                retain_document(engine, number, f"bank{bank}")


def work_purge(path: Path, tell: Tell) -> None:
    with engine_on(path) as engine:
        tell("ready")
        for bank in range(BANKS):
            tell(f"begun {bank}")
            engine.forget(f"bank{bank}", everything=True)
            tell(f"done {bank}")


def check_purge(path: Path, told: list[str]) -> None:
    begun, done = numbers(told, "begun"), numbers(told, "done")
    with closing(SqliteStore.open(path)) as store:
        banks = {bank.id for bank in store.banks()}
    for bank in range(BANKS):
        if f"bank{bank}" in banks:
            require(bank not in done, f"bank {bank} is back")
            require(len(state(path, f"bank{bank}")) == 4, f"bank {bank} is half there")
        else:
            require(bank in begun, f"bank {bank} is gone and nobody purged it")


def work_import(path: Path, tell: Tell) -> None:
    with engine_on(path) as engine:
        lines = list(engine.banks.export(BANK))
        tell("ready")
        for number in range(10_000):
            engine.banks.restore(f"copy{number}", lines)
            tell(f"done {number}")


def check_import(path: Path, told: list[str]) -> None:
    right = state(path)
    with closing(SqliteStore.open(path)) as store:
        copies = {int(bank.id[4:]) for bank in store.banks() if bank.id.startswith("copy")}
    done = numbers(told, "done")
    require(done <= copies, f"imported and lost: {sorted(done - copies)}")
    for number in copies:
        require(state(path, f"copy{number}") == right, f"copy {number} is not whole")


def work_reembed(path: Path, tell: Tell) -> None:
    with engine_on(path, embedder=OtherEmbedder()) as engine:
        tell("ready")
        engine.banks.reembed(BANK)
        tell("done 0")


def require_documents(path: Path) -> None:
    rows = state(path)
    require(rows.keys() == set(range(DOCUMENTS)), "documents were lost")
    require(all(all(counts) for counts in rows.values()), "documents are half there")


def check_reembed(path: Path, told: list[str]) -> None:
    require_documents(path)
    with closing(SqliteStore.open(path)) as store:
        (bank,) = store.banks([BANK])
        name = "" if bank.model is None else bank.model.name
        require(name in ("hashing", "other"), "the bank lost its model")
        require("done 0" not in told or name == "other", "an acknowledged model is lost")
        with store.reading(BANK) as reading:
            with closing(sqlite3.connect(path)) as raw:
                facts = [fact_id for (fact_id,) in raw.execute("SELECT id FROM fact")]
            features = reading.features(facts)
            lacking = [one for one in facts if "fact" not in features[one].vectors]
    require(not lacking, f"{len(lacking)} facts have no vector")


def work_consolidation(path: Path, tell: Tell) -> None:
    with engine_on(path) as engine:
        tell("ready")
        operation = engine.consolidate(BANK)
        tell("begun 0")
        engine.operations.get(BANK, operation.id, wait=PATIENCE)
        tell("done 0")


def check_consolidation(path: Path, told: list[str]) -> None:
    require_documents(path)
    finish_work(path)


def work_background(path: Path, tell: Tell) -> None:
    with engine_on(path) as engine:
        tell("ready")
        for number in range(DOCUMENTS, 10_000):
            items = [{"content": words_of(number), "document_id": f"d{number}"}]
            engine.retain_later(BANK, items, operation_id=f"op{number}")
            tell(f"done {number}")


def check_background(path: Path, told: list[str]) -> None:
    finish_work(path)
    rows = state(path)
    accepted = numbers(told, "done")
    require(accepted <= rows.keys(), f"accepted and lost: {sorted(accepted - rows.keys())}")
    whole = {number: counts for number, counts in rows.items() if number >= DOCUMENTS}
    require(all(all(counts) for counts in whole.values()), "half there")
    require(len(set(whole.values())) <= 1, f"done twice: {whole}")


def finish_work(path: Path) -> None:
    """Another process takes the work up an hour later, when the lease of the dead one has run out, and ends it."""
    with engine_on(path, clock=lambda: datetime.now(UTC) + timedelta(hours=1)) as engine:
        for operation in engine.operations.list(BANK):
            done = engine.operations.get(BANK, operation.id, wait=PATIENCE)
            require(done.finished, f"{done.kind} does not end")
            require(str(done.status) != "failed", f"{done.kind} failed: {done.error}")


PATHS = (
    WritePath("retain", prepare_documents, work_retain, check_retain, 0.15),
    WritePath("forget", prepare_documents, work_forget, check_forget, 0.2),
    WritePath("purge", prepare_banks, work_purge, check_purge, 0.06),
    WritePath("import", prepare_documents, work_import, check_import, 0.2),
    WritePath("re-embedding", prepare_documents, work_reembed, check_reembed, 0.05),
    WritePath("consolidation", prepare_documents, work_consolidation, check_consolidation, 0.1),
    WritePath("background", prepare_documents, work_background, check_background, 0.3),
)


# What is taken away from a writer that lives on


def three_writers(path: Path) -> None:
    """Three processes write at once: everything that each acknowledged is there."""
    starts = (1_000, 2_000, 3_000)

    def write(first: int) -> Callable[[Tell], None]:
        def work(tell: Tell) -> None:
            with engine_on(path) as engine:
                for number in range(first, first + 8):
                    retain_document(engine, number)
                    tell(f"done {number}")

        return work

    children = [start(write(first)) for first in starts]
    told = [line for child in children for line in child.wait()]
    expected = {number for first in starts for number in range(first, first + 8)}
    require(numbers(told, "done") == expected, "a writer gave up: " + "; ".join(errors_in(told)))
    require(expected <= state(path).keys(), "an acknowledged document is lost")


def full_disk(path: Path) -> None:
    """The file may not grow: an error, nothing acknowledged is lost, and it goes on when there is room."""

    def work(tell: Tell) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with engine_on(path) as engine:
            size = max(
                path.stat().st_size, Path(f"{path}-wal").stat().st_size if Path(f"{path}-wal").exists() else 0
            )
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 60_000, resource.RLIM_INFINITY))
            try:
                for number in range(DOCUMENTS, 10_000):
                    retain_document(engine, number)
                    tell(f"done {number}")
            except StoreError as error:
                tell(f"refused {type(error).__name__}")
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            retain_document(engine, 20_000)
            tell("done 20000")

    told = start(work).wait()
    require(any(line.startswith("refused") for line in told), f"no error: {told[-3:]}")
    require(20_000 in numbers(told, "done"), "it does not go on: " + "; ".join(errors_in(told)))
    require(numbers(told, "done") <= state(path).keys(), "an acknowledged document is lost")


def read_only(path: Path) -> None:
    """A user who may only read reads, and is told when he writes."""
    folder = path.parent
    warm = folder.parent / "warm.db"
    shutil.copy(path, warm)
    modes = {folder: folder.stat().st_mode, path: path.stat().st_mode}

    def work(tell: Tell) -> None:
        with engine_on(warm) as engine:  # modules that this user may not read are loaded now
            engine.recall(BANK, "zebra3zulu")
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        with engine_on(path) as engine:
            tell(f"facts {engine.banks.stats(BANK).facts}")
            tell(f"recalled {len(engine.recall(BANK, 'zebra3zulu').recollections)}")
            try:
                retain_document(engine, 99)
                tell("wrote")
            except StoreReadOnly:
                tell("refused")

    os.chmod(path, 0o444)
    os.chmod(folder, 0o555)
    try:
        told = start(work).wait()
    finally:
        for one, mode in modes.items():
            os.chmod(one, mode)
    require("refused" in told and "wrote" not in told, f"not refused: {told}")
    require(any(line.startswith("recalled") and line != "recalled 0" for line in told), f"not read: {told}")


def clock_set_back(path: Path) -> None:
    """The clock goes backwards between writes: each is kept, corrections and changes too."""

    def work(tell: Tell) -> None:
        present = datetime(2026, 6, 1, tzinfo=UTC)

        def clock() -> datetime:
            nonlocal present
            present -= timedelta(hours=7)
            return present

        with engine_on(path, extractor="local", clock=clock) as engine:
            for place, text in enumerate(
                ("I live in Lisbon.", "I live in Porto now.", "Sorry, I meant Faro.")
            ):
                engine.retain(BANK, text, document_id=f"d{500 + place}")
                tell(f"done {500 + place}")
            engine.recall(BANK, "Where do I live?")
            engine.forget(BANK, document_id="d500")
            tell("done 600")

    told = start(work).wait()
    require(numbers(told, "done") == {500, 501, 502, 600}, "; ".join(errors_in(told)))


def forked(path: Path) -> None:
    """A memory that was opened before a fork is refused in the child and goes on in the parent."""

    def work(tell: Tell) -> None:
        with engine_on(path) as engine:
            retain_document(engine, 700)
            inner = os.fork()
            if inner == 0:
                try:
                    retain_document(engine, 701)
                    os._exit(1)
                except StoreError:
                    os._exit(0)
            tell(f"child {os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])}")
            retain_document(engine, 702)
            tell("done 702")

    told = start(work).wait()
    require("child 0" in told and "done 702" in told, f"{told}")
    require(701 not in state(path), "the child wrote")


SCENES: dict[str, Callable[[Path], None]] = {
    "three writers": three_writers,
    "disk full": full_disk,
    "read-only": read_only,
    "clock set back": clock_set_back,
    "fork": forked,
}


# Processes


@dataclass(slots=True)
class Child:
    """A forked process and what it says."""

    pid: int
    lines: Iterator[str]

    def first(self) -> str:
        return next(self.lines, "")

    def kill(self) -> bool:
        """Whether it was still alive."""
        alive = os.waitpid(self.pid, os.WNOHANG)[0] == 0
        if alive:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        return alive

    def wait(self) -> list[str]:
        told = list(self.lines)
        os.waitpid(self.pid, 0)
        return told


def start(work: Callable[[Tell], None]) -> Child:
    """Run something in a process of its own; it tells lines, and its error as one that begins with `error`."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)

        def tell(line: str) -> None:
            os.write(writing, line.encode() + b"\n")

        try:
            work(tell)
        except BaseException:  # noqa: BLE001 - whatever ends the process is told
            tell("error " + " | ".join(traceback.format_exc().strip().splitlines()[-4:]))
        finally:
            os._exit(0)
    os.close(writing)
    return Child(pid, _lines(reading))


def _lines(descriptor: int) -> Iterator[str]:
    """Whole lines: one that the death of its writer cut off was never told."""
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.endswith("\n"):
                yield line.rstrip("\n")


def numbers(told: list[str], word: str) -> set[int]:
    return {int(line.split()[1]) for line in told if line.startswith(f"{word} ")}


def errors_in(told: list[str]) -> list[str]:
    return [line for line in told if line.startswith("error")]


def checked(check: Callable[[], None]) -> None:
    """A check in a process of its own, since engines have threads and this process forks."""

    def work(tell: Tell) -> None:
        try:
            check()
            tell("sound")
        except (Failure, PerdureError, sqlite3.Error) as error:
            tell(f"error {type(error).__name__}: {error}")

    told = start(work).wait()
    require(told == ["sound"], "; ".join(told) or "the check died")


@contextmanager
def timed(tally: Tally) -> Iterator[None]:
    started = time.perf_counter()
    tally.tries += 1
    try:
        yield
    except Failure as failure:
        tally.failures.append(str(failure))
    finally:
        tally.seconds += time.perf_counter() - started


def clean(folder: Path) -> Path:
    for file in folder.glob("memory.db*"):
        file.unlink()
    return folder / "memory.db"


def kill_once(path: WritePath, template: Path, folder: Path, drawn: random.Random, tally: Tally) -> None:
    """One try: work, kill, check."""
    file = clean(folder)
    shutil.copy(template, file)
    with timed(tally):
        child = start(lambda tell: path.work(file, tell))
        told = [child.first()]
        time.sleep(drawn.random() * path.span)
        tally.killed += child.kill()
        told += list(child.lines)
        require(not errors_in(told), "; ".join(errors_in(told)))

        def check() -> None:
            path.check(file, told)
            check_sound(file)

        checked(check)


def act_once(scene: Callable[[Path], None], template: Path, folder: Path, tally: Tally) -> None:
    file = clean(folder)
    shutil.copy(template, file)
    with timed(tally):
        scene(file)
        checked(lambda: check_sound(file))


def run(seconds: float, tries: int | None, only: list[str] | None, seed: int) -> dict[str, Tally]:
    """All paths in turn until the time or the tries are used up."""
    drawn = random.Random(seed)
    tallies: dict[str, Tally] = {}
    # /dev/shm: what is tested is the order of writes, not the speed of a disk.
    home = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="perdure-chaos-", dir=home) as place:
        os.chmod(place, 0o755)
        templates, work = Path(place) / "templates", Path(place) / "work"
        templates.mkdir()
        work.mkdir()
        chosen = [path for path in PATHS if not only or path.name in only]
        scenes = {name: scene for name, scene in SCENES.items() if not only or name in only}
        for path in chosen:
            checked(lambda path=path: path.prepare(templates / f"{path.name}.db"))  # type: ignore[misc]
        plain = templates / "plain.db"
        checked(lambda: prepare_documents(plain))
        started = time.monotonic()
        for name, scene in scenes.items():
            act_once(scene, plain, work, tallies.setdefault(name, Tally()))
        rounds = 0
        while time.monotonic() - started < seconds:
            for path in chosen:
                kills = sum(tallies[one.name].tries for one in chosen if one.name in tallies)
                if time.monotonic() - started >= seconds or (tries is not None and kills >= tries):
                    return tallies
                tally = tallies.setdefault(path.name, Tally())
                kill_once(path, templates / f"{path.name}.db", work, drawn, tally)
            rounds += 1
            if not chosen or rounds % 10 == 0:
                for name, scene in scenes.items():
                    act_once(scene, plain, work, tallies[name])
    return tallies


def table(tallies: dict[str, Tally]) -> str:
    """The tries and failures as Markdown."""
    lines = [
        "| path | tries | killed in the middle | failures | seconds |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, tally in tallies.items():
        killed = f"{tally.killed:,}" if name not in SCENES else ""
        lines.append(f"| {name} | {tally.tries:,} | {killed} | {len(tally.failures)} | {tally.seconds:.0f} |")
    kills = sum(tally.tries for name, tally in tallies.items() if name not in SCENES)
    failed = sum(len(tally.failures) for tally in tallies.values())
    lines.append(
        f"| all | {sum(t.tries for t in tallies.values()):,} | {kills:,} tries of kills | {failed} | |"
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--tries", type=int, help="stop after so many kills")
    parser.add_argument("--only", nargs="*", choices=[*(path.name for path in PATHS), *SCENES])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tallies = run(options.seconds, options.tries, options.only, options.seed)
    print(table(tallies))
    for name, tally in tallies.items():
        for failure in dict.fromkeys(tally.failures):
            print(f"{name}: {failure}")
    return 1 if any(tally.failures for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
