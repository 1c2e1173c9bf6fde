"""Tables and columns as a schema file names them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TABLE = re.compile(r"CREATE TABLE (\w+) \((.*?)\n\)", re.DOTALL)
_COLUMN = re.compile(
    r'^  "?(\w+)"? ((?:INTEGER|BIGINT|TEXT|REAL|DOUBLE PRECISION|BLOB|BYTEA)\b(?:\[\])?)', re.MULTILINE
)


def parse_tables(schema: str) -> Mapping[str, Mapping[str, str]]:
    """Table -> column -> type, in the order of the file."""
    return {table: dict(_COLUMN.findall(body)) for table, body in _TABLE.findall(schema)}
