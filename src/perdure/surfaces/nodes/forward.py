"""Passes whole recalls on to the node that owns their bank, and answers here when that node is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.surfaces.access import Caller
from perdure.surfaces.gate import KEY
from perdure.surfaces.nodes.members import Members
from perdure.surfaces.workers import Workers

log = logging.getLogger("perdure.nodes")

HOP = b"perdure-hop"
"""The header of a request that was passed on: whoever gets it answers."""
ABSENT_SECONDS = 5.0
"""So long a node that did not answer is not asked again."""
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 10.0
"""For a recall's whole way to its owner and back."""
KEPT_SECONDS = 4.0
"""For an idle connection; the server at the other end closes it after five."""
_BANKS = "/v1/default/banks/"
_OWN_BANKS = "/v1/perdure/banks/"
_ROUTED = {
    _BANKS: frozenset({"memories/recall", "reflect"}),
    _OWN_BANKS: frozenset({"recall", "prompt", "reflect"}),
}
"""Where paths of banks begin -> what is passed on of them."""
_MCP = "/mcp"
_MCP_TOOLS = ("recall", "reflect")
_OF_CONNECTION = frozenset({
    b"host", b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect",
    b"content-length", b"accept-encoding", b"date", b"server",
})  # fmt: skip
"""Headers of one connection, which are not passed on."""


@dataclass(slots=True)
class Hops:
    """What a node counts."""

    passed_on: int = 0
    """Requests that their owner answered."""
    arrived: int = 0
    """Requests that another node passed on to this one."""
    retried: int = 0
    """Second attempts."""
    answered_for_absent_owner: int = 0
    """Requests of other nodes' banks that were answered here."""


@dataclass(frozen=True, slots=True)
class Route:
    """What is measured: the path's template, as of a route of the app."""

    path: str


class Forwarding:
    """Stands before everything that answers; behind the gate, so that only callers with a key are passed on."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        members: Members,
        workers: Workers,
        find_alias: Callable[[str], Awaitable[str | None]],
        hops: Hops,
        reflect_seconds: float = 0.0,
    ) -> None:
        """A reflection has `reflect_seconds` more than a recall for its way to its owner and back."""
        self._app, self._members, self._workers, self._hops = app, members, workers, hops
        self._find_alias = find_alias
        self._reflect_seconds = reflect_seconds
        self._absent_until: dict[str, float] = {}
        self._client: httpx.AsyncClient | None = None
        self._refreshing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or to the app."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            await self._close()
            return
        routed = _routed(scope)
        if routed is None:
            await self._app(scope, receive, send)
            return
        if any(name == HOP for name, _ in scope["headers"]):
            self._hops.arrived += 1
            await self._app(scope, receive, send)
            return
        body = await _read_body(receive)
        if body is None:
            return  # The client left before its request was whole.
        bank = await self._bank(scope, body)
        self._refresh_members()
        owner = None if bank is None else self._members.owner(bank)
        if owner is not None:
            seconds = ANSWER_SECONDS + (
                self._reflect_seconds if routed.endswith("reflect") or routed == _MCP else 0
            )
            answer = await self._ask(owner, scope, body, seconds)
            if answer is not None:
                scope["route"] = Route(routed)
                await _reply(answer, send)
                return
            self._hops.answered_for_absent_owner += 1
        await self._app(scope, _replayed(body, receive), send)

    async def _bank(self, scope: Scope, body: bytes) -> str | None:
        """The bank that a request is about; None for one that is not passed on."""
        path: str = scope["path"]
        if path.startswith(_BANKS):
            asked = path.removeprefix(_BANKS).partition("/")[0]
            return await self._find_alias(asked) or asked
        if path.startswith(_OWN_BANKS):
            return path.removeprefix(_OWN_BANKS).partition("/")[0]
        return _mcp_bank(path, body, Caller(scope.get(KEY)))

    async def _ask(self, owner: str, scope: Scope, body: bytes, seconds: float) -> httpx.Response | None:
        """The owner's answer; None when it is gone or about to go."""
        now = time.monotonic()
        if now < self._absent_until.get(owner, 0.0):
            return None
        if owner in self._absent_until:
            # Only this request tries whether it is back; others do not wait for that.
            self._absent_until[owner] = now + 2 * CONNECT_SECONDS
        try:
            async with asyncio.timeout(seconds):
                answer = await self._send_twice(owner, scope, body)
        except TimeoutError:
            self._note_absent(owner, f"no answer within {seconds:g} seconds")
            return None
        except httpx.TransportError as error:
            self._note_absent(owner, f"{type(error).__name__} {error}".strip())
            return None
        if answer.status_code == 503 and _error_code(answer) in ("stopping", "busy"):
            self._note_absent(owner, "it stops or has too many connections")
            return None
        if self._absent_until.pop(owner, None) is not None:
            log.warning("node %s answers again", owner)
        self._hops.passed_on += 1
        return answer

    async def _send_twice(self, owner: str, scope: Scope, body: bytes) -> httpx.Response:
        """A connection that was kept may be closed at the other end: the second attempt opens a new one.

        What is passed on reads and may be repeated.
        """
        query = scope["query_string"]
        url = (
            owner
            + scope.get("raw_path", b"").decode("ascii")
            + (f"?{query.decode('ascii')}" if query else "")
        )
        headers = [(name, value) for name, value in scope["headers"] if name not in _OF_CONNECTION]
        headers.append((HOP, (self._members.own or "").encode()))
        if self._client is None:
            self._client = _make_client()
        try:
            return await _post(self._client, url, body, headers)
        except httpx.TransportError:
            self._hops.retried += 1
            return await _post(self._client, url, body, headers)

    def _note_absent(self, owner: str, reason: str) -> None:
        now = time.monotonic()
        is_news = now >= self._absent_until.get(owner, 0.0)
        self._absent_until[owner] = now + ABSENT_SECONDS
        if not is_news:
            return  # Requests under way at once are told of once.
        log.warning(
            "node %s does not answer (%s): recalls of its banks are answered here, and it is tried again in %g seconds",
            owner, reason, ABSENT_SECONDS,
        )  # fmt: skip

    def _refresh_members(self) -> None:
        """Read a list that is old beside the request, which uses it as it is."""
        if self._members.is_old and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._workers.control(self._members.refresh))

    async def _close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()


