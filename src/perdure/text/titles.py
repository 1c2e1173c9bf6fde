"""Titles: the names under which a document's subject is mentioned elsewhere, and finding them in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html import unescape
from types import MappingProxyType

from perdure.text.terms import STOP_WORDS, fold

_WORD = re.compile(r"[^\W_]+(?:['’.\-&][^\W_]+)*")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*$")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)


@lru_cache(maxsize=8192)
def title_aliases(title: str) -> Mapping[str, float]:
    """Folded name -> how surely it means the title: whole, without what is in parentheses, shortened.

    Kept for the titles last seen, since every recall asks for those of hundreds of documents.
    """
    plain = unescape(title).strip()
    aliases: dict[str, float] = {}

    def add(name: str, weight: float) -> None:
        key = " ".join(words_of(name))
        if key:
            aliases[key] = max(aliases.get(key, 0.0), weight)

    add(plain, 1.0)
    bare = _PARENTHESIS.sub("", plain)
    add(bare, 1.0)
    add(_ARTICLE.sub("", bare), 0.8)
    add(bare.split(",")[0], 0.5)
    words = _WORD.findall(bare)
    for size in range(2, len(words)):
        if words[0][0].isupper() and words[size - 1][0].isupper():
            add(" ".join(words[:size]), 0.5)
    if len(words) == 3 and all(word[0].isupper() for word in words):
        add(f"{words[0]} {words[2]}", 0.5)
    return MappingProxyType(aliases)


def words_of(text: str) -> list[str]:
    """Folded words, for comparing names."""
    return [fold(word) for word in _WORD.findall(text)]


class TitleFinder:
    """Finds known names in texts, the longest first, each word used once."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_first: dict[str, dict[str, list[list[str]]]] = {}
        """First word -> second word ("" for none) -> the names that begin so, the longest first."""
        for words in sorted(map(str.split, names), key=len, reverse=True):
            seconds = self._by_first.setdefault(words[0], {})
            seconds.setdefault(words[1] if len(words) > 1 else "", []).append(words)

    def find(self, text: str) -> set[str]:
        """Return the names that the text mentions; single words only when they are capitalised."""
        written = _WORD.findall(text)
        folded = list(map(fold, written))
        following = [*folded[1:], ""]
        by_first = self._by_first
        found: set[str] = set()
        free = 0
        for place in [place for place, word in enumerate(folded) if word in by_first]:
            if place < free:
                continue
            seconds = by_first[folded[place]]
            for option in (*seconds.get(following[place], ()), *seconds.get("", ())):
                end = place + len(option)
                if folded[place:end] == option and _is_name(written[place:end]):
                    found.add(" ".join(option))
                    free = end
                    break
        return found


def _is_name(words: list[str]) -> bool:
    if len(words) == 1:
        return words[0][0].isupper() or words[0][0].isdigit()
    first = words[0]
    if first.islower() and first in STOP_WORDS:
        return False
    return any(word[0].isupper() or word[0].isdigit() for word in words)


def spread_over(aliases: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Name -> {who: weight}; a name that several share counts less for each."""
    owners: dict[str, dict[str, float]] = {}
    for who, names in aliases.items():
        for name, weight in names.items():
            owners.setdefault(name, {})[who] = weight
    return {
        name: {who: weight / len(shared) ** 0.5 for who, weight in shared.items()}
        for name, shared in owners.items()
    }
