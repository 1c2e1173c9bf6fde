"""The page about storage states the schema literally."""

from __future__ import annotations

import re
from pathlib import Path

from perdure.stores.sqlite.schema import SCHEMA, schema

PAGE = Path(__file__).resolve().parents[2] / "docs" / "storage.md"


def test_the_page_states_the_schema_word_for_word() -> None:
    blocks = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    heading, _, tables = schema().partition("\n\n")
    assert heading.startswith(f"-- Schema {SCHEMA}.")
    assert "\n".join(blocks) == tables


def test_every_table_has_a_sentence() -> None:
    for table in re.split(r"\n\n", schema().strip())[1:]:
        assert re.match(r"-- [A-Z].*\.\nCREATE TABLE \w+ \(", table), table
