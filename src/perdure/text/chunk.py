"""Cutting a text into chunks on natural borders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.fact import TurnSpan
from perdure.ports.extractor import Turn

CHUNK_CHARACTERS = 3000

_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_BORDERS = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?。！？])\s+"),
    re.compile(r"[;,、，]\s*"),
    re.compile(r"\s+"),
)


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk's text with the turns in it."""

    text: str
    spans: tuple[TurnSpan, ...] = ()


def chunk_text(text: str, limit: int = CHUNK_CHARACTERS) -> list[str]:
    """Parts of at most `limit` characters that add up to the text; code blocks stay whole where they fit."""
    return _pack(_cut(text, limit), limit)


def chunk_turns(turns: Sequence[Turn], limit: int = CHUNK_CHARACTERS) -> list[ChunkText]:
    """Whole turns together up to `limit`; a turn longer than that is cut on its own."""
    chunks: list[ChunkText] = []
    text, spans = "", []
    for turn in turns:
        label = f"{turn.speaker}: " if turn.speaker else ""
        for piece in chunk_text(turn.text, limit - min(len(label), limit // 2)):
            line = label + piece
            if text and len(text) + 1 + len(line) > limit:
                chunks.append(ChunkText(text, tuple(spans)))
                text, spans = "", []
            text = f"{text}\n{line}" if text else line
            spans.append(_span(turn, len(text) - len(piece), len(text)))
    if text:
        chunks.append(ChunkText(text, tuple(spans)))
    return chunks


def _span(turn: Turn, start: int, end: int) -> TurnSpan:
    return TurnSpan(
        start=start, end=end, speaker=turn.speaker, is_agent=turn.is_agent, said_at=turn.said_at
    )


def _cut(text: str, limit: int) -> list[str]:
    if len(text) <= limit:
        return [text]
    pieces: list[str] = []
    position = 0
    for start, end in _code_blocks(text):
        if end - start <= limit:
            pieces += _cut_prose(text[position:start], limit)
            pieces.append(text[start:end])
            position = end
    return pieces + _cut_prose(text[position:], limit)


def _code_blocks(text: str) -> list[tuple[int, int]]:
    """Spans from an opening fence to the end of its closing line; the last one may be unclosed."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    blocks = []
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        line_end = text.find("\n", closing)
        blocks.append((opening, len(text) if line_end < 0 else line_end + 1))
    return blocks


def _cut_prose(text: str, limit: int, level: int = 0) -> list[str]:
    if len(text) <= limit:
        return [text] if text else []
    if level == len(_BORDERS):
        return [text[i : i + limit] for i in range(0, len(text), limit)]
    ends = [match.end() for match in _BORDERS[level].finditer(text)]
    parts: list[str] = []
    start = 0
    for end in [*ends, len(text)]:
        if end > start:
            parts.append(text[start:end])
            start = end
    packed = _pack(parts, limit)
    return [piece for part in packed for piece in _cut_prose(part, limit, level + 1)]


def _pack(parts: Sequence[str], limit: int) -> list[str]:
    """Neighbours joined while they fit."""
    packed: list[str] = []
    current: list[str] = []
    size = 0
    for part in parts:
        if current and size + len(part) > limit:
            packed.append("".join(current))
            current, size = [], 0
        current.append(part)
        size += len(part)
    if current:
        packed.append("".join(current))
    return packed
