"""What processes of their own are built with."""

from __future__ import annotations

from perdure.surfaces.process import closing_on_sigterm, private_files
from perdure.surfaces.projects import bank_of

__all__ = ["bank_of", "closing_on_sigterm", "private_files"]
