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
_TABLES = (
    "months",
    "weekdays",
    "plural_weekdays",
    "units",
    "seasons",
    "cardinals",
    "ordinals",
    "decades",
    "meals",
)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LONG = re.compile(r"[^\W\d_]{4,}")
_SLOT = re.compile(r"\{[a-z]+\}")
_ASCII = re.compile("[A-Za-z]")
# A Chinese or Japanese sign says as much as a few Latin letters; a name in brackets does not make a text Chinese.
_SCRIPT_WEIGHT = 3


def split_words(text: str) -> list[str]:
    """The lower-case tokens of a text."""
    return [token.lower().replace("’", "'") for token in TOKEN.findall(text)]


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


_MORE_TRIGGERS = word_set(
    "noon noonish midday midnight tonight tonite o'clock oclock clock eod time moment possible today tomorrow yesterday "
    "tmr tmrw tomorow now currently asap otd ytd mtd qtd date present daily nightly weekly fortnightly monthly quarterly "
    "yearly annually annual hourly biweekly bimonthly biannual biannually semiannually semimonthly everyday weekday weekdays"
)
_ENGLISH = word_set(
    "the and to of a is was i we he she they you it in on at for with my his her our their this that have had has did are were be been "
    "what when where who how from about will would can not but so if then me us him them your its as by or an am do does just like all "
    "there here out up no yes more one very really get got go went some"
)
_AMBIGUOUS = word_set(
    "fine once tag six die ore mars sept mes an prima am war fa fin gen sex dos sei dec mar set un on vier nos le la de em as es "
    "end plus due quest per non los las ai com era mi bin hat otto con vi al pour mia"
)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of English by what they mean; `triggers` are the words without which no text has a date."""

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
    holidays: dict[str, list[tuple[tuple[str, ...], str]]]
    triggers: frozenset[str]


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
    plain: dict[str, dict[str, Any]] = {name: table[name] for name in _TABLES}
    parts = {
        word: (int(low), int(high), str(code)) for word, (low, high, code) in table["parts_of_day"].items()
    }
    holidays = _by_first_word(table["holidays"])
    words = {word for name in _TABLES for word in plain[name]} | {
        *holidays,
        *parts,
        *(word + "s" for word in parts),
    }
    triggers = words | {word.split("'")[0] for word in words} - {""} | _MORE_TRIGGERS
    return Lexicon(
        **plain, shifts=table["shifts"], parts_of_day=parts, holidays=holidays, triggers=frozenset(triggers)
    )


def _by_first_word(table: dict[str, str]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Phrases with their values by first word, longest first."""
    grouped: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, value in sorted(table.items(), key=lambda entry: -len(split_words(entry[0]))):
        words = tuple(split_words(phrase))
        grouped.setdefault(words[0], []).append((words, value))
    return grouped


class _Vocabulary(NamedTuple):
    """What tells a language: its script, its small words and its words of time, without those that English shares."""

    code: str
    script: re.Pattern[str] | None
    small: frozenset[str]
    timely: frozenset[str]


@lru_cache(maxsize=1)
def _vocabularies() -> tuple[_Vocabulary, ...]:
    shared = _ENGLISH | _AMBIGUOUS | english().triggers
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
    best, score = "en", len(said & _ENGLISH)
    for entry in _vocabularies():
        count = len(said & entry.small) + 2 * len(said & entry.timely)
        if count > score or (count == score >= 2 and best == "en"):
            best, score = entry.code, count
    return best
