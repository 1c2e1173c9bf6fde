"""Tables of values (CSV, TSV): one item per row, each value after its column's name."""

from __future__ import annotations

import csv
from io import StringIO

from perdure.documents.document import FileText, decode
from perdure.errors import InvalidInput

_SAMPLE = 8192


def read_table(data: bytes, name: str) -> FileText:
    """Read the rows after the first one, which names the columns."""
    text = decode(data, name)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:_SAMPLE], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel_tab if name.lower().endswith(".tsv") else csv.excel
    try:
        rows = [row for row in csv.reader(StringIO(text), dialect) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InvalidInput(name, f"a table of values ({error})") from error
    if len(rows) < 2:
        return FileText(text=text)
    head = [" ".join(cell.split()) for cell in rows[0]]
    return FileText(text="\n".join(_row(head, row) for row in rows[1:]))


def _row(head: list[str], row: list[str]) -> str:
    named = zip(head + [""] * (len(row) - len(head)), row, strict=False)
    values = [
        f"{column}: {' '.join(cell.split())}" if column else cell for column, cell in named if cell.strip()
    ]
    return "- " + "; ".join(values)
