"""What `import perdure` gives, what it costs, and that the two facades stay in step."""

from __future__ import annotations

import inspect
import subprocess
import sys

import perdure
from perdure.aio import ASYNC_METHODS, AsyncPerdure
from perdure.engine import Perdure

SYNC_ONLY = {"open", "close", "settings", "export_bank"}


def test_every_public_name_loads() -> None:
    for name in perdure.__all__:
        assert getattr(perdure, name) is not None


def test_import_loads_no_heavy_module() -> None:
    heavy = "{'numpy', 'onnxruntime', 'spacy', 'pydantic', 'sqlite3', 'fastapi', 'mcp', 'tokenizers'}"
    code = f"import sys, perdure; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_async_has_every_method_of_sync() -> None:
    public = {
        name for name, _ in inspect.getmembers(Perdure, callable) if not name.startswith("_")
    } - SYNC_ONLY
    assert public == set(ASYNC_METHODS)
    assert callable(AsyncPerdure.export_bank)
    assert callable(AsyncPerdure.close)
