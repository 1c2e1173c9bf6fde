"""Running one driver as a process of its own, and keeping what it found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bench.peers.contestants import ENVIRONMENTS, ROOT, Contestant
from bench.peers.environments import Environment, SetUpFailed, last_line
from bench.peers.model_files import ModelFiles
from bench.peers.outcome import Outcome
from bench.peers.selection import Selection
from perdure.evaluation.run import source_digest

DEPTH = 50
PERDURE = (
    "domain",
    "dates",
    "text",
    "extract",
    "retain",
    "recall",
    "models",
    "stores",
    "settings.py",
    "compose.py",
    "engine.py",
)
"""The parts of Perdure that decide what a recall brings; a change of them makes its results stale."""
JUDGED_AFTER = 30.0
"""Seconds of retaining after which its whole time is estimated; the first texts, which load models, are not counted."""
STOP_SECONDS = 90.0
"""What a driver gets to stop servers that it has started."""
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "MEM0_TELEMETRY": "False",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class TooSlow(Exception):
    """Retaining would take longer than is allowed."""


class Runner:
    """Runs contestants on a selection, one after the other, within a work folder."""

    def __init__(self, work: Path, minutes: float) -> None:
        self._work = work
        self._seconds = minutes * 60.0

    def cached(self, contestant: Contestant, selection: Selection) -> Outcome | None:
        """What was found before with the same data, driver and packages."""
        path = self.result(contestant, selection)
        return Outcome(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def run(self, contestant: Contestant, selection: Selection) -> Outcome:
        """Run now; whatever goes wrong becomes the outcome's reason."""
        try:
            self._environment(contestant.environment).make()
            outcome = self._drive(contestant, selection)
        except (SetUpFailed, TooSlow) as error:
            outcome = Outcome(failure=str(error))
        path = self.result(contestant, selection)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(outcome.as_json()), encoding="utf-8")
        return outcome

    def _environment(self, name: str) -> Environment:
        return Environment(self._work / "venvs" / name, ENVIRONMENTS[name])

    def result(self, contestant: Contestant, selection: Selection) -> Path:
        """Where the outcome is kept; the name changes with the data, the driver and what is installed."""
        drivers = ROOT / "bench" / "peers" / "drivers"
        code = [drivers / "protocol.py", drivers / f"{contestant.driver.rpartition('.')[2]}.py"]
        parts = [
            selection.as_job(),
            [dict(contestant.options), contestant.models],
            [path.read_text(encoding="utf-8") for path in code],
            self._environment(contestant.environment).frozen(),
            source_digest(*PERDURE) if contestant.environment == "perdure" else "",
        ]
        key = blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=10).hexdigest()
        return self._work / "results" / f"{selection.name}-{contestant.name}-{key}.json"

    def _drive(self, contestant: Contestant, selection: Selection) -> Outcome:
        environment = self._environment(contestant.environment)
        files = ModelFiles(self._work, self._environment)
        models = {name: files.find(name, environment) for name in contestant.models}
        load = os.getloadavg()[0]
        with tempfile.TemporaryDirectory(dir=self._work, prefix=f"{contestant.name}-") as folder:
            job = {
                "folder": folder,
                "depth": DEPTH,
                "options": {
                    **contestant.options,
                    **{name: str(model.folder) for name, model in models.items()},
                },
                "banks": selection.as_job(),
            }
            command = [str(environment.python), "-m", contestant.driver]
            events = list(self._events(command, job, Path(folder), selection))
        megabytes = environment.megabytes() + sum(model.megabytes for model in models.values())
        return Outcome.from_events(events, megabytes, load)

    def _events(
        self, command: list[str], job: Mapping[str, Any], folder: Path, selection: Selection
    ) -> Iterator[dict[str, Any]]:
        errors = self._work / f"{command[-1].rpartition('.')[2]}-errors.txt"
        environ = {**os.environ, **OFFLINE, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
        with errors.open("w+", encoding="utf-8") as stream, _process(command, environ, stream) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(job))
            process.stdin.close()
            watch = Watch(selection, self._seconds)
            last = ""
            with _deadline(process, 4 * self._seconds):
                for line in process.stdout:
                    event = json.loads(line)
                    last = event["event"]
                    watch.see(event)
                    yield event
                process.wait()
            if last != "done":
                stream.seek(0)
                raise SetUpFailed(last_line(stream.read()) or f"the driver ended with {process.returncode}")


class Watch:
    """Prints how far a driver is, and gives up on one that retains too slowly."""

    def __init__(
        self, selection: Selection, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._selection = selection
        self._seconds = seconds
        self._clock = clock
        self._said = clock()
        self._first: tuple[int, float] | None = None
        self._asked = 0

    def see(self, event: Mapping[str, Any]) -> None:
        """Take note of an event; TooSlow when retaining will not be done in time."""
        if event["event"] == "progress":
            self._say(f"retained {event['texts']} of {self._selection.texts} texts")
            self._judge(event["texts"])
        elif event["event"] == "ranking":
            self._asked += 1
            self._say(f"asked {self._asked} of {self._selection.queries} questions")

    def _judge(self, texts: int) -> None:
        now = self._clock()
        if self._first is None:
            self._first = (texts, now)
        spent = now - self._first[1]
        if spent < JUDGED_AFTER:
            return
        rate = (texts - self._first[0]) / spent
        if self._selection.texts > rate * self._seconds:
            raise TooSlow(
                f"retaining {self._selection.texts:,} texts would take about {self._selection.texts / rate / 60:.0f} minutes "
                f"({rate:.1f} texts/s); the limit is {self._seconds / 60:.0f}"
            )

    def _say(self, what: str) -> None:
        if self._clock() - self._said > 10.0:
            self._said = self._clock()
            print(f"  {what}", file=sys.stderr, flush=True)


@contextmanager
def _process(command: list[str], environ: Mapping[str, str], errors: Any) -> Iterator[subprocess.Popen[str]]:
    """A driver in a process group of its own, which ends with the block."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextmanager
def _deadline(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """A driver that says nothing any more is ended."""
    timer = threading.Timer(seconds, process.terminate)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
