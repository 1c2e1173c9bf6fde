"""Tells the language of a short text by its small words or its script."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache

from perdure.dates.lexicon import LANGUAGES, english, load_table, word_set

_ENGLISH = word_set(
    "the and to of a is was i we he she they you it in on at for with my his her our their this that have had has did are were be been "
    "what when where who how from about will would can not but so if then me us him them your its as by or an am do does just like all "
    "there here out up no yes more one very really get got go went some"
)
_AMBIGUOUS = word_set(
    "fine once tag six die ore mars sept mes an prima am war fa fin gen sex dos sei dec mar set un on vier nos le la de em as es "
    "end plus due quest per non los las ai com era mi bin hat otto con vi al pour mia"
)
_ASCII = re.compile("[A-Za-z]")
# A Chinese or Japanese sign says as much as a few Latin letters; a name in brackets does not make a text Chinese.
_SCRIPT_WEIGHT = 3
_SLOT = re.compile(r"\{[a-z]+\}")
_LONG = re.compile(r"[^\W\d_]{4,}")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


@lru_cache(maxsize=1)
def known_languages() -> frozenset[str]:
    """The codes of all languages that have a data file."""
    return frozenset(name[:-5] for name in os.listdir(LANGUAGES) if name.endswith(".toml"))


@lru_cache(maxsize=1)
def _vocabularies() -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """For each language its small words and its words of time, without those that English shares."""
    shared = _ENGLISH | _AMBIGUOUS | english().triggers
    found = []
    for code in sorted(known_languages() - {"en"}):
        table = load_table(code)
        timely = " ".join(
            phrase for name in ("months", "weekdays", "units", "numbers") for phrase in table[name]
        )
        timely += " " + " ".join(_LONG.findall(_SLOT.sub(" ", " ".join(table["patterns"]))))
        small = frozenset(word for word in table["hints"] if len(word) > 1)
        found.append((code, small - shared, frozenset(_LETTERS.findall(timely)) - shared))
    return tuple(found)


@lru_cache(maxsize=1)
def _scripts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    tables = {code: load_table(code) for code in sorted(known_languages() - {"en"})}
    return tuple((code, re.compile(table["script"])) for code, table in tables.items() if "script" in table)


@lru_cache(maxsize=1)
def _foreign() -> frozenset[str]:
    return frozenset(word for _, small, timely in _vocabularies() for word in small | timely)


def detect_language(text: str, words: Sequence[str]) -> str:
    """The most likely language code; English where nothing speaks against it."""
    if not text.isascii():
        letters = len(_ASCII.findall(text))
        for code, script in _scripts():
            if len(script.findall(text)) * _SCRIPT_WEIGHT > letters:
                return code
    if _foreign().isdisjoint(words):
        return "en"
    said = set(words)
    best, score = "en", len(said & _ENGLISH)
    for code, small, timely in _vocabularies():
        count = len(said & small) + 2 * len(said & timely)
        if count > score or (count == score >= 2 and best == "en"):
            best, score = code, count
    return best
