"""Cutting text into pieces and sentences by rules, in linear time for any text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.text.wordlist import word_set

Span = tuple[int, int]

PIECE = 2000
"""No sentence and no piece given to a model is longer than this."""

_BREAK = re.compile(
    r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*+•◦‣▪–—]|\d{1,3}[.)]|#{1,6}|>|\|)[ \t])|(?<=[.!?:;…。！？])[ \t]*\n|\n{1,}(?=```)|\r\n?"
)
_END = re.compile(
    r"(?:[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？]+[」』”]?)(?:\s*[\U0001F300-\U0001FAFF☀-➿️‍]+)?\s*"
)
_ABBREVIATIONS = word_set(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e eg ie approx no fig al inc ltd co corp dept est mt ave blvd rd gen sen rep "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri a.m p.m u.s u.k ph.d"
)
_LAST_WORD = re.compile(r"[\w.]+$")


def pieces(text: str, limit: int = PIECE) -> Iterator[Span]:
    """The text's paragraphs, list items and lines that end like sentences, none longer than `limit`."""
    start = 0
    for found in _BREAK.finditer(text):
        yield from _limited(text, start, found.start(), limit)
        start = found.end()
    yield from _limited(text, start, len(text), limit)


def sentences(text: str) -> Iterator[Span]:
    """The text's sentences, without the white space around them."""
    for start, end in pieces(text):
        at = start
        for found in _END.finditer(text, start, end):
            if found.end() < end and not _ends_sentence(text, at, found):
                continue
            yield from _trimmed(text, at, found.end())
            at = found.end()
        yield from _trimmed(text, at, end)


def _ends_sentence(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether a stop before more text ends the sentence: not an abbreviation, an initial or a list's number."""
    if not found.group().startswith((".", "…")):
        return True
    if found.group().startswith(("..", "…")):
        return not text[found.end() : found.end() + 1].islower()
    word = _LAST_WORD.search(text, max(start, found.start() - 20), found.start())
    if word is None:
        return True
    bare = word.group()
    if len(bare) == 1 and bare.isupper() and bare != "I":
        return False
    return bare.lower() not in _ABBREVIATIONS and not (bare.isdigit() and word.start() == start)


def _limited(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    while end - start > limit:
        cut = start + limit
        for mark in (". ", "? ", "! ", "; ", ", ", " "):
            found = text.rfind(mark, start + limit // 2, start + limit)
            if found >= 0:
                cut = found + len(mark)
                break
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
