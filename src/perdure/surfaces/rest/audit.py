"""Which requests stand in the audit log, and what of them."""

from __future__ import annotations

import json

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.domain.audit import Transport, outline
from perdure.surfaces.audit import ACTION, TRANSPORT, AuditTrail
from perdure.surfaces.gate import KEY

MAX_BODY = 256_000
"""A larger body stands in the log by its size alone."""
READS = frozenset({"GET", "HEAD", "OPTIONS"})
REFUSED = frozenset({401, 403, 404, 405, 429, 501})
"""Answers to calls that did nothing, by which strangers could fill the log."""


class Audited:
    """Notes every request that changes a bank, recalls or reflects."""

    def __init__(self, app: ASGIApp, trail: AuditTrail) -> None:
        self._app, self._trail = app, trail

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass through."""
        if scope["type"] != "http" or scope["method"] in READS:
            await self._app(scope, receive, send)
            return
        started_at = self._trail.now()
        body = bytearray()
        size = 0
        status = 500

        async def read() -> Message:
            nonlocal size
            message = await receive()
            part = message.get("body", b"")
            size += len(part)
            if size <= MAX_BODY:
                body.extend(part)
            return message

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, read, watched)
        finally:
            operation: str | None = scope.get(ACTION, getattr(scope.get("route"), "operation_id", None))
            parameters = scope.get("path_params", {})
            bank = parameters.get("bank_id")
            if operation and bank and status not in REFUSED:
                request: dict[str, object] = {
                    name: one for name, one in parameters.items() if name != "bank_id"
                }
                request |= _outlined(bytes(body), size)
                action = self._trail.names.get(operation, operation)
                await self._trail.note(
                    bank, action, scope.get(TRANSPORT, Transport.HTTP),
                    started_at=started_at, request=request, response={"status": status}, key=scope.get(KEY),
                )  # fmt: skip


def _outlined(body: bytes, size: int) -> dict[str, object]:
    """Return a JSON body without its texts; of any other its size."""
    if not size:
        return {}
    if size <= MAX_BODY:
        try:
            return {"body": outline(json.loads(body))}
        except (ValueError, RecursionError):
            pass
    return {"bytes": size}
