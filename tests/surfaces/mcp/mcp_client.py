"""A real MCP client of whichever line of the SDK is installed, with answers in the protocol's own spelling."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

LINE_2 = find_spec("mcp_types") is not None
LEGACY, MODERN = "legacy", "2026-07-28"
MODES = [LEGACY, MODERN] if LINE_2 else [LEGACY]
"""The eras of the protocol that the installed line speaks."""
ProtocolError: type[Exception] = (
    import_module("mcp").MCPError if LINE_2 else import_module("mcp.shared.exceptions").McpError
)


@dataclass(frozen=True)
class Answer:
    """A tool's result."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False


class Session:
    """A connected client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def call_tool(
        self, name: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None
    ) -> Answer:
        told = _wire(await self._client.call_tool(name, arguments, meta=meta))
        text = "\n".join(block["text"] for block in told["content"])
        return Answer(text, told.get("structuredContent", {}), told.get("isError", False))

    async def list_tools(self) -> dict[str, dict[str, Any]]:
        return {tool["name"]: tool for tool in _wire(await self._client.list_tools())["tools"]}

    async def list_resources(self) -> list[dict[str, Any]]:
        resources: list[dict[str, Any]] = _wire(await self._client.list_resources())["resources"]
        return resources

    async def list_resource_templates(self) -> list[str]:
        told = _wire(await self._client.list_resource_templates())
        return [template["uriTemplate"] for template in told["resourceTemplates"]]

    async def read_resource(self, uri: str) -> str:
        address = uri if LINE_2 else import_module("pydantic").AnyUrl(uri)
        (content,) = _wire(await self._client.read_resource(address))["contents"]
        text: str = content["text"]
        return text

    async def list_prompts(self) -> dict[str, dict[str, Any]]:
        return {prompt["name"]: prompt for prompt in _wire(await self._client.list_prompts())["prompts"]}

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> str:
        (message,) = _wire(await self._client.get_prompt(name, arguments))["messages"]
        text: str = message["content"]["text"]
        return text


def _wire(result: Any) -> Any:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


@asynccontextmanager
async def connect(target: Any, mode: str = LEGACY) -> AsyncIterator[Session]:
    """A client of a transport, or of a server in the same process."""
    async with AsyncExitStack() as stack:
        if LINE_2:
            client = await stack.enter_async_context(import_module("mcp").Client(target, mode=mode))
        elif hasattr(target, "create_initialization_options"):
            memory = import_module("mcp.shared.memory")
            client = await stack.enter_async_context(
                memory.create_connected_server_and_client_session(target)
            )
        else:
            streams = await stack.enter_async_context(target)
            client = await stack.enter_async_context(import_module("mcp").ClientSession(*streams[:2]))
            await client.initialize()
        yield Session(client)


@asynccontextmanager
async def connect_http(url: str, key: str = "", mode: str = LEGACY) -> AsyncIterator[Session]:
    """A client over streamable HTTP."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    transports = import_module("mcp.client.streamable_http")
    library = import_module("httpx2" if LINE_2 else "httpx")
    async with (
        library.AsyncClient(headers=headers, timeout=30) as http,
        connect(transports.streamable_http_client(url, http_client=http), mode) as session,
    ):
        yield session


@asynccontextmanager
async def connect_stdio(
    command: str, arguments: list[str], mode: str = LEGACY, **options: Any
) -> AsyncIterator[Session]:
    """A client that starts the server itself."""
    stdio = import_module("mcp.client.stdio")
    parameters = stdio.StdioServerParameters(command=command, args=arguments, **options)
    async with connect(stdio.stdio_client(parameters), mode) as session:
        yield session
