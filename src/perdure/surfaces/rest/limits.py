"""The size of requests."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.surfaces.rest.errors import plain_error


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
            await self._refuse(scope, receive, send)
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

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = plain_error(413, "too_large", self._message)
        response.headers["connection"] = "close"
        await response(scope, receive, send)
