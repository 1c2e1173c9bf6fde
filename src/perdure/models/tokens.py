"""Token counters: the encodings of OpenAI's models, offline, and an approximation that needs no vocabulary."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from perdure.errors import InvalidInput
from perdure.ports.tokens import Tokens
from perdure.text.surrogates import without_surrogates

DEFAULT_TOKENS = "cl100k"
_LOADERS = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
_WORD = re.compile(r"[^\W_]+|[^\s\w]|_|\s{2,}")
_LOOKAHEAD = 16
_lock = threading.Lock()


def token_counter(name: str = DEFAULT_TOKENS) -> Tokens:
    """Return the counter of that name: cl100k, o200k or approximate."""
    if name == "approximate":
        return ApproximateTokens()
    if name not in _LOADERS:
        raise InvalidInput("tokens", "cl100k, o200k or approximate", name)
    return BpeTokens(name)


class BpeTokens:
    """Exact counts of a byte-pair encoding; the vocabulary loads on first use."""

    def __init__(self, name: str = DEFAULT_TOKENS) -> None:
        if name not in _LOADERS:
            raise InvalidInput("tokens", " or ".join(_LOADERS), name)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def count(self, text: str) -> int:
        return int(_encoding(self._name).count(without_surrogates(text)))

    def cut(self, text: str, limit: int) -> str:
        encoding = _encoding(self._name)
        return _cut(text, limit, lambda piece: _within(encoding, piece, limit))


class ApproximateTokens:
    """Counts from the shape of the words, within about a tenth for English prose; loads nothing."""

    @property
    def name(self) -> str:
        return "approximate"

    def count(self, text: str) -> int:
        return sum(_pieces(match.group()) for match in _WORD.finditer(text))

    def cut(self, text: str, limit: int) -> str:
        return _cut(text, limit, lambda piece: self.count(piece) <= limit)


@lru_cache(maxsize=len(_LOADERS))
def _load(name: str) -> Any:
    from rs_bpe.bpe import openai

    return getattr(openai, _LOADERS[name])()


def _encoding(name: str) -> Any:
    with _lock:
        return _load(name)


def _within(encoding: Any, text: str, limit: int) -> bool:
    return encoding.count_till_limit(without_surrogates(text), limit) is not None


def _cut(text: str, limit: int, fits: Callable[[str], bool]) -> str:
    if limit <= 0:
        return ""
    low, high = 0, 1
    while high < len(text) and fits(text[:high]):
        low, high = high, high * 2
    high = min(high, len(text))
    if fits(text[:high]) and high == len(text):
        return text
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle)
    # Counts are not quite monotonic: a letter more can complete a merge and make one token of two.
    for end in range(min(low + _LOOKAHEAD, len(text)), low, -1):
        if fits(text[:end]):
            return text[:end]
    return text[:low]


def _pieces(word: str) -> int:
    """Return roughly how many tokens a run of letters, a run of digits, a mark or a gap is."""
    if word.isdigit():
        return -(-len(word) // 3)
    if word.isspace():
        return 1
    if not word.isascii():
        return max(1, round(len(word) * 0.8))
    return 1 if len(word) <= 8 else -(-len(word) // 6)
