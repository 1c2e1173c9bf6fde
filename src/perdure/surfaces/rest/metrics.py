"""Metrics for Prometheus; no label ever names a bank or holds text."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.surfaces.workers import Workers

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
UNKNOWN_PATH = "unknown"


class Metrics:
    """What one app counts."""

    def __init__(self, workers: Workers) -> None:
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
        running = Gauge("perdure_recalls_running", "Recalls under way", registry=self.registry)
        running.set_function(lambda: workers.recalls_running)
        refused = Gauge("perdure_recalls_refused", "Recalls answered with 429", registry=self.registry)
        refused.set_function(lambda: workers.recalls_refused)
        self.facts = Counter(
            "perdure_facts_retained",
            "Facts stored by retains that REST callers waited for",
            registry=self.registry,
        )

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self.registry)


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
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            path = getattr(scope.get("route"), "path", UNKNOWN_PATH)
            self._metrics.requests.labels(scope["method"], path, status).inc()
            self._metrics.seconds.labels(scope["method"], path).observe(time.perf_counter() - started)
