"""How a question, a statement and its place are laid out as tokens. Training and inference share this module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from perdure.models.onnx_runtime import cut_characters
from perdure.ports.reader import PlacedStatement
from perdure.text.surrogates import without_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLS, _SEP = "[CLS]", "[SEP]"
MEANING_MARK, EFFECT_MARK = "[unused1]", "[unused2]"
"""First tokens that tell the encoder its task; `[CLS]` is the question's."""
_HEADER_TOKENS = 20
_CHARACTERS_PER_TOKEN = 8
_WINDOW_OVERLAP = 32
_MAX_WINDOWS = 12
_UNKNOWN = "[UNK]"
_MOST_UNREADABLE = 0.5
"""Questions in German or Spanish have at most .05, in Japanese or Chinese at least .88."""


class ReaderInput(NamedTuple):
    """Token ids and segment types; `offsets` are the text's tokens, which begin at position `first`."""

    ids: list[int]
    types: list[int]
    first: int
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Limits:
    """The most tokens that are read of each part."""

    question: int = 64
    text: int = 160
    before: int = 24
    window: int = 128
    """Longer texts are read in windows of this many tokens."""


class _Tokens(NamedTuple):
    ids: list[int]
    offsets: list[tuple[int, int]]


class InputLayout:
    """Lays out the three kinds of input for the encoder.

    A question: `[CLS] question [SEP] place: text [SEP] before [SEP]`. A statement alone: `[unused1] place: text [SEP]
    before [SEP]`. A pair: `[unused2] place: earlier [SEP] before [SEP] place: later [SEP] before [SEP]`.
    """

    def __init__(self, tokenizer: Tokenizer, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._tokenizer = tokenizer
        vocabulary = tokenizer.get_vocab()
        self._cls, self._sep, self._meaning, self._effect = (
            vocabulary[mark] for mark in (_CLS, _SEP, MEANING_MARK, EFFECT_MARK)
        )

    def question(
        self, question: str, asker: str, statements: Sequence[PlacedStatement]
    ) -> Iterator[list[ReaderInput]]:
        """Yield the windows of each statement next to the question; short statements have one window."""
        asked = f"{asker}: {question}" if asker else question
        left = [self._cls, *self._ids(asked, self.limits.question), self._sep]
        for statement in statements:
            yield [self._joined(left, statement, window) for window in self._windows(statement.text)]

    def can_read(self, text: str) -> bool:
        """Return whether the vocabulary has the script of a text; of others it sees unknown or single characters only."""
        encoding = self._tokenizer.encode(
            cut_characters(text, self.limits.question), add_special_tokens=False
        )
        letters = unreadable = 0
        for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
            own = [letter for letter in text[start:end] if letter.isalnum()]
            letters += len(own)
            if token == _UNKNOWN or len(own) == 1:
                unreadable += sum(not letter.isascii() for letter in own)
        return unreadable <= _MOST_UNREADABLE * letters

    def statement(self, statement: PlacedStatement) -> ReaderInput:
        """Return a statement in its place."""
        return self._joined([self._meaning], statement, self._cut(statement.text))

    def pair(self, earlier: PlacedStatement, later: PlacedStatement) -> ReaderInput:
        """Return two statements in their places."""
        first = self._joined([self._effect], earlier, self._cut(earlier.text, self.limits.text // 2))
        return self._joined(first.ids, later, self._cut(later.text, self.limits.text // 2))

    def _joined(self, left: Sequence[int], statement: PlacedStatement, text: _Tokens) -> ReaderInput:
        """Append a statement in its place to what is on its left, which has segment type 0."""
        header = self._ids(_header(statement), _HEADER_TOKENS)
        right = [*header, *text.ids, self._sep]
        if statement.before:
            before = without_surrogates(statement.before[-_CHARACTERS_PER_TOKEN * self.limits.before :])
            ids = self._tokenizer.encode(before, add_special_tokens=False).ids
            right += [*ids[-self.limits.before :], self._sep]
        return ReaderInput(
            [*left, *right], [0] * len(left) + [1] * len(right), len(left) + len(header), text.offsets
        )

    def _ids(self, text: str, limit: int) -> list[int]:
        if not text:
            return []
        encoding = self._tokenizer.encode(cut_characters(text, limit), add_special_tokens=False)
        ids: list[int] = encoding.ids[:limit]
        return ids

    def _cut(self, text: str, limit: int = 0) -> _Tokens:
        limit = limit or self.limits.text
        encoding = self._tokenizer.encode(cut_characters(text, limit), add_special_tokens=False)
        return _Tokens(encoding.ids[:limit], encoding.offsets[:limit])

    def _windows(self, text: str) -> list[_Tokens]:
        whole = self._cut(text, _MAX_WINDOWS * self.limits.window)
        if len(whole.ids) <= self.limits.text:
            return [whole]
        step = self.limits.window - _WINDOW_OVERLAP
        return [
            _Tokens(
                whole.ids[start : start + self.limits.window],
                whole.offsets[start : start + self.limits.window],
            )
            for start in range(0, len(whole.ids) - _WINDOW_OVERLAP, step)
        ]


def _header(statement: PlacedStatement) -> str:
    people = statement.speaker
    if statement.listener:
        people = f"{people} to {statement.listener}"
    parts = [part for part in (people, _day(statement.said_at)) if part]
    return f"{', '.join(parts)}:" if parts else ""


def _day(said_at: date | None) -> str:
    return "" if said_at is None else f"{said_at.day} {_MONTHS[said_at.month - 1]} {said_at.year}"
