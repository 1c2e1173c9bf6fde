"""Sentences: where a text's paragraphs, list items and sentences begin and end; linear time for any text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.text.wordlist import word_set

Span = tuple[int, int]
MAX_PIECE = 2000
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


def pieces(text: str, limit: int = MAX_PIECE) -> Iterator[Span]:
    """Yield the text's paragraphs, list items and lines that end like sentences, none longer than `limit`."""
    start = 0
    for gap in _BREAK.finditer(text):
        yield from _cut_long(text, start, gap.start(), limit)
        start = gap.end()
    yield from _cut_long(text, start, len(text), limit)


def sentences(text: str) -> Iterator[Span]:
    """Yield the text's sentences, without the white space around them."""
    for start, end in pieces(text):
        begin = start
        for stop in _END.finditer(text, start, end):
            if stop.end() < end and not _ends_sentence(text, begin, stop):
                continue
            yield from _trimmed(text, begin, stop.end())
            begin = stop.end()
        yield from _trimmed(text, begin, end)


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Return whether a stop before more text ends the sentence: not an abbreviation, an initial or a list's number."""
    if not stop.group().startswith((".", "…")):
        return True
    if stop.group().startswith(("..", "…")):
        return not text[stop.end() : stop.end() + 1].islower()
    match = _LAST_WORD.search(text, max(start, stop.start() - 20), stop.start())
    if match is None:
        return True
    word = match.group()
    if len(word) == 1 and word.isupper() and word != "I":
        return False
    return word.lower() not in _ABBREVIATIONS and not (word.isdigit() and match.start() == start)


def _cut_long(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    while end - start > limit:
        cut = start + limit
        for mark in (". ", "? ", "! ", "; ", ", ", " "):
            place = text.rfind(mark, start + limit // 2, start + limit)
            if place >= 0:
                cut = place + len(mark)
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
