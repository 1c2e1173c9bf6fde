"""A uvicorn server with guarded connections that ends in time: what runs is finished, then called off, then left behind."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from perdure.engine import Perdure
from perdure.settings import Settings, service_manager
from perdure.surfaces.connections import Connections
from perdure.surfaces.process import TERMINATED
from perdure.surfaces.workers import Workers

GRACE_SECONDS = 4
"""For requests and the background step under way, from the signal on."""
LAST_SECONDS = 8.0
"""From the signal to the end of the process, whatever still runs: what was acknowledged is safe in the file's log."""
KEEP_ALIVE_SECONDS = 5
log = logging.getLogger("perdure.server")


def make_uvicorn(
    app: Any, settings: Settings, connections: Connections, workers: Workers, engine: Perdure
) -> TimelyServer:
    """Return a server for the app that has not started."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=connections.protocol(AutoHTTPProtocol),  # type: ignore[arg-type]
        ws="none",
        log_level=settings.log_level,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=False,
        server_header=False,
        access_log=settings.log_level in ("debug", "info"),
    )
    return TimelyServer(config, workers, engine, service_manager())


class TimelyServer(uvicorn.Server):
    """Tells systemd when it serves, and ends within `LAST_SECONDS` of a signal."""

    def __init__(self, config: uvicorn.Config, workers: Workers, engine: Perdure, notify_socket: str) -> None:
        super().__init__(config)
        self._workers, self._engine, self._notify_socket = workers, engine, notify_socket

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            notify(self._notify_socket, "READY=1")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; the second SIGINT ends at once."""
        if not self.should_exit:
            self._workers.stopping = True
            notify(self._notify_socket, "STOPPING=1")
            threading.Thread(target=self._see_to_the_end, args=(sig,), daemon=True).start()
        super().handle_exit(sig, frame)

    def _see_to_the_end(self, sig: int) -> None:
        """Stays behind on a thread of its own, which the process does not wait for when it ends by itself."""
        pause = threading.Event()
        pause.wait(GRACE_SECONDS)
        self._engine.jobs.interrupt()
        pause.wait(LAST_SECONDS - GRACE_SECONDS)
        log.warning("work that does not stop is left; it is done anew after the next start")
        os._exit(TERMINATED if sig == signal.SIGTERM else 128 + sig)


def notify(address: str, state: str) -> None:
    """Tell the service manager: https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html."""
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
            to.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            to.send(state.encode())
    except OSError as error:
        log.warning("%s was not told %s: %s", address, state, error)
