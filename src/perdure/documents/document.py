"""The content of a file, and helpers that its readers share."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from perdure.errors import InvalidInput

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DECLARED_WITHIN = 4096
_WRAPPED = 0.6
"""A line at least this long, as a share of the longest, was wrapped by the page and continues."""
_ENDED = re.compile(r"[.!?:;…。！？]['\"”’)\]]*$")
_STARTS_BLOCK = re.compile(r"\s*(?:[-*•◦‣–]|\(?\d{1,3}[.)])\s|\s*#")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A file as text: paragraphs, `#` headings, `-` items and fenced code, as in Markdown."""

    text: str
    title: str = ""
    """As the file states it; "" if it does not."""
    written_at: datetime | None = None
    """As the file states it."""
    speaker: str = ""


LEADS_OUT = "a symbolic link that leads out of the folder"


def leads_out(path: Path, folder: Path) -> bool:
    """Return whether a path below a folder is, by way of symbolic links, somewhere else."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def decode(data: bytes, name: str) -> str:
    """Return the text of a file in UTF-8 or the encoding that it declares."""
    try:
        return _checked(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        declared = _CHARSET.search(data[:_DECLARED_WITHIN])
        if declared is None:
            raise InvalidInput(name, "UTF-8 text") from error
    try:
        return _checked(data.decode(declared[1].decode("ascii")), name)
    except (LookupError, UnicodeDecodeError) as error:
        raise InvalidInput(name, f"text in the encoding that it declares, {declared[1].decode()}") from error


def _checked(text: str, name: str) -> str:
    if "\0" in text:
        raise InvalidInput(name, "text without NUL characters")
    if not text.strip():
        raise InvalidInput(name, "non-empty text")
    return text


def fenced(code: str, language: str = "") -> str:
    """Put code between fences that are longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.strip(chr(10))}\n{fence}"


def join_blocks(blocks: Sequence[str]) -> str:
    """Join blocks with an empty line between them; items of a list and rows of a table without one."""
    text = blocks[0] if blocks else ""
    for before, block in pairwise(blocks):
        close = block.startswith(("- ", "| ")) and before[:2] == block[:2]
        text += f"\n{block}" if close else f"\n\n{block}"
    return text


def unwrap(page: str) -> str:
    """Join the lines of a page's text that were wrapped at its width."""
    lines = [line.rstrip() for line in page.splitlines()]
    width = max((len(line) for line in lines), default=0)
    joined: list[str] = []
    open_line = False
    for line in lines:
        text = line.strip()
        if not text:
            joined.append("")
            open_line = False
            continue
        if open_line and not _STARTS_BLOCK.match(line):
            last = joined[-1]
            hyphenated = last.endswith("-") and text[:1].islower()
            joined[-1] = last[:-1] + text if hyphenated else f"{last} {text}"
        else:
            joined.append(text)
        open_line = len(line) >= _WRAPPED * width and not _ENDED.search(text)
    return "\n".join(joined).strip()
