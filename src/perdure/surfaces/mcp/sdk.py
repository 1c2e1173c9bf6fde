"""The lines 1.x and 2.x of the MCP SDK behind one face: the only module that knows which of them is installed.

Requests and results are plain mappings in the protocol's own spelling. Line 2.x speaks both eras of the protocol (the handshake
up to 2025-11-25, and 2026-07-28 without one), 1.x the first alone. What the SDK hands over is `Any` here: its classes differ between
the lines, and only one of them is installed to be checked against.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

import anyio
from starlette.types import Receive, Scope, Send

_types = import_module("mcp.types")
_lowlevel = import_module("mcp.server.lowlevel")
_exceptions = import_module("mcp.shared.exceptions")
_manager = import_module("mcp.server.streamable_http_manager")
_stdio = import_module("mcp.server.stdio")

IS_LINE_2 = hasattr(_lowlevel.Server, "add_request_handler")
MODERN = "2026-07-28"
"""The first version without a handshake; as text, versions compare as dates."""
INVALID_PARAMS = -32602
CACHE_SECONDS = 300
"""How long clients of the modern era may keep lists that change only with the program."""
STANDING = ("tools/list", "resources/templates/list", "prompts/list")
METHODS = {
    "tools/list": ("PaginatedRequestParams", "ListToolsRequest", "ListToolsResult"),
    "tools/call": ("CallToolRequestParams", "CallToolRequest", "CallToolResult"),
    "prompts/list": ("PaginatedRequestParams", "ListPromptsRequest", "ListPromptsResult"),
    "prompts/get": ("GetPromptRequestParams", "GetPromptRequest", "GetPromptResult"),
    "resources/list": ("PaginatedRequestParams", "ListResourcesRequest", "ListResourcesResult"),
    "resources/templates/list": (
        "PaginatedRequestParams", "ListResourceTemplatesRequest", "ListResourceTemplatesResult",
    ),
    "resources/read": ("ReadResourceRequestParams", "ReadResourceRequest", "ReadResourceResult"),
}  # fmt: skip
"""Method -> the SDK's names of its parameters, its request and its result."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a client."""

    params: Mapping[str, Any]
    scope: Mapping[str, Any] | None
    """The HTTP request's, of ASGI; None over stdio."""
    modern: bool
    """Whether it is of the era without a handshake."""


Method = Callable[[Request], Awaitable[Mapping[str, object]]]
"""Answers requests with a result in the protocol's spelling; raises ProtocolError where the request itself is wrong."""


class ProtocolError(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Server(Protocol):
    """A server of either line, as far as both are alike."""

    async def run(self, read_stream: Any, write_stream: Any, initialization_options: Any) -> None: ...

    def create_initialization_options(self) -> Any: ...


def make_server(name: str, version: str, instructions: str, methods: Mapping[str, Method]) -> Server:
    """Return a server that answers these methods."""
    if IS_LINE_2:
        hint = import_module("mcp.server").CacheHint(ttl_ms=CACHE_SECONDS * 1000, scope="private")
        hints = {method: hint for method in STANDING if method in methods}
        server = _lowlevel.Server(name, version=version, instructions=instructions, cache_hints=hints)
        for method, answer in methods.items():
            params, _, result = METHODS[method]
            handler = _handler_of_line_2(answer, getattr(_types, result))
            server.add_request_handler(method, getattr(_types, params), handler)
    else:
        server = _lowlevel.Server(name, version=version, instructions=instructions)
        for method, answer in methods.items():
            _, request, result = METHODS[method]
            handler = _handler_of_line_1(server, answer, getattr(_types, result))
            server.request_handlers[getattr(_types, request)] = handler
    return cast("Server", server)


def _handler_of_line_2(answer: Method, result: Any) -> Callable[..., Awaitable[Any]]:
    async def handler(context: Any, _: Any) -> Any:
        scope = None if context.request is None else context.request.scope
        modern = context.protocol_version >= MODERN
        try:
            return result.model_validate(await answer(Request(context.params or {}, scope, modern)))
        except ProtocolError as error:
            raise _exceptions.MCPError(error.code, error.message, error.data) from error

    return handler


def _handler_of_line_1(server: Any, answer: Method, result: Any) -> Callable[..., Awaitable[Any]]:
    async def handler(message: Any) -> Any:
        request = server.request_context.request
        sent = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        scope = None if request is None else request.scope
        try:
            told = await answer(Request(sent.get("params") or {}, scope, False))
        except ProtocolError as error:
            data = _types.ErrorData(code=error.code, message=error.message, data=error.data)
            raise _exceptions.McpError(data) from error
        return _types.ServerResult(result.model_validate(told))

    return handler


class HttpSessions:
    """A server over streamable HTTP, without sessions: each request stands for itself. Keep `run()` open meanwhile."""

    def __init__(self, server: Server, max_request_bytes: int) -> None:
        self._manager = _manager.StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=max_request_bytes
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        return cast("AbstractAsyncContextManager[None]", self._manager.run())

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


async def serve_stdio(server: Server, on_leaving: Callable[[], None]) -> None:
    """Serve one client over stdio. `on_leaving`, called when its input ends, must end requests under way: the SDK waits for them."""
    async with _stdio.stdio_server() as (read, write), anyio.create_task_group() as tasks:
        sender, receiver = anyio.create_memory_object_stream[Any](0)

        async def relay() -> None:
            async with sender, read:
                async for message in read:
                    await sender.send(message)
                on_leaving()

        tasks.start_soon(relay)
        async with receiver:
            await server.run(receiver, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()
