"""Schemas: the tables and columns that their files name, and their versions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from perdure.errors import StoreVersion

_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*?)\n\)", re.DOTALL)
_COLUMN = re.compile(
    r'^  "?(\w+)"? ((?:INTEGER|BIGINT|TEXT|REAL|DOUBLE PRECISION|BLOB|BYTEA)\b(?:\[\])?)', re.MULTILINE
)


_EXPORTER = "046389f"
"""The last commit that opens schemas older than 0.1.0."""


def check_version(where: str, version: int, schema: int) -> None:
    """Raise StoreVersion unless a database has the schema of this version."""
    if version > schema:
        raise StoreVersion(
            f"{where} has schema {version}, this version of Perdure reads schema {schema}; upgrade Perdure"
        )
    if version < schema:
        raise StoreVersion(
            f"{where} has schema {version}, which is older than 0.1.0 (schema {schema});"
            f" commit {_EXPORTER} of Perdure is the last that can export it"
        )


def parse_tables(schema: str) -> Mapping[str, Mapping[str, str]]:
    """Return table -> column -> type, in the order of the file."""
    return {table: dict(_COLUMN.findall(body)) for table, body in _TABLE.findall(schema)}
