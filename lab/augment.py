"""Vary what must not decide: punctuation, typos, names, fillers, and how much of the place is known."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab.names import GIVEN, PLACES
from perdure.ports.reader import PlacedStatement

_OPENERS = (
    "",
    "ok so ",
    "btw ",
    "anyway, ",
    "hm, ",
    "oh and ",
    "by the way: ",
    "hey! ",
    "fyi ",
    "well, ",
    "so ",
)
_CLOSERS = ("", " lol", " anyway", " :)", " haha", " just so you know", " you know", " btw", " thx", " ok?")
_ENGLISH_ONLY = frozenset((*_OPENERS, *_CLOSERS)) - {"", " :)", " lol", " haha", "hm, "}


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each variation happens."""

    final_mark: float = 0.5
    inner_marks: float = 0.2
    typos: float = 0.2
    names: float = 0.4
    fillers: float = 0.12
    no_header: float = 0.1
    no_date: float = 0.15
    no_before: float = 0.1


@dataclass(frozen=True, slots=True)
class Marked:
    """A text, and the words in it that must be found again."""

    text: str
    start: int = 0
    end: int = 0

    @classmethod
    def of(cls, text: str, words: str) -> Marked:
        """Mark the first occurrence of the words."""
        at = text.find(words) if words else -1
        return cls(text, at, at + len(words)) if at >= 0 else cls(text)


class Variation:
    """One random variation, applied alike to every part of an example."""

    def __init__(
        self, chooser: random.Random, names: Mapping[str, str], rates: Rates, language: str = "en"
    ) -> None:
        self._chooser = chooser
        self._rates = rates
        self._language = language
        self.renamed: dict[str, str] = {}
        if names and chooser.random() < rates.names:
            for name, type in names.items():
                pool = {"person": GIVEN, "place": PLACES}.get(type)
                if pool and chooser.random() < 0.8:
                    self.renamed[name.casefold()] = chooser.choice(pool)
        self._pattern = _any_of(self.renamed)
        self._drops_header = chooser.random() < rates.no_header
        self._drops_date = chooser.random() < rates.no_date

    def question(self, text: str, asker: str) -> tuple[str, str]:
        """Return a varied question and its asker."""
        if self._chooser.random() < self._rates.final_mark * 0.6:
            text = text.rstrip("?!. ") or text
        return self._words(text), self._rename(asker)

    def placed(self, statement: PlacedStatement, words: str = "") -> tuple[PlacedStatement, Marked]:
        """Return a varied statement, and where the given words are in it now."""
        marked = self._marked(Marked.of(statement.text, words))
        rates, chooser = self._rates, self._chooser
        before = "" if chooser.random() < rates.no_before else self._rename(statement.before)
        return replace(
            statement,
            text=marked.text,
            speaker="" if self._drops_header else self._rename(statement.speaker),
            listener="" if self._drops_header else self._rename(statement.listener),
            said_at=None if self._drops_date else statement.said_at,
            before=before,
        ), marked

    def _marked(self, marked: Marked) -> Marked:
        left, middle, right = (
            marked.text[: marked.start], marked.text[marked.start : marked.end], marked.text[marked.end :]
        )  # fmt: skip
        if self._chooser.random() < self._rates.final_mark:
            right = self._final(right) if right else right
            if not right and not middle:
                left = self._final(left)
        if self._chooser.random() < self._rates.inner_marks:
            left, right = re.sub(r"[,;']", "", left), re.sub(r"[,;']", "", right)
        left, middle, right = self._words(left), self._words(middle), self._words(right)
        if self._chooser.random() < self._rates.fillers:
            left = self._filler(_OPENERS) + left
        if self._chooser.random() < self._rates.fillers:
            right += self._filler(_CLOSERS)
        return Marked(left + middle + right, len(left), len(left) + len(middle))

    def _final(self, text: str) -> str:
        bare = text.rstrip(" .!")
        if bare.endswith("?"):
            return bare.rstrip("? ") if self._chooser.random() < 0.5 else text
        return bare + self._chooser.choice(("", "", ".", "!", "...")) if bare else text

    def _filler(self, fillers: tuple[str, ...]) -> str:
        filler = self._chooser.choice(fillers)
        return "" if self._language != "en" and filler in _ENGLISH_ONLY else filler

    def _words(self, text: str) -> str:
        text = self._rename(text)
        if self._chooser.random() < self._rates.typos:
            text = re.sub(r"[^\W\d_]{4,}", self._typo, text)
        return text

    def _typo(self, match: re.Match[str]) -> str:
        word, chooser = match[0], self._chooser
        if chooser.random() > 0.12:
            return word
        at = chooser.randrange(1, len(word) - 1)
        kind = chooser.randrange(3)
        if kind == 0:
            return word[:at] + word[at + 1 :]
        if kind == 1:
            return word[:at] + word[at] + word[at:]
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    def _rename(self, text: str) -> str:
        if self._pattern is None or not text:
            return text
        return self._pattern.sub(lambda match: self.renamed[match[0].casefold()], text)


def _any_of(names: Mapping[str, str]) -> re.Pattern[str] | None:
    if not names:
        return None
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)
