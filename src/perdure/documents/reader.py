"""Choosing the reader of a file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import PurePath

from perdure.documents.document import FileText, decode, fenced
from perdure.documents.docx import read_docx
from perdure.documents.html import read_html, read_svg
from perdure.documents.mail_file import read_mail_file
from perdure.documents.pdf import read_pdf
from perdure.documents.table import read_table
from perdure.errors import InvalidInput
from perdure.text.moments import read_moment

_READERS: dict[str, Callable[[bytes, str], FileText]] = {
    ".html": read_html, ".htm": read_html, ".xhtml": read_html,
    ".pdf": read_pdf, ".docx": read_docx, ".svg": read_svg, ".eml": read_mail_file,
    ".csv": read_table, ".tsv": read_table,
}  # fmt: skip
_KINDS = tomllib.loads(files("perdure.documents").joinpath("file_kinds.toml").read_text(encoding="utf-8"))
_BINARY = frozenset(_KINDS["binary"]["suffixes"].split())
_LANGUAGES = {
    suffix: language for language, listed in _KINDS["languages"].items() for suffix in listed.split()
}
"""Suffix of a file of code or settings -> its language, as fences name it."""
_CODE_NAMES = {name: language for language, listed in _KINDS["names"].items() for name in listed.split()}
_MARKDOWN = (".md", ".markdown", ".mdx")
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_FIELD = re.compile(r"^(\w+):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def read_file(data: bytes, name: str) -> FileText:
    """Read a file by its kind; raise `InvalidInput` for a file that cannot be read, `Unavailable` for a missing extra."""
    path = PurePath(name)
    suffix = path.suffix.lower()
    if suffix in _BINARY:
        raise InvalidInput(name, f"text ({suffix} files are not read)")
    reader = _READERS.get(suffix)
    if reader is not None:
        return _with_text(reader(data, name), name)
    language = _CODE_NAMES.get(path.name.lower()) or _LANGUAGES.get(suffix)
    text = decode(data, name)
    if suffix in _MARKDOWN:
        return _with_text(_markdown(text), name)
    return FileText(text=fenced(text, language) if language else text)


def _markdown(text: str) -> FileText:
    """Read the text after the front matter, which has the file's title and date."""
    front = _FRONT.match(text)
    if front is None:
        return FileText(text=text)
    fields = {key.lower(): value.strip("\"'") for key, value in _FRONT_FIELD.findall(front[1])}
    return FileText(
        text=text[front.end() :],
        title=fields.get("title", ""),
        written_at=read_moment(fields.get("date") or fields.get("created") or ""),
    )


def _with_text(read: FileText, name: str) -> FileText:
    if not read.text.strip():
        raise InvalidInput(name, "a file with text")
    return read
