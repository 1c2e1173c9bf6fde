"""Whether the server is there, ready, and what it can do."""

from __future__ import annotations

import time

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel

from perdure import __version__
from perdure.surfaces.gate import plain_error
from perdure.surfaces.rest.service import Service, Serving, reply

router = APIRouter(tags=["Monitoring"])


class LivenessResponse(BaseModel):
    """The process answers."""

    status: str = "alive"
    version: str
    uptime_seconds: float


class HealthResponse(BaseModel):
    """Whether the store answers."""

    status: str = "healthy"
    database: str = "connected"


async def _probe(service: Service, status: str) -> Response:
    """On threads that no other caller fills."""
    await service.workers.control(service.engine.records.list, "health")
    return reply(HealthResponse(status=status))


@router.get("/health", operation_id="health_endpoint_health_get", response_model=HealthResponse)
async def health(service: Serving) -> Response:
    """Healthy when the store answers."""
    return await _probe(service, "healthy")


@router.get("/health/ready", operation_id="get_readiness", response_model=HealthResponse)
async def ready(service: Serving) -> Response:
    """Ready when the store answers and the server is not about to stop (503)."""
    if service.workers.stopping:
        return plain_error(503, "stopping", "the server stops", headers={"Retry-After": "5"})
    return await _probe(service, "ready")


@router.get("/health/live", operation_id="get_liveness", response_model=LivenessResponse)
async def live(service: Serving) -> Response:
    """Alive; nothing else is looked at."""
    uptime = round(time.monotonic() - service.started, 3)
    return reply(LivenessResponse(version=__version__, uptime_seconds=uptime))


@router.get("/metrics", operation_id="metrics_endpoint_metrics_get", response_class=PlainTextResponse)
async def metrics(service: Serving) -> Response:
    """Counters for Prometheus."""
    return Response(
        await service.workers.control(service.metrics.text),
        media_type="text/plain; version=0.0.4; charset=utf-8",
    )