async def _post(
    client: httpx.AsyncClient, url: str, body: bytes, headers: list[tuple[bytes, bytes]]
) -> httpx.Response:
    """An answer, or TransportError; also where a connection dies in the moment in which it is made.

    anyio asks then for the address of a socket that is there no more, and says so in an AttributeError.
    """
    try:
        return await client.post(url, content=body, headers=headers)
    except AttributeError as error:
        raise httpx.ConnectError(f"the connection was lost when it was made ({error})") from error


def _make_client() -> httpx.AsyncClient:
    """Straight to the other nodes: no proxy, whatever the environment says."""
    return httpx.AsyncClient(
        verify=ssl.create_default_context(),
        trust_env=False,
        follow_redirects=False,
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=64, keepalive_expiry=KEPT_SECONDS
        ),
        headers={"accept-encoding": "identity"},
    )


def _routed(scope: Scope) -> str | None:
    """The template of a path that may be passed on."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path: str = scope["path"]
    for banks, passed_on in _ROUTED.items():
        if path.startswith(banks):
            asked = path.removeprefix(banks).partition("/")[2]
            return f"{banks}{{bank_id}}/{asked}" if asked in passed_on else None
    return _MCP if path == _MCP or path.startswith(f"{_MCP}/") else None


def _mcp_bank(path: str, body: bytes, caller: Caller) -> str | None:
    """The bank of a call of a tool that recalls; None for anything else, wrong requests too."""
    try:
        message: Any = json.loads(body)
        if message["method"] != "tools/call" or message["params"]["name"] not in _MCP_TOOLS:
            return None
        asked = message["params"].get("arguments", {}).get("bank")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    bank = path.removeprefix(_MCP).strip("/") or asked or caller.only_bank()
    return bank if isinstance(bank, str) else None


async def _read_body(receive: Receive) -> bytes | None:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The `receive` of an app that answers here: the body once more, then what the client sends."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _reply(answer: httpx.Response, send: Send) -> None:
    headers = [
        (name.lower(), value) for name, value in answer.headers.raw if name.lower() not in _OF_CONNECTION
    ]
    headers.append((b"content-length", str(len(answer.content)).encode()))
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": answer.content, "more_body": False})


def _error_code(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""
