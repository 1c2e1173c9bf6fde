"""Connections of a server: at most so many, and none that does not say in time what it wants.

A `ConnectionGuard` stands between the socket and uvicorn's protocol and uses nothing but asyncio's interface of protocols; the
app tells by `request_began` and `request_ended` which connections have a request under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

Peer = tuple[str, int]
SPARE = 16
"""Connections beyond the limit that are answered for their health only, while all others are at work."""
MOST_HEADER_BYTES = 262_144
_REFUSAL = b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: 0\r\n%s\r\n"
TIMED_OUT = _REFUSAL % (b"408 Request Timeout", b"")
TOO_LARGE = _REFUSAL % (b"431 Request Header Fields Too Large", b"")
FULL = _REFUSAL % (b"503 Service Unavailable", b"Retry-After: 1\r\n")


class Connections:
    """The open connections of one server."""

    def __init__(self, most: int, header_timeout: float) -> None:
        self._most, self.header_timeout = most, header_timeout
        self._open: dict[Peer, ConnectionGuard] = {}
        """In the order in which they were opened."""
        self.refused = 0
        self.evicted = 0
        """Connections without a request that made room for a new one."""
        self.timed_out = 0
        """Connections that did not send a whole request's headers in time."""

    def __len__(self) -> int:
        return len(self._open)

    def protocol(self, make: Callable[..., asyncio.Protocol]) -> Callable[..., asyncio.Protocol]:
        """Return a factory of guarded protocols, from a factory of uvicorn's."""
        return lambda **options: ConnectionGuard(make(**options), self)

    def enter(self, guard: ConnectionGuard, peer: Peer) -> bool:
        """Take a new connection in, if need be in the place of the oldest one that has no request under way."""
        if len(self._open) >= self._most:
            idle = next((one for one in self._open.values() if not one.requests), None)
            if idle is not None:
                self.evicted += 1
                idle.cut()
            elif len(self._open) < self._most + SPARE:
                guard.spare = True
            else:
                self.refused += 1
                return False
        self._open[peer] = guard
        return True

    def leave(self, peer: Peer) -> None:
        self._open.pop(peer, None)

    def request_began(self, peer: Any) -> None:
        """Note that the headers of a request have arrived."""
        guard = self._open.get(_peer(peer))
        if guard is not None:
            guard.request_began()

    def request_ended(self, peer: Any) -> None:
        """Note that a request was answered."""
        guard = self._open.get(_peer(peer))
        if guard is not None:
            guard.request_ended()

    def is_spare(self, peer: Any) -> bool:
        """Whether a connection is beyond the limit."""
        guard = self._open.get(_peer(peer))
        return guard is not None and guard.spare


class ConnectionGuard(asyncio.Protocol):
    """Passes everything on to the protocol inside, and closes a connection that is late or too many."""

    def __init__(self, inside: asyncio.Protocol, connections: Connections) -> None:
        self._inside, self._connections = inside, connections
        self._transport: asyncio.Transport | None = None
        self._peer: Peer = ("", 0)
        self._timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._answered = False
        self.requests = 0
        """Requests under way."""
        self.spare = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)  # uvloop's are not subclasses
        self._peer = _peer(transport.get_extra_info("peername"))
        if not self._connections.enter(self, self._peer):
            stream.write(FULL)
            stream.close()
            return
        self._transport = stream
        self._inside.connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            return
        if not self.requests:
            if self._header_bytes > MOST_HEADER_BYTES:
                self.cut(TOO_LARGE)
                return
            self._header_bytes += len(data)
            self._expect_headers()
        self._inside.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inside.eof_received() if self._transport is not None else None

    def connection_lost(self, error: Exception | None) -> None:
        self._stop_timer()
        if self._transport is not None:
            self._transport = None
            self._connections.leave(self._peer)
            self._inside.connection_lost(error)

    def pause_writing(self) -> None:
        self._inside.pause_writing()

    def resume_writing(self) -> None:
        self._inside.resume_writing()

    def request_began(self) -> None:
        self.requests += 1
        self._answered = True
        self._header_bytes = 0
        self._stop_timer()

    def request_ended(self) -> None:
        """Start the time of the next request, whose first bytes may be here already."""
        self.requests -= 1
        if not self.requests:
            self._expect_headers()

    def cut(self, last_words: bytes = b"") -> None:
        """Close the connection now."""
        if self._transport is not None:
            if last_words:
                self._transport.write(last_words)
            self._connections.leave(self._peer)
            self._transport.close()

    def _expect_headers(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._connections.header_timeout, self._time_out)

    def _time_out(self) -> None:
        self._timer = None
        if not self.requests:
            self._connections.timed_out += 1
            self.cut(TIMED_OUT if self._header_bytes or not self._answered else b"")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _peer(address: Any) -> Peer:
    return (str(address[0]), int(address[1])) if address else ("", 0)
