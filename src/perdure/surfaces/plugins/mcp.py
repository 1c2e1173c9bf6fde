"""What MCP tools are built with: tools over functions, servers of the protocol, and their endpoint beside REST."""

from __future__ import annotations

from perdure.surfaces.fields import Names, read_json
from perdure.surfaces.mcp.caller import CALLER, Caller
from perdure.surfaces.mcp.http import McpEndpoint
from perdure.surfaces.mcp.sdk import Request, Server, make_server
from perdure.surfaces.mcp.tool import Hints, Tool, find_tool

__all__ = [
    "CALLER", "Caller", "Hints", "McpEndpoint", "Names", "Request", "Server", "Tool", "find_tool", "make_server", "read_json",
]  # fmt: skip
