"""The REST app: routes, limits and errors around one engine; and serving it, from settings to a graceful end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

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
from perdure.surfaces.rest import (
    aliases,
    bank_transfer,
    banks,
    config,
    consolidation,
    directives,
    document_work,
    documents,
    entities,
    errors,
    health,
    knowledge_base,
    logs,
    memories,
    mental_models,
    native,
    operations,
    opinions,
    previews,
    recall,
    reflect,
    retain,
    stats,
    templates,
    transfer,
    unbuilt,
    webhooks,
)
from perdure.surfaces.rest.audit import Audited
from perdure.surfaces.rest.middleware import BodyLimit, Joined, Measured, Metrics
from perdure.surfaces.rest.service import Service
from perdure.surfaces.rest.spool import Spool
from perdure.surfaces.schedules import attending_schedules
from perdure.surfaces.served import make_uvicorn
from perdure.surfaces.web import page
from perdure.surfaces.workers import Workers

ROUTERS = (
    recall, reflect, retain, health, banks, config, previews, document_work, unbuilt, consolidation, memories, entities, documents, operations,
    stats, transfer, directives, mental_models, knowledge_base, templates, opinions, webhooks, logs, aliases, bank_transfer, native,
)  # fmt: skip
"""In the order in which a request is compared with them."""


def create_app(engine: Perdure, settings: Settings | None = None) -> FastAPI:
    """An app over an engine, which stays the caller's to close."""
    chosen = settings or engine.settings
    workers = Workers(chosen)
    spool = Spool()
    connections = Connections(chosen.max_connections, chosen.receive_timeout)
    service = Service(
        engine=engine,
        settings=chosen,
        workers=workers,
        keys=KeyRing(engine, chosen, workers),
        metrics=Metrics(workers, connections, engine),
        spool=spool,
        connections=connections,
        transfers=transfer.transfer_jobs(engine, spool) | bank_transfer.bank_transfer_jobs(engine, spool),
    )

    for kind in service.transfers.values():
        engine.jobs.register(kind)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with attending_schedules(engine, workers):
            yield
        await service.keys.note_uses()
        workers.close()
        service.spool.close()

    app = FastAPI(
        title="Perdure",
        description="Long-term memory for AI agents, in the vocabulary of Hindsight's HTTP API.",
        version=__version__,
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.aliases = aliases.AliasTable(engine, workers)
    if chosen.telemetry:
        from perdure.telemetry.otel import OpenTelemetry

        app.add_middleware(Joined, telemetry=OpenTelemetry())
    app.add_middleware(aliases.Aliased, table=app.state.aliases)
    app.add_middleware(Audited, trail=AuditTrail(engine, workers))
    app.add_middleware(BodyLimit, most=chosen.max_request_bytes)
    app.add_middleware(Gate, keys=service.keys)
    app.add_middleware(Presence, timeout=chosen.receive_timeout, connections=connections)
    app.add_middleware(Measured, metrics=service.metrics)
    errors.install(app)
    for module in ROUTERS:
        app.include_router(module.router)
    app.include_router(page.router)
    return app


def make_server(
    engine: Perdure, settings: Settings, extend: Callable[[FastAPI], None] | None = None
) -> uvicorn.Server:
    """A server that has not started; `extend` may add to the app, such as other surfaces."""
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
