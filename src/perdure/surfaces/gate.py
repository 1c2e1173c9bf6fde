"""What every HTTP request passes before anything reads it: a place, a key, a body that arrives in time, a client that stays."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.errors import Forbidden, PerdureError, StoreError, Unauthorised
from perdure.surfaces.access import KeyRing
from perdure.surfaces.connections import Connections
from perdure.surfaces.workers import CLIENT, Client

KEY = "perdure.key"
"""Key of a request's scope under which the gate leaves the API key, None on an open server."""
HEALTH = "/health"
PUBLIC = frozenset({"/version", "/metrics", "/docs", "/openapi.json"})
"""Paths that need no key; an open server keeps them to this machine as well."""
PAGE = "/page/"
"""Where the web page's files are."""
BODY_RATE = 32_768
"""Bytes a second that a body may be slower than: each such piece gives it one second more."""
PIECES = 4
"""Pieces of a body that wait for the app; then the client waits."""
LINGER_BYTES, LINGER_SECONDS = 100_000_000, 2.0
"""How much of a refused body is read, and how long each piece is waited for, so that its client can read the answer."""


def plain_error(
    status: int,
    code: str,
    message: str,
    detail: object = None,
    headers: Mapping[str, str] | None = None,
    fields: Mapping[str, object] | None = None,
) -> JSONResponse:
    """Return the one form of all errors over HTTP."""
    error: dict[str, object] = {"code": code, "message": message}
    if fields is not None:
        error["fields"] = fields
    body = {"detail": message if detail is None else detail, "error": error}
    return JSONResponse(body, status_code=status, headers=dict(headers or {}))


def is_public(path: str) -> bool:
    """Whether a path holds nothing of memory: the web page's files among them."""
    return path in PUBLIC or path == "/" or path.startswith(PAGE)


def is_health(path: str) -> bool:
    return path == HEALTH or path.startswith(f"{HEALTH}/")


class Gate:
    """Refuses callers before their body is read; health is for everybody."""

    def __init__(self, app: ASGIApp, keys: KeyRing) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the caller in, or answer 401 or 403."""
        if scope["type"] != "http" or is_health(scope["path"]):
            await self._app(scope, receive, send)
            return
        refusal = None
        try:
            if not is_public(scope["path"]) or await self._keys.is_open():
                scope[KEY] = key = await self._keys.admit(scope)
                client = CLIENT.get()
                if client is not None and key is not None:
                    client.key = key.id
        except PerdureError as error:
            refusal = refuse(error)
        await (refusal or self._app)(scope, receive, send)


def refuse(error: PerdureError) -> JSONResponse:
    """Answer a caller that is not let in, without waiting for the rest of its request."""
    closing = {"Connection": "close"}
    if isinstance(error, Forbidden):
        return plain_error(403, error.code, str(error), headers=closing)
    if isinstance(error, Unauthorised):
        return plain_error(401, error.code, str(error), headers={"WWW-Authenticate": "Bearer", **closing})
    if isinstance(error, StoreError):
        return plain_error(
            503, error.code, "the keys cannot be read", headers={"Retry-After": "1", **closing}
        )
    raise error


class Presence:
    """Follows the client through its request: the body must arrive in time, and work for one that left is stopped."""

    def __init__(self, app: ASGIApp, timeout: float, connections: Connections | None = None) -> None:
        self._app, self._timeout, self._connections = app, timeout, connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app beside a reader of the client's messages."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connections = self._connections
        if connections is None:
            await self._attend(scope, receive, send)
            return
        connections.request_began(scope.get("client"))
        try:
            if connections.is_spare(scope.get("client")) and not is_health(scope["path"]):
                headers = {"Retry-After": "1", "Connection": "close"}
                full = plain_error(503, "busy", "too many connections", headers=headers)
                await full(scope, receive, send)
            else:
                await self._attend(scope, receive, send)
        finally:
            connections.request_ended(scope.get("client"))

    async def _attend(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = Client()
        incoming = _Incoming(receive, self._timeout)
        started = answered = stopped = False
        waits_for_consent = any(name == b"expect" for name, _ in scope["headers"])

        async def watched(message: Message) -> None:
            nonlocal started, answered
            started = True
            # Behind its answer the app still writes down what was done; who has the whole answer may leave.
            answered = message["type"] == "http.response.body" and not message.get("more_body", False)
            if answered and not incoming.whole and not waits_for_consent:
                await send({**message, "more_body": True})
                await incoming.discard_rest()
                message = {"type": "http.response.body"}
            await send(message)

        token = CLIENT.set(client)
        try:
            app = asyncio.ensure_future(self._app(scope, incoming.next, watched))
        finally:
            CLIENT.reset(token)
        reader = asyncio.create_task(incoming.read())
        try:
            await asyncio.wait((app, reader), return_when=asyncio.FIRST_COMPLETED)
            if not (app.done() or answered) and not reader.cancelled() and reader.exception() is None:
                client.leave()
                app.cancel()
        except asyncio.CancelledError:
            # The server stops and this request has had its time: it gets an answer, not a broken connection.
            client.leave()
            app.cancel()
            stopped = True
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await app
        if stopped and not started:
            headers = {"Retry-After": "1", "Connection": "close"}
            await plain_error(503, "stopping", "the server stops", headers=headers)(scope, receive, send)
        if incoming.late and not started:
            headers = {"Connection": "close"}
            late = plain_error(408, "request_timeout", "the body did not arrive in time", headers=headers)
            await late(scope, receive, send)


class _Incoming:
    """A client's messages, read ahead so that its leaving is seen while the app works."""

    def __init__(self, receive: Receive, timeout: float) -> None:
        self._receive, self._timeout = receive, timeout
        self._pieces: asyncio.Queue[Message] = asyncio.Queue(PIECES)
        self.late = False
        self.whole = False

    async def next(self) -> Message:
        """Receive a message, as the app's `receive`."""
        return await self._pieces.get()

    async def read(self) -> None:
        """Return when the client has left or its body is late; the time that the app lets pieces wait does not count."""
        waited, size = 0.0, 0
        while True:
            left = None if self.whole else self._timeout + size / BODY_RATE - waited
            began = time.monotonic()
            try:
                message: Any = await asyncio.wait_for(self._receive(), left)
            except TimeoutError:
                self.late = True
                return
            waited += time.monotonic() - began
            if message["type"] == "http.disconnect":
                return
            size += len(message.get("body", b""))
            self.whole = not message.get("more_body", False)
            await self._pieces.put(message)

    async def discard_rest(self) -> None:
        """Read on behind the answer: closing a connection on which a client still sends would take the answer from it."""
        size = 0
        with contextlib.suppress(TimeoutError):
            while size < LINGER_BYTES:
                message: Any = await asyncio.wait_for(self.next(), LINGER_SECONDS)
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
