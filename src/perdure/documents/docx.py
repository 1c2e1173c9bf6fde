"""Word documents (DOCX), by python-docx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from perdure.documents.document import FileText, join_blocks
from perdure.domain.time import aware
from perdure.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_HEADING = re.compile(r"(?:heading|überschrift|título|titre)\s*(\d)", re.IGNORECASE)


def read_docx(data: bytes, name: str) -> FileText:
    """Read paragraphs, headings, lists and tables in their order."""
    try:
        from docx import Document
        from docx.opc.exceptions import OpcError
    except ImportError as error:
        raise Unavailable('reading DOCX needs the extra "files": pip install "perdure[files]"') from error
    try:
        document = Document(BytesIO(data))
        blocks = [block for block in _blocks(document) if block.strip()]
        properties = document.core_properties
        title, written = properties.title or "", properties.modified
        if written == properties.created:
            written = None  # Never edited: the date is that of a template or of the program that made it.
    except (OpcError, BadZipFile, ValueError, KeyError, SyntaxError) as error:
        raise InvalidInput(name, "a DOCX that can be read") from error
    if not blocks:
        raise InvalidInput(name, "a DOCX with text")
    return FileText(
        text=join_blocks(blocks), title=title.strip(), written_at=aware(written) if written else None
    )


def _blocks(document: Document) -> Iterator[str]:
    from docx.table import Table

    for block in document.iter_inner_content():
        if isinstance(block, Table):
            yield from _rows(block)
        else:
            yield _paragraph(block)


def _paragraph(paragraph: Paragraph) -> str:
    text = paragraph.text.strip()
    style = (paragraph.style.name if paragraph.style is not None else None) or ""
    if not text:
        return ""
    if heading := _HEADING.match(style):
        return f"{'#' * int(heading[1])} {text}"
    if style.casefold() == "title":
        return f"# {text}"
    return f"- {text}" if style.casefold().startswith(("list", "liste")) else text


def _rows(table: Table) -> Iterator[str]:
    """Yield rows as `| a | b |`; a cell that spans columns appears once."""
    for row in table.rows:
        cells = list(dict.fromkeys(" ".join(cell.text.split()) for cell in row.cells))
        if any(cells):
            yield "| " + " | ".join(cells) + " |"
