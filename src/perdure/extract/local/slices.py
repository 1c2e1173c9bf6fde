"""Statements as slices of a turn: sentences, joined where they are short, apart from questions to the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from perdure.extract.local.questions import question_start
from perdure.text.sentences import MAX_PIECE, sentences

TOGETHER = 160
"""Characters up to which neighbouring sentences of a turn are one statement."""
_FEWEST_WORDS = 5
"""A sentence with fewer words is a fragment, which means little without its neighbour."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of a turn's text that is one statement."""

    start: int
    end: int
    is_question: bool = False
    """Whether it is a question put to the agent."""


def read_slices(text: str, language: str, *, asks_agent: bool) -> list[Slice]:
    """Return the statements of a text in order; `asks_agent` tells that its questions are put to the agent."""
    joined: list[Slice] = []
    for piece in _pieces(text, language, asks_agent):
        if joined and _belongs(text, joined[-1], piece):
            before = joined.pop()
            piece = Slice(before.start, piece.end, before.is_question)
        joined.append(piece)
    return joined


def _belongs(text: str, before: Slice, piece: Slice) -> bool:
    """Return whether two neighbours are one statement."""
    if before.is_question is not piece.is_question or piece.end - before.start > MAX_PIECE:
        return False
    if piece.end - before.start <= TOGETHER:
        return True
    return any(_is_fragment(text[one.start : one.end]) for one in (before, piece))


def _is_fragment(text: str) -> bool:
    words = _WORD.finditer(text)
    return sum(1 for _ in zip(words, range(_FEWEST_WORDS), strict=False)) < _FEWEST_WORDS


def _pieces(text: str, language: str, asks_agent: bool) -> Iterator[Slice]:
    """Yield sentences, the halves of those that end in a question, and blocks of code."""
    for start, end in _sentences(text):
        sentence = text[start:end]
        at = question_start(sentence, language) if asks_agent and not sentence.startswith("```") else None
        if at is None:
            yield Slice(start, end)
            continue
        if at:
            yield Slice(start, start + len(sentence[:at].rstrip()))
        yield Slice(start + at, end, is_question=True)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for code in _FENCED.finditer(text):
        yield from _shifted(text, position, code.start())
        yield code.start(), len(text[: code.end()].rstrip())
        position = code.end()
    yield from _shifted(text, position, len(text))


def _shifted(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for first, last in sentences(text[start:end]):
        yield start + first, start + last
