"""MCP over streamable HTTP: /mcp for every bank, /mcp/{bank} for one; alone or inside another ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
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
from perdure.surfaces.mcp.sdk import HttpSessions
from perdure.surfaces.mcp.server import create_server
from perdure.surfaces.process import private_files, short_collections, warn_of_readers
from perdure.surfaces.schedules import attending_schedules
from perdure.surfaces.served import make_uvicorn
from perdure.surfaces.workers import CLIENT, Workers

PATH = "/mcp"


class McpEndpoint:
    """An ASGI endpoint for both paths. Whoever mounts it must keep `running()` open meanwhile."""

    def __init__(self, engine: Perdure, workers: Workers, settings: Settings) -> None:
        self._keys = KeyRing(engine, settings, workers)
        self._any_bank, self._one_bank = (
            HttpSessions(
                create_server(engine, workers, with_bank=with_bank), engine.settings.max_request_bytes
            )
            for with_bank in (True, False)
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The lifespan of the sessions."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._any_bank.run())
            await stack.enter_async_context(self._one_bank.run())
            yield

    def routes(self) -> list[BaseRoute]:
        """The endpoint's routes, to add to another app's."""
        return [Route(PATH, endpoint=self), Route(f"{PATH}/{{bank}}", endpoint=self)]

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
        caller = Caller(key, bank, client=client)
        await manager.handle({**scope, CALLER: caller}, receive, send)

    async def note_uses(self) -> None:
        """Keep when the keys were last used, for an app that does not do so itself."""
        await self._keys.note_uses()


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
    """Add MCP to an app, whose other surfaces share the workers' limits with it; `alone` closes the workers at the end."""
    endpoint = McpEndpoint(engine, workers, settings or engine.settings)
    app.router.routes.extend(endpoint.routes())
    around = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(served: Starlette) -> AsyncIterator[Mapping[str, Any] | None]:
        if not alone:
            async with around(served) as state, endpoint.running():
                yield state
            return
        async with around(served) as state, endpoint.running(), attending_schedules(engine, workers):
            yield state
            await endpoint.note_uses()
        workers.close()

    app.router.lifespan_context = lifespan  # type: ignore[assignment]


def run_http(engine: Perdure, settings: Settings) -> None:
    """Serve MCP alone until interrupted."""
    check_exposure(engine, settings)
    private_files()
    warn_of_readers(settings.database)
    connections = Connections(settings.max_connections, settings.receive_timeout)
    app = create_app(engine, settings, connections)
    with short_collections():
        make_uvicorn(app, settings, connections, app.state.workers, engine).run()
