"""How long hooks of coding assistants take, as processes: cold, when the process behind them has to start, and warm.

Run with `python -m bench.hooks`; `--write` puts the table into docs/assistants.md, `--quick` leaves the models out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.page import load_now, table, taken, write_section
from perdure import Perdure
from perdure.contrib.assistants import place
from perdure.surfaces.projects import bank_of

PAGE = Path("docs/assistants.md")
QUICK = {"PERDURE_EMBEDDER": "hashing", "PERDURE_RERANKER": "none", "PERDURE_TAGGER": "rules"}
HOSTS = ("Basil", "Clove", "Dill", "Fennel", "Ginger", "Juniper", "Laurel", "Mint", "Nutmeg", "Saffron")
THINGS = ("billing service", "search index", "mail queue", "staging database", "login page", "image cache")
FACTS = 300
PATIENCE = 120.0


@dataclass(frozen=True)
class Run:
    """Seconds that a process took, and of these the ones on a core."""

    seconds: float
    on_core: float


@dataclass(frozen=True)
class Taken:
    """What hooks of one kind took."""

    name: str
    runs: list[Run]

    def row(self) -> list[str]:
        ordered = sorted(run.seconds for run in self.runs)
        on_core = sorted(run.on_core for run in self.runs)[len(self.runs) // 2]
        p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
        figures = (ordered[len(ordered) // 2], p95, ordered[-1], on_core)
        return [self.name, str(len(ordered)), *(f"{1000 * figure:.0f}" for figure in figures)]


class Bench:
    """A user of Claude Code with a memory of some hundred facts."""

    def __init__(self, home: Path, quick: bool) -> None:
        self.folder, self.project = home / ".perdure", home / "app"
        self.project.mkdir()
        place.make_folder(str(self.folder))
        self.environment = {**os.environ, "HOME": str(home), "PERDURE_ASSISTANT_FOLDER": str(self.folder)}
        self.environment |= QUICK if quick else {}
        self._numbers = random.Random(7)
        self._sessions = 0
        self.told = False

    def fill(self) -> None:
        """Retain sentences that a project might say."""
        code = "import sys; from bench.hooks import retain_facts; retain_facts(*sys.argv[1:])"
        database, bank = str(self.folder / "perdure.db"), bank_of(str(self.project))
        done = subprocess.run(
            [sys.executable, "-c", code, database, bank],
            env=self.environment,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.returncode)

    def hook(self, event: str, **payload: str) -> Run:
        """One hook, from its start to its end."""
        body = {"session_id": f"s{self._sessions}", "cwd": str(self.project), **payload}
        command = ["perdure", "hook", event, "--host", "claude-code"]
        run, output = timed(["-m", *command], json.dumps(body), self.environment, self.project)
        self.told = bool(output)
        return run

    def start(self) -> Run:
        self._sessions += 1
        return self.hook("session-start", source="startup")

    def prompt(self) -> Run:
        self._sessions += 1
        host, thing = self._numbers.choice(HOSTS), self._numbers.choice(THINGS)
        question = self._numbers.choice(
            (f"Where does the {thing} run?", f"Which port has the {thing} on {host}?")
        )
        return self.hook("prompt", prompt=question)

    def stop(self) -> Run:
        return self.hook("stop", last_assistant_message="It runs there, as you said.")

    @contextmanager
    def warm(self) -> Iterator[float]:
        """A running process; gives the seconds until it answered a prompt."""
        began = time.perf_counter()
        try:
            self.start()
            while not self.told:
                self._wait(began)
                self.prompt()
            yield time.perf_counter() - began
        finally:
            self.end()

    def _wait(self, began: float) -> None:
        if time.perf_counter() - began > PATIENCE:
            raise SystemExit("the warm process does not answer; see " + str(self.folder / "hooks.log"))
        time.sleep(0.1)

    def end(self) -> None:
        """End the process behind the hooks, if there is one, and wait until it is gone."""
        lock = place.Lock(str(self.folder))
        until = time.perf_counter() + PATIENCE
        while not lock.take() and time.perf_counter() < until:
            pid = place.read_object(str(self.folder / "warm.json")).get("pid")
            if isinstance(pid, int):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
            time.sleep(0.3)
        lock.release()
        for path in place.spooled(str(self.folder)):
            os.unlink(path)


def retain_facts(database: str, bank: str) -> None:
    """Fill a bank, in a process of its own, whose models end with it."""
    numbers = random.Random(3)
    with Perdure.open(database) as memory:
        memory.retain(
            bank,
            [
                {
                    "role": "user",
                    "content": f"The {numbers.choice(THINGS)} number {one} runs on {numbers.choice(HOSTS)}, port {4000 + one}.",
                }
                for one in range(FACTS)
            ],
            document_id="bench",
        )


def timed(
    arguments: list[str], stdin: str, environment: dict[str, str] | None = None, folder: Path | None = None
) -> tuple[Run, bytes]:
    """Run Python with these arguments; what it took and printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        input=stdin.encode(),
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
        check=True,
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    on_core = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seconds, on_core), done.stdout


def interpreter() -> Run:
    """Python that does nothing."""
    return timed(["-c", "pass"], "")[0]


def measure(quick: bool, repeats: int) -> Iterator[Taken]:
    """All figures."""
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(Path(home), quick)
        bench.fill()
        yield Taken("the interpreter alone", [interpreter() for _ in range(repeats)])
        kinds: tuple[tuple[str, Callable[[], Run]], ...] = (
            ("session start", bench.start),
            ("prompt", bench.prompt),
            ("stop", bench.stop),
        )
        for name, hook in kinds:
            runs = []
            for _ in range(max(3, repeats // 20)):
                runs.append(hook())
                bench.end()
            yield Taken(f"{name}, cold", runs)
        with bench.warm() as seconds_to_answer:
            for name, hook in kinds:
                yield Taken(f"{name}, warm", [hook() for _ in range(repeats)])
        print(f"from nothing to the first answer {seconds_to_answer:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without models")
    parser.add_argument("--repeats", type=int, default=100, help="hooks per warm row")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    chosen = parser.parse_args()
    load = load_now()
    rows = []
    for one in measure(chosen.quick, chosen.repeats):
        rows.append(one.row())
        print(" ".join(rows[-1]), flush=True)
    lines = table(("hook", "runs", "p50 ms", "p95 ms", "most ms", "on a core, p50 ms"), rows)
    print("\n".join(lines))
    if chosen.write:
        command = (
            f"python -m bench.hooks --repeats {chosen.repeats}{' --quick' if chosen.quick else ''} --write"
        )
        write_section("hooks", [taken(command, load), "", *lines], PAGE)


if __name__ == "__main__":
    main()
