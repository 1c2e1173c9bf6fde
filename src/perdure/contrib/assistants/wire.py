"""How a hook talks to the warm process: one request and one reply, JSON lines over a loopback connection.

Both sides prove that they have read warm.json, which only its user can, before either says anything: a port that was left by a
dead process may be another user's now. A leaf of the standard library alone.

    hook -> warm   challenge                        32 hex digits
    warm -> hook   proof(challenge) challenge
    hook -> warm   proof(challenge) request         JSON without line breaks
    warm -> hook   reply
"""

from __future__ import annotations

import json
import os
import socket
import time
from hashlib import blake2b

LOOPBACK = "127.0.0.1"
MOST_BYTES = 8_000_000
"""Of one line."""
Message = dict[str, object]


class Refused(Exception):
    """The other side does not know the secret, or says nothing that can be read."""


def challenge() -> bytes:
    """Something that no earlier connection has answered."""
    return os.urandom(16).hex().encode()


def proof(secret: str, side: bytes, asked: bytes) -> bytes:
    """Prove to the other side that this one has the secret, without revealing it."""
    return blake2b(side + asked, key=bytes.fromhex(secret), digest_size=32).hexdigest().encode()


class Line:
    """Lines from a connection, until a deadline on the monotonic clock."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection, self._deadline = connection, deadline
        self._rest = b""

    def read(self) -> bytes:
        """Return the next line, without its end."""
        while b"\n" not in self._rest:
            self._connection.settimeout(max(0.001, self._deadline - time.monotonic()))
            part = self._connection.recv(65536)
            if not part or len(self._rest) > MOST_BYTES:
                raise Refused("the connection ended within a line")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def write(self, *words: bytes) -> None:
        """Send a line of these words."""
        self._connection.settimeout(max(0.001, self._deadline - time.monotonic()))
        self._connection.sendall(b" ".join(words) + b"\n")


def ask(port: int, secret: str, request: Message, deadline: float) -> Message:
    """Return the warm process's reply; OSError when nobody listens or time is over, Refused when it is somebody else."""
    patience = max(0.001, deadline - time.monotonic())
    with socket.create_connection((LOOPBACK, port), timeout=patience) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line = Line(connection, deadline)
        mine = challenge()
        line.write(mine)
        answer, _, theirs = line.read().partition(b" ")
        if answer != proof(secret, b"warm", mine):
            raise Refused("what listens there is not the warm process")
        line.write(proof(secret, b"hook", theirs), json.dumps(request).encode())
        reply = json.loads(line.read())
    if not isinstance(reply, dict):
        raise Refused("the reply is no object")
    return reply


def hear(connection: socket.socket, secret: str, deadline: float) -> tuple[Line, Message]:
    """Return the request of a hook that has the secret, and the line to answer on."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line = Line(connection, deadline)
    mine = challenge()
    line.write(proof(secret, b"warm", line.read()), mine)
    answer, _, body = line.read().partition(b" ")
    if answer != proof(secret, b"hook", mine):
        raise Refused("a caller without the secret")
    request = json.loads(body)
    if not isinstance(request, dict):
        raise Refused("the request is no object")
    return line, request


def tell(line: Line, reply: Message) -> None:
    """Answer a request."""
    line.write(json.dumps(reply).encode())
