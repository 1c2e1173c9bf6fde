"""The folder of the assistants' memory: what lies where, and the files that hook and warm process share.

A leaf of the standard library alone: a hook process imports it, so it loads nothing that takes time.

    perdure.db        the memory, unless the setting `database` says otherwise
    perdure.toml      settings of the warm process
    warm.json         where the warm process listens, its secret and its version (0600)
    warm.lock         locked by the warm process as long as it lives
    warm.next         locked by the one that waits to take its place
    warm.failed       touched when it could not start
    spool/            events that are still to be retained, a file each
    sessions/         what was told and retained in each session
    hooks.log         errors
"""

from __future__ import annotations

import json
import os
import time

LOG_BYTES = 1_000_000
"""A log of this size is put aside as hooks.log.1 before the next line."""
OWNER_ONLY = 0o700


def make_folder(folder: str) -> None:
    """Make the folder and its parts, for this user alone."""
    for path in (folder, os.path.join(folder, "spool"), os.path.join(folder, "sessions")):
        os.makedirs(path, OWNER_ONLY, exist_ok=True)


def log_error(folder: str, message: str) -> None:
    """Add a line to the log; where even that fails, nothing is left to tell it to."""
    path = os.path.join(folder, "hooks.log")
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {os.getpid()} {' '.join(message.split())[:2000]}\n"
    try:
        os.makedirs(folder, OWNER_ONLY, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > LOG_BYTES:
            os.replace(path, f"{path}.1")
        with open(path, "ab", buffering=0) as log:
            log.write(line.encode("utf-8", "backslashreplace"))
    except OSError:
        return


def write_whole(path: str, text: str) -> None:
    """Write a file so that others see all of it or nothing; a failed write leaves nothing behind."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


def read_object(path: str) -> dict[str, object]:
    """Return a file's JSON object; empty where there is no such file or it holds none."""
    try:
        with open(path, encoding="utf-8", errors="surrogatepass") as file:
            body = json.load(file)
    except (OSError, ValueError):
        return {}
    return body if isinstance(body, dict) else {}


def spool(folder: str, request: dict[str, object]) -> str:
    """Keep an event until the warm process retains it; returns its file."""
    path = os.path.join(folder, "spool", f"{time.time_ns():020d}-{os.getpid()}.json")
    write_whole(path, json.dumps(request))
    return path


def spooled(folder: str) -> list[str]:
    """Files of the events that are still to be retained, oldest first."""
    path = os.path.join(folder, "spool")
    try:
        return sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".json"))
    except OSError:
        return []


def identity(folder: str, version: str) -> str:
    """Return what a hook and its warm process must agree in: the package's version, and when the settings file was changed."""
    try:
        changed = os.stat(os.path.join(folder, "perdure.toml")).st_mtime_ns
    except OSError:
        changed = 0
    return f"{version}/{changed}"


class Lock:
    """A lock that one process has until it releases it or ends."""

    def __init__(self, folder: str, name: str = "warm.lock") -> None:
        self._path = os.path.join(folder, name)
        self._file = -1

    @property
    def is_free(self) -> bool:
        """Whether nobody has it at the moment."""
        free = self.take()
        self.release()
        return free

    def take(self) -> bool:
        """Whether it was free, and is this process's now."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.name == "nt":
                import msvcrt

                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let others take it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
