"""Perdure: long-term memory for AI agents. `import perdure` loads nothing; names load when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.aio import AsyncPerdure
    from perdure.domain.item import Item
    from perdure.domain.time import AsOf, Window
    from perdure.engine import Perdure
    from perdure.errors import PerdureError
    from perdure.recall.recipe import Recipe
    from perdure.settings import Settings

__version__ = "0.1.0"

_HOMES = {
    "AsOf": "perdure.domain.time",
    "AsyncPerdure": "perdure.aio",
    "Item": "perdure.domain.item",
    "Perdure": "perdure.engine",
    "PerdureError": "perdure.errors",
    "Recipe": "perdure.recall.recipe",
    "Settings": "perdure.settings",
    "Window": "perdure.domain.time",
}

__all__ = [
    "AsOf",
    "AsyncPerdure",
    "Item",
    "Perdure",
    "PerdureError",
    "Recipe",
    "Settings",
    "Window",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'perdure' has no attribute {name!r}")
