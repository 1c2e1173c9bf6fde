"""Cutting a text into chunks on natural borders that stay put when other parts of the text change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

CHUNK_CHARACTERS = 3000
_SETTLED = 0.4
"""From this share of the limit on, a piece whose checksum says so ends its chunk."""

_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_BORDERS = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?。！？])\s+"),
    re.compile(r"[;,、，]\s*"),
    re.compile(r"\s+"),
)


def chunk_text(text: str, limit: int = CHUNK_CHARACTERS) -> list[str]:
    """Parts of at most `limit` characters that add up to the text; code blocks stay whole where they fit."""
    if len(text) <= limit:
        return [text] if text else []
    pieces = _cut(text, limit)
    return ["".join(pieces[i] for i in group) for group in group_pieces(pieces, limit)]


def group_pieces(pieces: Sequence[str], limit: int = CHUNK_CHARACTERS, joint: int = 0) -> list[list[int]]:
    """Indexes of neighbours that share a chunk; `joint` characters stand between two of them.

    Borders depend on the pieces' own content, so a change moves the borders near it and no others.
    """
    groups: list[list[int]] = []
    current: list[int] = []
    size = 0
    for index, piece in enumerate(pieces):
        if current and size + joint + len(piece) > limit:
            groups.append(current)
            current, size = [], 0
        current.append(index)
        size += len(piece) + (joint if len(current) > 1 else 0)
        if size >= limit * _SETTLED and crc32(piece.encode("utf-8", "surrogatepass")) % 4 == 0:
            groups.append(current)
            current, size = [], 0
    if current:
        groups.append(current)
    return groups


def _cut(text: str, limit: int) -> list[str]:
    pieces: list[str] = []
    position = 0
    for start, end in _code_blocks(text):
        if end - start <= limit:
            pieces += _cut_prose(text[position:start], limit)
            pieces.append(text[start:end])
            position = end
    return pieces + _cut_prose(text[position:], limit)


def _code_blocks(text: str) -> list[tuple[int, int]]:
    """Spans from an opening fence to the end of its closing line."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    blocks = []
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        line_end = text.find("\n", closing)
        blocks.append((opening, len(text) if line_end < 0 else line_end + 1))
    return blocks


def _cut_prose(text: str, limit: int, level: int = 0) -> list[str]:
    if not text:
        return []
    if level == len(_BORDERS):
        return [text[i : i + limit] for i in range(0, len(text), limit)]
    if len(text) <= limit and level >= 2:
        return [text]
    pieces: list[str] = []
    start = 0
    for match in _BORDERS[level].finditer(text):
        if match.end() > start:
            pieces += _fitting(text[start : match.end()], limit, level)
            start = match.end()
    return pieces + _fitting(text[start:], limit, level)


def _fitting(part: str, limit: int, level: int) -> list[str]:
    return [part] if 0 < len(part) <= limit else _cut_prose(part, limit, level + 1)
