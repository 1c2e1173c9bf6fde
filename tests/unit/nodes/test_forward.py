"""What a connection to another node may meet."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from perdure.surfaces.nodes.forward import _post


class LostWhenMade(httpx.AsyncBaseTransport):
    """What anyio does with a connection whose other end is gone when it is asked for its address."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        gone = None
        gone.getpeername()  # type: ignore[attr-defined]
        raise AssertionError


def test_a_connection_that_dies_when_it_is_made_is_one_that_could_not_be_made() -> None:
    async def post() -> None:
        async with httpx.AsyncClient(transport=LostWhenMade()) as client:
            await _post(client, "http://10.0.0.1:8888/x", b"", [])

    with pytest.raises(httpx.ConnectError, match="lost when it was made"):
        asyncio.run(post())
