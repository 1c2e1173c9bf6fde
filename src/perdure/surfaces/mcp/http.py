"""MCP over streamable HTTP: /mcp for every bank, /mcp/{bank} for one; alone or inside another ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from perdure.engine import Perdure
from perdure.errors import PerdureError
from perdure.settings import Settings
from perdure.surfaces.access import KeyRing, check_exposure
from perdure.surfaces.connections import Connections
from perdure.surfaces.gate import KEY, Presence, refuse
from perdure.surfaces.mcp.caller import CALLER, Caller
from perdure.surfaces.mcp.sdk import HttpSessions, Server
from perdure.surfaces.mcp.server import create_server
from perdure.surfaces.process import private_files, short_collections, warn_of_readers
from perdure.surfaces.schedules import attending_schedules
from perdure.surfaces.served import make_uvicorn
from perdure.surfaces.workers import CLIENT, Workers

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


def create_app(
    engine: Perdure, settings: Settings | None = None, connections: Connections | None = None
) -> Starlette:
    """MCP alone, as an app of its own."""
    chosen = settings or engine.settings
    app = Starlette()
    app.state.workers = Workers(chosen)
    mount(app, engine, app.state.workers, chosen, alone=True)
    app.add_middleware(Presence, timeout=chosen.receive_timeout, connections=connections)
    return app


def mount(
    app: Starlette,
    engine: Perdure,
    workers: Workers,
    settings: Settings | None = None,
    *,
    alone: bool = False,
) -> None:
    """Add MCP to an app, whose other surfaces share the workers' limits with it; `alone` closes the workers at the end.

    Beside REST, the endpoints of the installed plugins are served too.
    """
    chosen = settings or engine.settings
    keys = KeyRing(engine, chosen, workers)
    most = engine.settings.max_request_bytes
    servers = (create_server(engine, workers), create_server(engine, workers, with_bank=False))
    endpoints = [McpEndpoint(PATH, servers, keys, most)]
    if not alone:
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
            if alone:
                await stack.enter_async_context(attending_schedules(engine, workers))
            yield state
            if alone:
                await keys.note_uses()
        if alone:
            workers.close()

    app.router.lifespan_context = lifespan  # type: ignore[assignment]


def bank_asked_by_header(caller: Caller, scope: Scope) -> Caller:
    """Return the caller with the bank of `X-Bank-Id` as its default."""
    for name, value in scope["headers"]:
        if name == BANK_HEADER and value.strip():
            return replace(caller, default_bank=value.decode("latin-1").strip())
    return caller


def run_http(engine: Perdure, settings: Settings) -> None:
    """Serve MCP alone until interrupted."""
    check_exposure(engine, settings)
    private_files()
    warn_of_readers(settings.database)
    connections = Connections(settings.max_connections, settings.receive_timeout)
    app = create_app(engine, settings, connections)
    with short_collections():
        make_uvicorn(app, settings, connections, app.state.workers, engine).run()
