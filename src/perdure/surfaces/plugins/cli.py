"""What commands are built with."""

from __future__ import annotations

from perdure.surfaces.cli.output import emit
from perdure.surfaces.cli.serve import mcp
from perdure.surfaces.cli.session import AsJson, BankName, Database, load_settings, memory
from perdure.surfaces.process import closing_on_sigterm, private_files
from perdure.surfaces.projects import bank_of

__all__ = [
    "AsJson", "BankName", "Database", "bank_of",
    "closing_on_sigterm", "emit", "load_settings", "mcp", "memory", "private_files",
]  # fmt: skip
