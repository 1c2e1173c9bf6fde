"""The HTTP app: routes, limits and errors around one engine; and serving it, from settings to a graceful end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import entry_points

import uvicorn
from fastapi import FastAPI

from perdure import __version__
from perdure.engine import Perdure
from perdure.settings import Settings
from perdure.surfaces.access import KeyRing, check_exposure, check_port
from perdure.surfaces.audit import AuditTrail
from perdure.surfaces.connections import Connections
from perdure.surfaces.gate import Gate, Presence
from perdure.surfaces.process import closing_on_sigterm, private_files, short_collections, warn_of_readers
from perdure.surfaces.rest import errors, files, health, verbs
from perdure.surfaces.rest.audit import Audited
from perdure.surfaces.rest.middleware import BodyLimit, Joined, Measured, Metrics
from perdure.surfaces.rest.service import Service
from perdure.surfaces.schedules import attending_schedules
from perdure.surfaces.served import make_uvicorn
from perdure.surfaces.web import page
from perdure.surfaces.workers import Workers

PLUGINS = "perdure.routers"
"""Entry points that name functions from an app; each adds routes to it before it starts."""


def create_app(engine: Perdure, settings: Settings | None = None) -> FastAPI:
    """Return an app over an engine, with the routes of the installed plugins; the caller closes the engine."""
    chosen = settings or engine.settings
    workers = Workers(chosen)
    connections = Connections(chosen.max_connections, chosen.receive_timeout)
    service = Service(
        engine=engine,
        settings=chosen,
        workers=workers,
        keys=KeyRing(engine, chosen, workers),
        metrics=Metrics(workers, connections, engine),
        connections=connections,
        trail=AuditTrail(engine, workers),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with attending_schedules(engine, workers):
            yield
        await service.keys.note_uses()
        workers.close()
        service.closing.close()

    app = FastAPI(
        title="Perdure",
        description="Long-term memory for AI agents.",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    if chosen.telemetry:
        from perdure.telemetry.otel import OpenTelemetry

        app.add_middleware(Joined, telemetry=OpenTelemetry())
    for plugin in entry_points(group=PLUGINS):
        plugin.load()(app)
    app.add_middleware(Audited, trail=service.trail)
    app.add_middleware(BodyLimit, most=chosen.max_request_bytes)
    app.add_middleware(Gate, keys=service.keys)
    app.add_middleware(Presence, timeout=chosen.receive_timeout, connections=connections)
    app.add_middleware(Measured, metrics=service.metrics)
    errors.install(app)
    for router in (health.router, files.router, verbs.router, page.router):
        app.include_router(router)
    return app


def make_server(
    engine: Perdure, settings: Settings, extend: Callable[[FastAPI], None] | None = None
) -> uvicorn.Server:
    """Return a server that has not started; `extend` may add to the app, such as other surfaces."""
    check_exposure(engine, settings)
    app = create_app(engine, settings)
    if extend is not None:
        extend(app)
    service: Service = app.state.service
    return make_uvicorn(app, settings, service.connections, service.workers, engine)


def serve(settings: Settings, extend: Callable[[FastAPI], None] | None = None) -> None:
    """Serve until interrupted; requests under way are finished first, as far as that takes no longer than it may."""
    logging.basicConfig(level=settings.log_level.upper())
    private_files()
    with closing_on_sigterm(), Perdure.open(settings=settings) as engine, short_collections():
        check_port(settings.host, settings.port)
        warn_of_readers(settings.database)
        server = make_server(engine, settings, extend)
        server.run()
