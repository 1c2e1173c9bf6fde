"""Hindsight's HTTP API and MCP tools over the public API, so that its published clients work unmodified."""
