"""A clause as tokens: what templates of wordings are matched against."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.text.wordings import Wordings, bare

_TOKEN = re.compile(
    r"https?://\S*\w|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|\+?\(?\d[\d ()/-]{4,}\d(?![\w:])|\d+(?:[.,:h/]\d+)*(?:h|%|€|\$|er|e)?(?!\w)(?:\.(?=\s+\w))?"
    r"|aujourd['’]hui|(?:[jnmtsldc]|qu|jusqu|lorsqu|puisqu)['’](?=\w)"
    r"|(?:Dr|Prof|Sr|Sra|Srta|Mme|Mlle|St|Dra|Fr|Hr|M|av|ap)\.(?=\s*\w)"
    r"|[^\W_](?:[\w&+#'’./-]*[\w+#])?|[^\w\s]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or sign of a unit."""

    text: str
    low: str
    bare: str
    start: int
    end: int
    capital: bool

    @property
    def is_word(self) -> bool:
        """Whether it is no punctuation."""
        return self.text[0].isalnum() or self.text[0] in "+("


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause's tokens and the text they were cut from."""

    text: str
    tokens: tuple[Token, ...]
    wordings: Wordings

    @property
    def words(self) -> frozenset[str]:
        """Its words as typed without accents."""
        return frozenset(token.bare for token in self.tokens)

    def part(self, start: int, end: int) -> str:
        """The text of the tokens from `start` to before `end`, as it was written."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def has(self, place: int, words: frozenset[str]) -> bool:
        """Whether the token at a place is one of the words."""
        return 0 <= place < len(self.tokens) and self.tokens[place].low in words


def tokens_of(text: str, code: str) -> list[Token]:
    """The words and signs of a text; in a text without capitals every word may be a name."""
    case_free = text.islower()
    return [
        Token(
            text=match[0],
            low=match[0].casefold().replace("’", "'"),
            bare=bare(match[0].replace("’", "'"), code),
            start=match.start(),
            end=match.end(),
            capital=match[0][0].isupper() or (case_free and match[0][0].isalpha()),
        )
        for match in _TOKEN.finditer(text)
    ]
