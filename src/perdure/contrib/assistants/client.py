"""`perdure hook EVENT`: the process that an assistant waits for. It loads nothing, asks the warm process, and always exits 0.

What it prints is the warm process's reply, whole or not at all. Events that only retain are kept in a file before anybody is
asked. A leaf of the standard library alone: no model, no settings, no framework.
"""

from __future__ import annotations

import json
import os
import sys
import time
from _thread import start_new_thread

from perdure import __version__
from perdure.contrib.assistants import place, settings, wire

EVENTS = ("session-start", "prompt", "stop", "pre-compact", "session-end")
SPOOLED = frozenset({"stop", "pre-compact", "session-end"})
"""Events that tell nothing: they are written down and retained later."""
LIMIT = 1.75
"""Seconds from the start of the process to its end, whatever it is doing then."""
REPLY_LIMIT = 1.5
"""Seconds from the start of the process for which a reply is waited for; at the start of a session for a process to start too."""
GRACE = 0.1
"""Seconds that there are at least, on a machine where the interpreter alone takes as long."""
FAILED_SECONDS = 60.0
"""For which nobody starts the warm process again when it could not start."""
MOST_INPUT = 4_000_000


def main(argv: list[str]) -> None:
    """Run one hook and end the process with 0."""
    age = process_age()
    start_new_thread(_end_after, (max(GRACE, LIMIT - age),))
    deadline = time.monotonic() + max(GRACE, REPLY_LIMIT - age)
    folder, output = settings.assistant_folder(), b""
    try:
        os.umask(0o077)
        event, host, folder = read_arguments(argv)
        output = run(event, host, folder, sys.stdin.buffer.read(MOST_INPUT + 1), deadline).encode()
    except BaseException as error:  # noqa: BLE001 - a hook never fails: other codes than 0 stop the assistant's turn
        place.log_error(folder, f"hook {' '.join(argv)}: {type(error).__name__}: {error}")
    try:
        while output:
            output = output[os.write(1, output) :]
    except OSError as error:
        place.log_error(folder, f"hook {' '.join(argv)}: {error}")
    os._exit(0)


def _end_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(0)


def process_age() -> float:
    """Seconds since this process was started, as far as the system tells; else 0."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def read_arguments(argv: list[str]) -> tuple[str, str, str]:
    """Event, host and folder of a command line."""
    options = {"--host": "auto", "--folder": ""}
    event, rest = "", list(argv)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in options:
            if not equals and not rest:
                raise ValueError(f"{name}: expected a value")
            options[name] = value if equals else rest.pop(0)
        elif event:
            raise ValueError(f"expected one event, got {word!r} too")
        else:
            event = word
    if event not in EVENTS:
        raise ValueError(f"expected an event of {', '.join(EVENTS)}, got {event!r}")
    return event, options["--host"], settings.assistant_folder(options["--folder"])


def run(event: str, host: str, folder: str, stdin: bytes, deadline: float) -> str:
    """Return what the assistant is told; empty for nothing. Nobody is waited for beyond the deadline, on the monotonic clock."""
    if len(stdin) > MOST_INPUT:
        raise ValueError(f"more than {MOST_INPUT} bytes on standard input")
    payload = json.loads(stdin)
    if not isinstance(payload, dict):
        raise ValueError("expected a JSON object on standard input")
    request: wire.Message = {
        "event": event,
        "host": host,
        "payload": payload,
        "marks": settings.host_marks(),
        "bank": settings.assistant_bank(),
        "at": time.time(),
        "folder": os.getcwd(),
    }
    place.make_folder(folder)
    if event in SPOOLED:
        place.spool(folder, request)
        if _ask_running(folder, {"event": "drain"}, deadline) is None:
            start(folder)
        return ""
    reply = _ask_running(folder, request, deadline)
    if reply is None:
        begun = start(folder)
        if event == "prompt":
            place.spool(folder, {**request, "unanswered": True})
        elif begun:
            reply = _ask_when_started(folder, request, deadline)
    output = (reply or {}).get("output", "")
    return output if isinstance(output, str) else ""


def _ask_running(folder: str, request: wire.Message, deadline: float) -> wire.Message | None:
    """Return the reply of a running process of this version; None when there is none. One of another version is told to go."""
    running = place.read_object(os.path.join(folder, "warm.json"))
    port, secret = running.get("port"), running.get("secret")
    if not isinstance(port, int) or not isinstance(secret, str):
        return None
    same = running.get("identity") == place.identity(folder, __version__)
    until = deadline if same else min(deadline, time.monotonic() + 0.2)
    try:
        reply = wire.ask(port, secret, request if same else {"event": "leave"}, until)
    except ConnectionRefusedError:
        return None
    except TimeoutError:
        place.log_error(folder, f"{request['event']}: the warm process did not answer in time")
        return {} if same else None
    except (OSError, ValueError, wire.Refused) as error:
        place.log_error(folder, f"{request['event']}: {type(error).__name__}: {error}")
        return None
    return reply if same else None


def is_running(folder: str) -> bool:
    """Whether a process of this version and these settings has said that it listens."""
    running = place.read_object(os.path.join(folder, "warm.json"))
    return running.get("identity") == place.identity(folder, __version__)


def _ask_when_started(folder: str, request: wire.Message, deadline: float) -> wire.Message | None:
    while time.monotonic() < deadline:
        reply = _ask_running(folder, request, deadline)
        if reply is not None:
            return reply
        time.sleep(0.05)
    return None


def start(folder: str) -> bool:
    """Start the warm process, detached, unless one is starting, running or has just failed; whether one may be expected."""
    try:
        if time.time() - os.stat(os.path.join(folder, "warm.failed")).st_mtime < FAILED_SECONDS:
            return False
    except OSError:
        pass
    if not place.Lock(folder, "warm.next").is_free:
        return True
    if is_running(folder) and not place.Lock(folder).is_free:
        return True
    import subprocess

    options: dict[str, int | bool] = {"start_new_session": True}
    if os.name == "nt":
        options = {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    subprocess.Popen(  # type: ignore[call-overload]
        [sys.executable, "-m", "perdure.contrib.assistants.warm", folder],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        cwd=folder,
        env=settings.lasting_environment(),
        **options,
    )
    return True
