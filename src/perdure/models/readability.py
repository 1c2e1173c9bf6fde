"""How well a model of one language can read a text, judged by its tokenization.

A vocabulary has whole words of its own language, pieces of words of other languages, and single characters of other scripts or
none: for a question that is enough to tell the three apart (docs/decisions/languages.md).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Encoding

_UNKNOWN_TOKEN = "[UNK]"
_MAX_UNREADABLE = 0.5
"""Questions in German or Spanish have at most .05, in Japanese or Chinese at least .88."""
_MIN_WHOLE_WORDS = 0.6
"""99% of the questions of LoCoMo and LongMemEval have more, 95% of those in German and 83% of those in Spanish less."""


@dataclass(frozen=True, slots=True)
class Readability:
    """Shares of a text's letters and digits."""

    unreadable: float
    """In unknown tokens, or non-ASCII and alone in a token."""
    whole_words: float
    """In words that are one token."""

    @property
    def other_script(self) -> bool:
        """Return whether the model sees only unknown characters."""
        return self.unreadable > _MAX_UNREADABLE

    @property
    def other_language(self) -> bool:
        """Return whether the model knows few of the words."""
        return self.whole_words < _MIN_WHOLE_WORDS


def readability(text: str, encoding: Encoding) -> Readability:
    """Return the readability of a text from its encoding without special tokens; a text without letters is readable."""
    letters = unreadable = whole = 0
    tokens_of_word = Counter(encoding.word_ids)
    for token, (start, end), word in zip(encoding.tokens, encoding.offsets, encoding.word_ids, strict=True):
        own = [letter for letter in text[start:end] if letter.isalnum()]
        letters += len(own)
        if token == _UNKNOWN_TOKEN or (len(own) == 1 and not own[0].isascii()):
            unreadable += len(own)
        elif tokens_of_word[word] == 1:
            whole += len(own)
    return Readability(unreadable / letters, whole / letters) if letters else Readability(0.0, 1.0)
