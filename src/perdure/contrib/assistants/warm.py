"""The warm process: it holds the models and the memory, answers hooks, retains what they spooled, and ends when idle.

Started by a hook as `python -m perdure.contrib.assistants.warm FOLDER`; one per folder, by a lock that ends with it.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import sys
import threading
import time
from pathlib import Path

from perdure import __version__
from perdure.contrib.assistants import place, wire
from perdure.contrib.assistants.client import is_running
from perdure.errors import InvalidInput, StoreError

log = logging.getLogger("perdure.assistants")

LOCK_SECONDS = 20.0
"""How long to wait for a process of another version to end."""
TICK = 1.0
"""Seconds between looks at the spool, the clock and the settings."""
REQUEST_SECONDS = 5.0
"""For a hook to say what it wants."""
RETRIES = 5
"""How often an event is tried that memory fails on; then it is put aside as `.bad`. A store that is away is waited for."""
RETRY_SECONDS = 30.0


class WarmProcess:
    """Serves one folder until it is idle, told to leave, or of another version than its hooks."""

    def __init__(self, folder: str) -> None:
        from perdure import Perdure, Settings
        from perdure.contrib.assistants.memory import AssistantMemory

        self._folder = folder
        self._identity = place.identity(folder, __version__)
        self._secret = secrets.token_hex(32)
        settings = Settings()
        self._engine = Perdure.open(os.path.expanduser(settings.database), settings=settings)
        self._memory = AssistantMemory(self._engine, folder)
        self._idle_seconds = self._engine.settings.assistant_idle_minutes * 60
        self._used_at = time.monotonic()
        self._requests = 0
        self._attempts: dict[str, tuple[int, float]] = {}
        self._wake, self._leave = threading.Event(), threading.Event()

    def serve(self) -> None:
        """Answer until it is time to end."""
        with socket.create_server((wire.LOOPBACK, 0)) as listener:
            self._announce(listener.getsockname()[1])
            threading.Thread(target=self._work, name="spool", daemon=True).start()
            listener.settimeout(TICK)
            try:
                while not self._is_over():
                    try:
                        connection, _ = listener.accept()
                    except TimeoutError:
                        continue
                    threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()
            finally:
                self._leave.set()
                self._wake.set()
                self._withdraw()

    def close(self) -> None:
        """Close the memory; what is still spooled waits for the next process."""
        self._engine.close()

    def _is_over(self) -> bool:
        if self._leave.is_set() or place.identity(self._folder, __version__) != self._identity:
            return True
        if not self._is_announced():
            return True
        return time.monotonic() - self._used_at > self._idle_seconds and not self._requests

    def _announce(self, port: int) -> None:
        body = {"port": port, "secret": self._secret, "identity": self._identity, "pid": os.getpid()}
        place.write_whole(os.path.join(self._folder, "warm.json"), json.dumps(body))

    def _withdraw(self) -> None:
        if self._is_announced():
            os.unlink(os.path.join(self._folder, "warm.json"))

    def _is_announced(self) -> bool:
        """Whether hooks find this process; not so when its folder was deleted."""
        announced = place.read_object(os.path.join(self._folder, "warm.json"))
        return announced.get("secret") == self._secret

    def _serve_one(self, connection: socket.socket) -> None:
        self._requests += 1
        try:
            with connection:
                line, request = wire.hear(connection, self._secret, time.monotonic() + REQUEST_SECONDS)
                self._used_at = time.monotonic()
                event = request.get("event")
                if event == "drain":
                    wire.tell(line, {})
                    self._wake.set()
                elif event == "leave":
                    self._withdraw()
                    wire.tell(line, {})
                    self._leave.set()
                else:
                    wire.tell(line, {"output": self._answer(request)})
        except (OSError, ValueError, wire.Refused) as error:
            log.warning("a connection: %s: %s", type(error).__name__, error)
        finally:
            self._requests -= 1
            self._used_at = time.monotonic()

    def _answer(self, request: wire.Message) -> str:
        """Return what the hook prints; nothing where memory fails, as that must not cost more."""
        try:
            return self._memory.answer(request)
        except InvalidInput as error:
            log.warning("a hook: %s", error)
        except Exception:
            log.exception("a hook was not answered")
        return ""

    def _work(self) -> None:
        """Retain what hooks spooled, as it comes."""
        self._warm_up()
        while not self._leave.is_set():
            for path in place.spooled(self._folder):
                if self._leave.is_set():
                    return
                self._retain(path)
            self._wake.wait(TICK)
            self._wake.clear()

    def _warm_up(self) -> None:
        """Load the models before the first prompt needs them."""
        try:
            sessions = os.path.join(self._folder, "sessions")
            from perdure.contrib.assistants.memory import RECIPE
            from perdure.contrib.assistants.sessions import drop_old_sessions

            drop_old_sessions(self._folder, os.listdir(sessions))
            for bank in self._engine.banks.list()[:1]:
                self._engine.recall(bank.id, "What did we decide?", recipe=RECIPE, track=False)
        except Exception:
            log.exception("warming up")

    def _retain(self, path: str) -> None:
        attempts, at = self._attempts.get(path, (0, 0.0))
        if attempts and time.monotonic() - at < RETRY_SECONDS:
            return
        request = place.read_object(path)
        try:
            if request:
                self._memory.retain(request)
        except InvalidInput as error:
            log.warning("%s was dropped: %s", os.path.basename(path), error)
        except (StoreError, OSError) as error:
            log.warning("%s was not retained, and waits: %s", os.path.basename(path), error)
            self._attempts[path] = (1, time.monotonic())
            return
        except Exception:
            log.exception("%s was not retained", os.path.basename(path))
            self._attempts[path] = (attempts + 1, time.monotonic())
            if attempts + 1 >= RETRIES:
                os.replace(path, f"{path}.bad")
            return
        self._used_at = time.monotonic()
        self._attempts.pop(path, None)
        os.unlink(path)


def _take_place(folder: str) -> place.Lock | None:
    """Return the lock of the folder, when a process that leaves has released it; None where another one serves or waits."""
    waiting, lock = place.Lock(folder, "warm.next"), place.Lock(folder)
    if not waiting.take():
        return None
    try:
        until = time.monotonic() + LOCK_SECONDS
        while not lock.take():
            if is_running(folder) or time.monotonic() > until:
                return None
            time.sleep(0.05)
    finally:
        waiting.release()
    return lock


def main(argv: list[str]) -> int:
    """Serve a folder, unless another process does; returns the exit code."""
    from perdure.surfaces.plugins.process import closing_on_sigterm, private_files

    private_files()
    folder = argv[0]
    place.make_folder(folder)
    os.chdir(folder)
    lock = _take_place(folder)
    if lock is None:
        return 0
    logging.basicConfig(
        filename=os.path.join(folder, "hooks.log"),
        level="WARNING",
        format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s",
    )
    failed = Path(folder, "warm.failed")
    try:
        with closing_on_sigterm():
            process = WarmProcess(folder)
            failed.unlink(missing_ok=True)
            try:
                process.serve()
            finally:
                process.close()
    except Exception:
        log.exception("the warm process could not start")
        failed.touch()
        return 1
    finally:
        lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
