"""MCP over streamable HTTP, in the app of `perdure serve`: /mcp for every bank, /mcp/{bank} for one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from perdure.errors import PerdureError
from perdure.surfaces.access import KeyRing
from perdure.surfaces.gate import KEY, refuse
from perdure.surfaces.mcp.caller import CALLER, Caller
from perdure.surfaces.mcp.sdk import HttpSessions, Server
from perdure.surfaces.mcp.server import create_server
from perdure.surfaces.workers import CLIENT

PATH = "/mcp"
BANK_HEADER = b"x-bank-id"
PLUGINS = "perdure.mcp"
"""Entry points that name functions from app, keys and largest body to a further endpoint; used beside REST."""


class McpEndpoint:
    """An ASGI endpoint for both paths: every bank, and one. Whoever mounts it must keep `running()` open meanwhile."""

    def __init__(
        self, path: str, servers: tuple[Server, Server], keys: KeyRing, max_request_bytes: int
    ) -> None:
        self._path, self._keys = path, keys
        self._any_bank, self._one_bank = (HttpSessions(server, max_request_bytes) for server in servers)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the sessions while the app runs."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._any_bank.run())
            await stack.enter_async_context(self._one_bank.run())
            yield

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the endpoint, to add to another app's."""
        paths = (self._path, f"{self._path}/", f"{self._path}/{{bank}}", f"{self._path}/{{bank}}/")
        return [Route(path, endpoint=self) for path in paths]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the caller in, or answer 401 or 403; the app around may have done so already."""
        bank = scope.get("path_params", {}).get("bank")
        try:
            key = scope[KEY] if KEY in scope else await self._keys.admit(scope)
        except PerdureError as error:
            await refuse(error)(scope, receive, send)
            return
        client = CLIENT.get()
        if client is not None and key is not None:
            client.key = key.id
        manager = self._any_bank if bank is None else self._one_bank
        caller = bank_asked_by_header(Caller(key, bank, client=client), scope)
        # White space around a header's value is no part of it, and not every HTTP parser takes it away.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await manager.handle({**scope, "headers": headers, CALLER: caller}, receive, send)


def mount(app: Starlette) -> None:
    """Add MCP to the app of REST, which shares its keys and limits, and the endpoints of the installed plugins."""
    service = app.state.service
    keys, most = service.keys, service.settings.max_request_bytes
    servers = (
        create_server(service.engine, service.workers),
        create_server(service.engine, service.workers, with_bank=False),
    )
    endpoints = [McpEndpoint(PATH, servers, keys, most)]
    endpoints += [plugin.load()(app, keys, most) for plugin in entry_points(group=PLUGINS)]
    for endpoint in endpoints:
        app.router.routes.extend(endpoint.routes())
    around = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(served: Starlette) -> AsyncIterator[Mapping[str, Any] | None]:
        async with AsyncExitStack() as stack:
            state = await stack.enter_async_context(around(served))
            for endpoint in endpoints:
                await stack.enter_async_context(endpoint.running())
            yield state

    app.router.lifespan_context = lifespan  # type: ignore[assignment]


def bank_asked_by_header(caller: Caller, scope: Scope) -> Caller:
    """Return the caller with the bank of `X-Bank-Id` as its default."""
    for name, value in scope["headers"]:
        if name == BANK_HEADER and value.strip():
            return replace(caller, default_bank=value.decode("latin-1").strip())
    return caller
