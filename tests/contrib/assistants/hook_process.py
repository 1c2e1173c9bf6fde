"""Runs hooks as an assistant does: as processes, with an environment of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perdure.contrib.assistants import place

QUICK = {
    "PERDURE_EMBEDDER": "hashing",
    "PERDURE_RERANKER": "none",
    "PERDURE_TAGGER": "rules",
    "PERDURE_TOKENS": "approximate",
}
SOURCE = str(Path(__file__).resolve().parents[3] / "src")


@dataclass(frozen=True)
class HookRun:
    """How a hook ended, what it printed, and how long it took."""

    code: int
    output: str
    seconds: float

    @property
    def text(self) -> str:
        """What Claude Code is told."""
        return json.loads(self.output)["hookSpecificOutput"]["additionalContext"] if self.output else ""


class HookUser:
    """A user of Claude Code in a home and a project of the test's own."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder, self.project = home, home / ".perdure", home / "app"
        self.project.mkdir(parents=True, exist_ok=True)
        self.environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": SOURCE, **QUICK}

    def hook(self, event: str, payload: dict[str, Any] | bytes, *options: str, **environment: str) -> HookRun:
        body = (
            payload
            if isinstance(payload, bytes)
            else json.dumps({"cwd": str(self.project), **payload}).encode()
        )
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "perdure", "hook", event, *options],
            input=body, capture_output=True, env={**self.environment, **environment}, cwd=self.project, check=False, timeout=30,
        )  # fmt: skip
        assert done.stderr == b""
        return HookRun(done.returncode, done.stdout.decode(), time.monotonic() - began)

    def prompt(self, session: str, text: str) -> HookRun:
        return self.hook(
            "prompt", {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": text}
        )

    def stop(self, session: str, reply: str) -> HookRun:
        return self.hook(
            "stop", {"session_id": session, "hook_event_name": "Stop", "last_assistant_message": reply}
        )

    def start(self, session: str) -> HookRun:
        return self.hook(
            "session-start", {"session_id": session, "hook_event_name": "SessionStart", "source": "startup"}
        )

    @property
    def running(self) -> dict[str, Any]:
        return place.read_object(str(self.folder / "warm.json"))

    @property
    def log(self) -> str:
        path = self.folder / "hooks.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def await_warm(self, seconds: float = 60.0) -> dict[str, Any]:
        """The running process, as soon as it listens."""
        wait_until(lambda: bool(self.running), seconds, lambda: self.log)
        return self.running

    def await_empty_spool(self, seconds: float = 60.0) -> None:
        wait_until(lambda: not place.spooled(str(self.folder)), seconds, lambda: self.log)

    def end_warm(self) -> None:
        """End the warm process, and one that waits to take its place, if there are any."""
        if self.folder.is_dir():
            wait_until(self._is_ended, 60.0, lambda: self.log)

    def _is_ended(self) -> bool:
        if all(place.Lock(str(self.folder), name).is_free for name in ("warm.next", "warm.lock")):
            return True
        pid = self.running.get("pid")
        if isinstance(pid, int) and pid > 1:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        return False


def wait_until(condition: Any, seconds: float, told: Any = lambda: "") -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"not within {seconds} s\n{told()}"
        time.sleep(0.05)
