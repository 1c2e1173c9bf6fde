"""What every request passes: a limit of its size, and metrics for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.engine import Perdure
from perdure.surfaces.connections import Connections
from perdure.surfaces.gate import plain_error
from perdure.surfaces.workers import REASONS, Workers

if TYPE_CHECKING:
    from perdure.telemetry.otel import OpenTelemetry

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
UNKNOWN_PATH = "unknown"
CLIENT_LEFT = 499
"""Status under which requests without an answer are counted."""


class BodyLimit:
    """Refuses requests whose body is larger than allowed, announced or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most
        self._message = f"a request may have at most {most} bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the body while it arrives."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not announced.isdigit() or int(announced) > self._most:
            refusal = plain_error(413, "too_large", self._message, headers={"connection": "close"})
            await refusal(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise HTTPException(413, self._message)
            return message

        await self._app(scope, counted, send)


class Metrics:
    """What one app counts; no label ever names a bank or holds text."""

    def __init__(self, workers: Workers, connections: Connections, engine: Perdure) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "perdure_http_requests", "Requests answered", ["method", "path", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "perdure_http_request_seconds",
            "Time from a request's first byte to its answer's last",
            ["method", "path"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.facts = Counter(
            "perdure_facts_retained",
            "Facts stored by retains that REST callers waited for",
            registry=self.registry,
        )
        self.registry.register(ServerState(workers, connections, engine))

    def text(self) -> bytes:
        """All figures; reads the store, so not on the event loop."""
        return generate_latest(self.registry)


class ServerState(Collector):
    """Lines, connections and the store, as they are when they are asked for."""

    def __init__(self, workers: Workers, connections: Connections, engine: Perdure) -> None:
        self._workers, self._connections, self._engine = workers, connections, engine

    def describe(self) -> Iterable[Metric]:
        """Nothing: registering must not read the store."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Lanes are `recall`, `retain` (all that writes) and `read`."""
        lanes = self._workers.lanes.values()
        waiting = GaugeMetricFamily("perdure_waiting", "Requests that wait for a thread", labels=["lane"])
        running = GaugeMetricFamily("perdure_running", "Requests on a thread", labels=["lane"])
        seconds = GaugeMetricFamily("perdure_service_seconds", "Moving mean on a thread", labels=["lane"])
        refused = CounterMetricFamily(
            "perdure_refused", "Requests told to come back", labels=["lane", "reason"]
        )
        abandoned = CounterMetricFamily("perdure_abandoned", "Requests whose client left", labels=["lane"])
        for lane in lanes:
            waiting.add_metric([lane.name], lane.waiting)
            running.add_metric([lane.name], lane.running)
            seconds.add_metric([lane.name], lane.service_seconds)
            abandoned.add_metric([lane.name], lane.abandoned)
            for reason in REASONS:
                refused.add_metric([lane.name, reason], lane.refused[reason])
        yield from (waiting, running, seconds, refused, abandoned)
        connections = self._connections
        yield GaugeMetricFamily("perdure_connections", "Open connections", len(connections))
        for name, what, count in (
            ("refused", "Connections refused: all others at work", connections.refused),
            ("evicted", "Idle connections closed for new ones", connections.evicted),
            ("timed_out", "Connections without a request in time", connections.timed_out),
        ):
            yield CounterMetricFamily(f"perdure_connections_{name}", what, count)
        yield CounterMetricFamily(
            "perdure_index_evictions",
            "Indexes that left memory for others",
            self._engine.database.evictions(),
        )
        usage = self._engine.database.index_usage()
        yield GaugeMetricFamily("perdure_index_banks", "Banks whose index is in memory", usage.banks)
        yield GaugeMetricFamily("perdure_index_bytes", "Memory of these indexes", usage.bytes)
        yield CounterMetricFamily(
            "perdure_index_hits", "Readings whose bank had its index in memory", usage.hits
        )
        yield CounterMetricFamily("perdure_index_misses", "Readings that loaded it first", usage.misses)
        yield GaugeMetricFamily(
            "perdure_erasure_pending",
            "1 while traces of erased content are to be cleared",
            int(self._engine.database.erasure_pending()),
        )


class Joined:
    """Lets the spans of a request join those of its caller (`traceparent`); only there where telemetry is on."""

    def __init__(self, app: ASGIApp, telemetry: OpenTelemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self._telemetry.joining(headers):
            await self._app(scope, receive, send)


class Measured:
    """Counts and times every request under its route's template."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = CLIENT_LEFT

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            status = 500
            raise
        finally:
            path = getattr(scope.get("route"), "path", UNKNOWN_PATH)
            self._metrics.requests.labels(scope["method"], path, status).inc()
            self._metrics.seconds.labels(scope["method"], path).observe(time.perf_counter() - started)
