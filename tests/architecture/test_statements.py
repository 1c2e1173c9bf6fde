"""Every statement of the SQL stores names the bank, by its source text: what shards and Citus rest on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import perdure
from perdure.stores.postgres.distribute import ON_EVERY_WORKER, statements
from perdure.stores.postgres.schema import column_types

STORES = Path(perdure.__file__).parent / "stores"
OF_BANKS = {table for table, columns in column_types().items() if "bank" in columns}
COMPOSED = {
    # Joined with _FACT_JOIN, which ends with `WHERE fact.bank = ?`.
    "SELECT id, no, {} FROM {}",
    "SELECT no, proof.ordinal, id, {} FROM {}",
    "SELECT no, dedupe_key, id FROM {}",
    "SELECT {} FROM {}",
    # `find_facts` adds `WHERE bank = ?` to each.
    "SELECT no FROM fact",
    "SELECT fact FROM fact_entity",
    "SELECT fact FROM fact_source",
    # Their columns begin with the bank.
    "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
    "INSERT INTO {} ({}) VALUES ({})",
    "COPY {} ({}) FROM STDIN (FORMAT BINARY)",
    # {} is `WHERE bank = ? AND model = ? AND dimensions = ?`.
    "DELETE FROM staged {}",
    "DELETE FROM staged_vector {}",
    # Of copies, whose rows name their keys by numbers that are drawn at random.
    "SELECT no, key FROM content_key WHERE no = ANY(?::int8[])",
    # Not a bank's.
    "SELECT version FROM {}.schema_version",
}
"""Literals that are no whole statements, and where their bank comes from."""


def literals(path: Path) -> Iterator[str]:
    """The strings of a module but its docstrings, with {} for what is put in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        for part in (ast.walk(node) if isinstance(node, ast.JoinedStr) else [getattr(node, "value", node)])
        if isinstance(node, ast.JoinedStr | ast.Expr) and part is not node
    }
    for node in ast.walk(tree):
        if id(node) in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def about_banks(text: str) -> bool:
    """Whether a text reads or writes tables of banks, or tables that are put in."""
    tables = re.findall(r"\b(?:FROM|INTO|UPDATE|JOIN|COPY) (\w+|\{\})", text)
    return any(table in OF_BANKS or table == "{}" for table in tables)


@pytest.mark.parametrize("folder", ["sql", "postgres"])
def test_every_statement_in_the_source_names_the_bank(folder: str) -> None:
    asked = [text for path in (STORES / folder).glob("*.py") for text in literals(path) if about_banks(text)]
    unnamed = {text for text in asked if not re.search(r"\bbank\b", text)} - COMPOSED
    assert len(asked) > 8
    assert unnamed == set()


def test_the_proof_sees_a_statement_without_a_bank(tmp_path: Path) -> None:
    module = tmp_path / "m.py"
    module.write_text(
        '"""SELECT x FROM fact"""\nq = f"SELECT text FROM fact WHERE {1}"\nr = "FROM fact_tag WHERE bank = ?"\n'
    )
    assert [text for text in literals(module) if about_banks(text)] == [
        "SELECT text FROM fact WHERE {}",
        "FROM fact_tag WHERE bank = ?",
    ]


def test_citus_distributes_every_table_of_banks_and_keeps_them_together() -> None:
    written = statements()
    for table in OF_BANKS:
        (one,) = [text for text in written if f"create_distributed_table('perdure.{table}', 'bank'" in text]
        assert "colocate_with => " in one
    for table in ON_EVERY_WORKER:
        assert f"SELECT create_reference_table('perdure.{table}')" in written
    others = set(column_types()) - OF_BANKS - set(ON_EVERY_WORKER)
    assert not [text for text in written for table in others if f"'perdure.{table}'" in text]
