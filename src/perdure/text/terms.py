"""Index terms: what the keyword channel stores of a text and looks for in it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from itertools import chain
from threading import Lock
from typing import Any

# Scripts written without spaces are indexed as overlapping pairs of characters.
_UNSPACED = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_PIECE = re.compile(
    rf"[{_UNSPACED}]+"
    r"|[@#]?[^\W_]+(?:[._\-/:@'’+][^\W_]+)*[+#]*",
)
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")
_JOINT = re.compile(r"[._\-/:@+]")
_POSSESSIVE = re.compile(r"['’](?:s|S)$")

STOP_WORDS = frozenset(
    """a about above after again against all am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each few for from
    further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn
    it its itself just ll m me more most my myself no nor not now o of off on once only or other our ours
    ourselves out over own re s same she should shouldn so some such t than that the their theirs them themselves
    then there these they this those through to too under until up ve very was wasn we were weren what when where
    which while who whom why will with won would wouldn y you your yours yourself yourselves
    i'm i've i'd i'll it's that's there's what's who's let's don't didn't doesn't isn't aren't wasn't weren't
    can't couldn't won't wouldn't shouldn't haven't hasn't hadn't you're you've you'd you'll we're we've we'd
    we'll they're they've they'd they'll he's she's he'd she'd he'll she'll""".split()
)

_stemming = Lock()
"""Held while the stemmer works: it keeps the word that it is at in itself."""


@cache
def _stemmer() -> Any:
    import snowballstemmer  # here: it loads the rules of every language

    return snowballstemmer.stemmer("english")


def index_terms(text: str) -> Counter[str]:
    """Term -> how often it occurs; stop words are left out."""
    return Counter(chain.from_iterable(map(_terms_of, _PIECE.findall(text))))


def plain_words(text: str) -> tuple[str, ...]:
    """Distinct folded words in order, stop words left out, for the typo-tolerant vocabulary."""
    seen: dict[str, None] = {}
    for piece in _PIECE.findall(text):
        word = _plain_word(piece)
        if word:
            seen.setdefault(word)
    return tuple(seen)


@lru_cache(maxsize=65536)
def _plain_word(piece: str) -> str:
    word = fold(_POSSESSIVE.sub("", piece))
    return word if len(word) > 1 and word not in STOP_WORDS else ""


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Lower case without diacritics."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFKC", "".join(c for c in decomposed if not unicodedata.combining(c)))


@lru_cache(maxsize=131072)
def _terms_of(piece: str) -> tuple[str, ...]:
    if _UNSPACED_RUN.fullmatch(piece):
        return _pairs(unicodedata.normalize("NFKC", piece))
    word = fold(_POSSESSIVE.sub("", piece)).replace("’", "'")
    if word in STOP_WORDS:
        return ()
    if word.isalpha():
        return (_stem(word),)
    parts = [part for part in _JOINT.split(word.strip("@#")) if part]
    if len(parts) == 1 and parts[0] == word:
        return (_stem(word),)
    # An identifier is found whole and by its parts.
    return (word, *(_stem(part) for part in parts if part not in STOP_WORDS and part != word))


def _pairs(run: str) -> tuple[str, ...]:
    if len(run) == 1:
        return (run,)
    return tuple(run[i : i + 2] for i in range(len(run) - 1))


@lru_cache(maxsize=131072)
def _stem(word: str) -> str:
    if not word.isascii() or len(word) < 3:
        return word
    with _stemming:
        return str(_stemmer().stemWord(word))
