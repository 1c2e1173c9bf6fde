"""What plugins build routes, tools and commands with. They import these modules and no other part of the surfaces.

A plugin names in its entry points
`perdure.routers`: functions that add routes to the app of `perdure serve` (from `rest`),
`perdure.mcp`: functions that return a further MCP endpoint beside it (from `mcp`),
`perdure.commands`: tables of commands of `perdure` (rows of `Entry`; the commands themselves from `cli`),
`perdure.importers`: modules with sources of `perdure import` (`perdure.ports.import_source`).
"""

from __future__ import annotations

from perdure.surfaces.cli.main import CARE, INSIDE, MEMORY, SERVE, START, THINK, Entry

__all__ = ["CARE", "INSIDE", "MEMORY", "SERVE", "START", "THINK", "Entry"]
