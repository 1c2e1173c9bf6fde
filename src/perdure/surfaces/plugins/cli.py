"""What commands are built with."""

from __future__ import annotations

from perdure.surfaces.cli.output import emit
from perdure.surfaces.cli.serve import mcp
from perdure.surfaces.cli.session import AsJson, BankName, Database, load_settings, memory

__all__ = ["AsJson", "BankName", "Database", "emit", "load_settings", "mcp", "memory"]
