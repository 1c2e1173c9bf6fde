"""Loads a language's data file into the tables that the grammar looks words up in."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

TOKEN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’](?![sS]\b)[^\W\d_]+)*|['’][sS]\b|\S")
LANGUAGES = os.path.join(os.path.dirname(__file__), "languages")
_CLOCK_WORDS = (
    "noon",
    "noonish",
    "midday",
    "midnight",
    "tonight",
    "tonite",
    "o'clock",
    "oclock",
    "clock",
    "eod",
    "time",
    "moment",
    "possible",
)
_DAY_WORDS = (
    "today",
    "tomorrow",
    "yesterday",
    "tmr",
    "tmrw",
    "tomorow",
    "now",
    "currently",
    "asap",
    "otd",
    "ytd",
    "mtd",
    "qtd",
    "date",
    "present",
)
_RATE_WORDS = ("daily", "nightly", "weekly", "fortnightly", "monthly", "quarterly", "yearly", "annually", "annual", "hourly",
               "biweekly", "bimonthly", "biannual", "biannually", "semiannually", "semimonthly", "everyday", "weekday", "weekdays")  # fmt: skip


def split_words(text: str) -> list[str]:
    """The lower-case tokens of a text."""
    return [token.lower().replace("’", "'") for token in TOKEN.findall(text)]


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of English by what they mean."""

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
    import tomllib

    with open(os.path.join(LANGUAGES, f"{language}.toml"), "rb") as source:
        return tomllib.load(source)


@lru_cache(maxsize=1)
def english() -> Lexicon:
    """The English tables."""
    table = load_table("en")
    parts = {
        word: (int(low), int(high), str(code)) for word, (low, high, code) in table["parts_of_day"].items()
    }
    names = (
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
    plain: dict[str, dict[str, Any]] = {name: table[name] for name in names}
    holidays = _phrases(table["holidays"])
    triggers = {word for name in names for word in plain[name]} | set(holidays) | set(parts)
    triggers.update(word + "s" for word in parts)
    triggers.update(word.split("'")[0] for word in tuple(triggers))
    triggers.discard("")
    triggers.update(_CLOCK_WORDS, _DAY_WORDS, _RATE_WORDS, plain["plural_weekdays"])
    return Lexicon(
        **plain, shifts=table["shifts"], parts_of_day=parts, holidays=holidays, triggers=frozenset(triggers)
    )


def _phrases(table: dict[str, str]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Phrases by first word, longest first."""
    grouped: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for phrase, rule in table.items():
        words = tuple(split_words(phrase))
        grouped.setdefault(words[0], []).append((words, rule))
    for entries in grouped.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return grouped
