"""The REST app: routes, limits and errors around one engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from perdure import __version__
from perdure.engine import Perdure
from perdure.settings import Settings
from perdure.surfaces.access import KeyRing, is_loopback
from perdure.surfaces.rest import errors
from perdure.surfaces.rest.limits import BodyLimit
from perdure.surfaces.rest.metrics import Measured, Metrics
from perdure.surfaces.rest.routes import (
    banks,
    config,
    documents,
    entities,
    health,
    memories,
    operations,
    recall,
    retain,
    stats,
    transfer,
    unbuilt,
)
from perdure.surfaces.rest.service import Service
from perdure.surfaces.rest.spool import Spool
from perdure.surfaces.workers import Workers

ROUTERS = (
    recall, retain, health, banks, config, unbuilt, memories, entities, documents, operations, stats, transfer,
)  # fmt: skip
"""In the order in which a request is compared with them."""


def create_app(engine: Perdure, settings: Settings | None = None) -> FastAPI:
    """An app over an engine, which stays the caller's to close."""
    chosen = settings or engine.settings
    workers = Workers(chosen)
    service = Service(
        engine=engine,
        settings=chosen,
        workers=workers,
        keys=KeyRing(engine, may_be_open=is_loopback(chosen.host)),
        metrics=Metrics(workers),
        spool=Spool(),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        workers.close()
        service.spool.close()

    app = FastAPI(
        title="Perdure",
        description="Long-term memory for AI agents, in the vocabulary of Hindsight's HTTP API.",
        version=__version__,
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_middleware(BodyLimit, most=chosen.max_request_bytes)
    app.add_middleware(Measured, metrics=service.metrics)
    errors.install(app)
    for module in ROUTERS:
        app.include_router(module.router)
    return app
