"""PDF, by pypdf."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from io import BytesIO

from perdure.documents.document import FileText, unwrap
from perdure.domain.time import aware
from perdure.errors import InvalidInput, Unavailable

_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|-|–)?\s*\d{1,4}\s*(?:(?:of|von|de|/)\s*\d{1,4})?\s*(?:-|–)?", re.IGNORECASE
)
_FEWEST_PAGES = 3


def read_pdf(data: bytes, name: str) -> FileText:
    """Read the text of all pages, without repeated lines."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise Unavailable('reading PDF needs the extra "files": pip install "perdure[files]"') from error
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InvalidInput(name, "a PDF without a password")
        pages = [page.extract_text() for page in reader.pages]
        title = (reader.metadata.title if reader.metadata else None) or ""
        created = _moment(reader)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(name, f"a PDF that can be read ({error or type(error).__name__})") from error
    text = "\n\n".join(filter(None, map(unwrap, without_running_heads(pages))))
    if not text.strip():
        raise InvalidInput(name, "a PDF with text (its pages are images)")
    return FileText(text=text.replace("\0", ""), title=str(title).strip(), written_at=created)


def _moment(reader: object) -> datetime | None:
    """Return the document's creation date, or None if it is missing or invalid."""
    metadata = getattr(reader, "metadata", None)
    try:
        created = metadata.creation_date if metadata is not None else None
    except ValueError:
        return None
    return aware(created) if isinstance(created, datetime) else None


def without_running_heads(pages: Sequence[str]) -> list[str]:
    """Return the pages without page numbers and without first and last lines that most pages share."""
    edges = Counter(line for page in pages for line in set(_edges(page)))
    repeated = {line for line, count in edges.items() if count >= max(_FEWEST_PAGES, len(pages) / 2)}
    cleaned = []
    for page in pages:
        drop = {line for line in _edges(page) if line in repeated or _PAGE_NUMBER.fullmatch(line)}
        cleaned.append("\n".join(line for line in page.splitlines() if line.strip() not in drop))
    return cleaned


def _edges(page: str) -> list[str]:
    lines = [line.strip() for line in page.splitlines() if line.strip()]
    return [*lines[:2], *lines[-2:]] if len(lines) > 4 else lines[-1:] if len(lines) > 1 else []
