"""Serving: an engine, an app and uvicorn, from settings to a graceful end."""

from __future__ import annotations

import logging
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from perdure.engine import Perdure
from perdure.models.blas import limit_blas_threads
from perdure.settings import Settings
from perdure.surfaces.access import check_exposure, check_port
from perdure.surfaces.collector import short_collections
from perdure.surfaces.ending import closing_on_sigterm
from perdure.surfaces.rest.app import create_app

GRACE_SECONDS = 30


def make_server(
    engine: Perdure, settings: Settings, extend: Callable[[FastAPI], None] | None = None
) -> uvicorn.Server:
    """A server that has not started; `extend` may add to the app, such as other surfaces."""
    check_exposure(engine, settings.host)
    app = create_app(engine, settings)
    if extend is not None:
        extend(app)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level,
        timeout_graceful_shutdown=GRACE_SECONDS,
        server_header=False,
        access_log=settings.log_level in ("debug", "info"),
    )
    return uvicorn.Server(config)


def serve(settings: Settings, extend: Callable[[FastAPI], None] | None = None) -> None:
    """Serve until interrupted; requests under way are finished first."""
    logging.basicConfig(level=settings.log_level.upper())
    limit_blas_threads(settings.blas_threads)
    with closing_on_sigterm(), Perdure.open(settings=settings) as engine, short_collections():
        check_port(settings.host, settings.port)
        server = make_server(engine, settings, extend)
        server.run()
