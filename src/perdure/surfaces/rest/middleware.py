"""What every request passes: a limit of its size, and metrics for Prometheus."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.surfaces.rest.errors import plain_error
from perdure.surfaces.workers import Workers

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
UNKNOWN_PATH = "unknown"


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
