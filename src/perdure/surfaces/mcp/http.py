"""MCP over streamable HTTP: /mcp for every bank, /mcp/{bank} for one; alone or inside another ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from perdure.engine import Perdure
from perdure.errors import Unauthorised
from perdure.surfaces.access import ONLY_LOCAL, KeyRing, check_exposure, is_local, is_loopback
from perdure.surfaces.mcp.caller import Caller
from perdure.surfaces.mcp.server import CALLER, create_server
from perdure.surfaces.process import short_collections
from perdure.surfaces.schedules import attending_schedules
from perdure.surfaces.workers import Workers

PATH = "/mcp"


class McpEndpoint:
    """An ASGI endpoint for both paths. Whoever mounts it must keep `running()` open meanwhile."""

    def __init__(self, engine: Perdure, workers: Workers, *, may_be_open: bool) -> None:
        self._keys, self._workers = KeyRing(engine, may_be_open=may_be_open), workers
        self._any_bank, self._one_bank = (
            StreamableHTTPSessionManager(
                create_server(engine, workers, with_bank=with_bank),
                stateless=True,
                json_response=True,
                max_request_body_size=engine.settings.max_request_bytes,
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
        """Let the caller in, or answer 401."""
        bank = scope.get("path_params", {}).get("bank")
        try:
            caller = await self._admit(Headers(scope=scope), bank)
        except Unauthorised as error:
            body = {"error": {"code": error.code, "message": str(error)}}
            await JSONResponse(body, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            return
        manager = self._any_bank if bank is None else self._one_bank
        await manager.handle_request({**scope, CALLER: caller}, receive, send)

    async def _admit(self, headers: Headers, bank: str | None) -> Caller:
        """By the rules of the REST server: a key, or this machine while there are no keys at all."""
        key = await self._keys.admit(headers, self._workers)
        if key is None and not is_local(headers):
            raise Unauthorised(ONLY_LOCAL)
        return Caller(key, bank)


def create_app(engine: Perdure, host: str) -> Starlette:
    """MCP alone, as an app of its own."""
    app = Starlette()
    mount(app, engine, host)
    return app


def mount(app: Starlette, engine: Perdure, host: str, workers: Workers | None = None) -> None:
    """Add MCP to an app that is served at `host`; without keys it is open to a loopback address only.

    `workers` are those of the app's other surfaces, which then share one limit of recalls with MCP.
    """
    used = workers or Workers(engine.settings)
    endpoint = McpEndpoint(engine, used, may_be_open=is_loopback(host))
    app.router.routes.extend(endpoint.routes())
    around = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(served: Starlette) -> AsyncIterator[Mapping[str, Any] | None]:
        if workers is not None:
            async with around(served) as state, endpoint.running():
                yield state
            return
        async with around(served) as state, endpoint.running(), attending_schedules(engine, used):
            yield state
        used.close()

    app.router.lifespan_context = lifespan  # type: ignore[assignment]


def run_http(engine: Perdure, host: str, port: int, log_level: str) -> None:
    check_exposure(engine, host)
    with short_collections():
        uvicorn.run(create_app(engine, host), host=host, port=port, log_level=log_level, server_header=False)
