"""A proxy before a PostgreSQL server that breaks a connection at the n-th message that clients send through it."""

from __future__ import annotations

import contextlib
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

FATAL = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
FILE = ".s.PGSQL.5432"


class Break(Enum):
    """How a connection ends."""

    BEFORE = "before"
    """The message does not arrive."""
    AFTER = "after"
    """The message arrives, its answer does not."""
    TOLD = "told"
    """As a server that is stopped does it: with an error, and then the end of the connection."""
    HANGING = "hanging"
    """Not at all: nothing arrives any more, and nothing ends."""


class BreakingProxy:
    """Listens on a socket in `folder`. Startup messages are not counted."""

    def __init__(self, server: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="perdure-proxy-"))
        self._server = str(server / FILE)
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / FILE))
        self._listener.listen(64)
        self.messages = 0
        """Sent since `arm`."""
        self._break_at = 0
        self._how = Break.BEFORE
        self._stays_away = False
        self._away = False
        self.broke = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, number: int = 0, how: Break = Break.BEFORE, *, stays_away: bool = False) -> None:
        """Break the connection of the n-th message from now on, 0 for none; with `stays_away` all of them, and refuse new ones."""
        with self._lock:
            self.messages, self._break_at, self._how = 0, number, how
            self._stays_away, self._away = stays_away, False
            self.broke.clear()

    def close(self) -> None:
        """End everything."""
        self._listener.close()
        self._end(self._all())
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._away:
                    if self._how is Break.HANGING:
                        with self._lock:
                            self._sockets.add(client)
                    else:
                        client.close()
                    continue
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        with self._lock:
            self._sockets |= {client, server}
        try:
            server.connect(self._server)
            threading.Thread(target=_answers, args=(server, client), daemon=True).start()
            server.sendall(_read_message(client, b""))
            while kind := _read(client, 1):
                message = _read_message(client, kind)
                if self._breaks():
                    self._break(client, server, message)
                    return
                server.sendall(message)
        except OSError:
            pass  # One of the two ends has gone.
        finally:
            self._end([client, server])

    def _breaks(self) -> bool:
        with self._lock:
            self.messages += 1
            due = self.messages == self._break_at
            self._away = self._away or (due and self._stays_away)
        return due

    def _break(self, client: socket.socket, server: socket.socket, message: bytes) -> None:
        if self._how is Break.HANGING:
            self.broke.set()
            while _read(client, 1):
                pass
            return
        if self._how is Break.AFTER:
            _shut(client)
            server.sendall(message)
        elif self._how is Break.TOLD:
            client.sendall(b"E" + struct.pack("!i", len(FATAL) + 4) + FATAL)
        self._end([client, server])
        if self._stays_away:
            self._end(self._all())
        self.broke.set()

    def _all(self) -> list[socket.socket]:
        with self._lock:
            return list(self._sockets)

    def _end(self, sockets: list[socket.socket]) -> None:
        for one in sockets:
            _shut(one)
            one.close()
        with self._lock:
            self._sockets -= set(sockets)


@contextmanager
def breaking_proxy(server: Path) -> Iterator[BreakingProxy]:
    """A proxy before the server whose socket is in the folder."""
    proxy = BreakingProxy(server)
    try:
        yield proxy
    finally:
        proxy.close()


def _answers(server: socket.socket, client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := server.recv(65536):
            client.sendall(part)
    _shut(client)


def _read(one: socket.socket, size: int) -> bytes:
    """So many bytes; nothing at the end."""
    parts = b""
    while len(parts) < size:
        part = one.recv(size - len(parts))
        if not part:
            return b""
        parts += part
    return parts


def _read_message(one: socket.socket, kind: bytes) -> bytes:
    length = _read(one, 4)
    if not length:
        raise ConnectionError
    return kind + length + _read(one, struct.unpack("!i", length)[0] - 4)


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
