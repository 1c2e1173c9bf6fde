"""The language files: the words of English by what they mean, and which language a text is in."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’](?![sS]\b)[^\W\d_]+)*|['’][sS]\b|\S")
_FOLDER = os.path.join(os.path.dirname(__file__), "languages")
_TABLES = ("months", "weekdays", "plural_weekdays", "units", "seasons", "cardinals", "ordinals", "decades",
           "shifts", "meals", "rates")  # fmt: skip
_PHRASE_TABLES = ("bounds", "bounds_after", "holidays")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LONG = re.compile(r"[^\W\d_]{4,}")
_SLOT = re.compile(r"\{[a-z]+\}")
_ASCII = re.compile("[A-Za-z]")
# A Chinese or Japanese sign says as much as a few Latin letters; a name in brackets does not make a text Chinese.
_SCRIPT_WEIGHT = 3


Phrases = dict[str, list[tuple[list[str], str]]]
"""Phrases, as words, with what they mean: by first word, longest first."""


def split_words(text: str) -> list[str]:
    """The lower-case tokens of a text."""
    return [token.lower().replace("’", "'") for token in TOKEN.findall(text)]


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of English by what they mean.

    `triggers` are the words without which no text has a date; `hints` tell that a text is English, `ambiguous` words
    tell nothing.
    """

    months: dict[str, int]
    weekdays: dict[str, int]
    plural_weekdays: dict[str, int]
    units: dict[str, str]
    seasons: dict[str, str]
    cardinals: dict[str, int]
    ordinals: dict[str, int]
    decades: dict[str, int]
    shifts: dict[str, int]
    parts_of_day: dict[str, tuple[int, int, str]]
    meals: dict[str, str]
    rates: dict[str, str]
    bounds: Phrases
    bounds_after: Phrases
    holidays: Phrases
    triggers: frozenset[str]
    hints: frozenset[str]
    ambiguous: frozenset[str]


@lru_cache(maxsize=16)
def load_table(language: str) -> dict[str, Any]:
    """The parsed data file of a language."""
    with open(os.path.join(_FOLDER, f"{language}.toml"), "rb") as source:
        return tomllib.load(source)


@lru_cache(maxsize=1)
def known_languages() -> frozenset[str]:
    """The codes of all languages that have a data file."""
    return frozenset(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".toml"))


@lru_cache(maxsize=1)
def english() -> Lexicon:
    """The English tables."""
    table = load_table("en")
    tables: dict[str, Any] = {name: table[name] for name in _TABLES}
    tables |= {name: phrase_table(table[name]) for name in _PHRASE_TABLES}
    parts = {word: (low, high, code) for word, (low, high, code) in table["parts_of_day"].items()}
    timely = {word for name in (*_TABLES, "holidays") if name != "shifts" for word in tables[name]}
    timely |= {form for word in parts for form in (word, word + "s")}
    triggers = timely | {word.split("'")[0] for word in timely} | {*table["triggers"]}
    return Lexicon(
        **tables,
        parts_of_day=parts,
        hints=frozenset(table["hints"]),
        ambiguous=frozenset(table["ambiguous"]),
        triggers=frozenset(triggers - {""}),
    )


def phrase_table(meanings: dict[str, str]) -> Phrases:
    """A table of what phrases mean."""
    table: Phrases = {}
    entries = [(split_words(phrase), meaning) for phrase, meaning in meanings.items()]
    for words, meaning in sorted(entries, key=lambda entry: -len(entry[0])):
        table.setdefault(words[0], []).append((words, meaning))
    return table


class _Vocabulary(NamedTuple):
    """What tells a language: its script, its small words and its words of time, without those that English shares."""

    code: str
    script: re.Pattern[str] | None
    small: frozenset[str]
    timely: frozenset[str]


@lru_cache(maxsize=1)
def _vocabularies() -> tuple[_Vocabulary, ...]:
    lex = english()
    shared = lex.hints | lex.ambiguous | lex.triggers
    return tuple(_vocabulary(code, shared) for code in sorted(known_languages() - {"en"}))


def _vocabulary(code: str, shared: frozenset[str]) -> _Vocabulary:
    table = load_table(code)
    phrases = [phrase for name in ("months", "weekdays", "units", "numbers") for phrase in table[name]]
    phrases += _LONG.findall(_SLOT.sub(" ", " ".join(table["patterns"])))
    small = frozenset(word for word in table["hints"] if len(word) > 1)
    timely = frozenset(_LETTERS.findall(" ".join(phrases)))
    script = re.compile(table["script"]) if "script" in table else None
    return _Vocabulary(code, script, small - shared, timely - shared)


@lru_cache(maxsize=1)
def _foreign_words() -> frozenset[str]:
    return frozenset().union(*(entry.small | entry.timely for entry in _vocabularies()))


def detect_language(text: str, words: Sequence[str]) -> str:
    """The most likely language code; English where nothing speaks against it."""
    if not text.isascii():
        letters = len(_ASCII.findall(text))
        for entry in _vocabularies():
            if entry.script is not None and len(entry.script.findall(text)) * _SCRIPT_WEIGHT > letters:
                return entry.code
    if _foreign_words().isdisjoint(words):
        return "en"
    said = set(words)
    best, score = "en", len(said & english().hints)
    for entry in _vocabularies():
        count = len(said & entry.small) + 2 * len(said & entry.timely)
        if count > score or (count == score >= 2 and best == "en"):
            best, score = entry.code, count
    return best
