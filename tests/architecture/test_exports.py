"""What `import perdure` gives, what it costs, and that everything written twice stays in step."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

import perdure
from perdure import Fact, Item
from perdure.arguments import FactChangeArguments, ItemArguments
from perdure.manage.curation import CHANGEABLE

HERE = Path(__file__).parent
SPELLED_OUT = {"database", "embedder", "reranker", "extractor", "tokens", "llm", "telemetry"}
"""Settings that `Perdure.open` has as arguments of their own."""


def test_every_public_name_loads() -> None:
    for name in perdure.__all__:
        assert getattr(perdure, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        perdure.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_import_loads_no_heavy_module() -> None:
    heavy = "{'numpy', 'onnxruntime', 'spacy', 'pydantic', 'sqlite3', 'fastapi', 'mcp', 'tokenizers'}"
    code = f"import sys, perdure; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_item_fields_are_those_of_an_item() -> None:
    assert set(get_type_hints(ItemArguments)) == {field.name for field in fields(Item)} - {"content"}


def test_fact_fields_are_those_that_may_be_changed() -> None:
    assert set(get_type_hints(FactChangeArguments)) == CHANGEABLE
    assert {field.name for field in fields(Fact)} > CHANGEABLE


@pytest.mark.long
def test_a_users_program_is_typed_under_mypy_strict(tmp_path: Path) -> None:
    program = HERE / "typed_user.py"
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(tmp_path),
            "--config-file",
            "",
            str(program),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
