"""Names of entities: one normal form, and the keys under which a name can be looked up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from perdure.text.wordlist import read_words, word_set

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'"})
_POSSESSIVE = re.compile(r"(?<=\w)'s?(?=\s|$)")
_DOTTED = re.compile(r"\b(?:\w\.){2,}\w?(?!\w)")
_ARTICLES = re.compile(r"^(?:(?:the|a|an)\s+)+(?=\S)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+|www\.\S+")
_APART = re.compile(r"[^\w@#&+./:-]+|(?<!\w)[./:-]+|[./:-]+(?!\w)")
_MAX_NAME = 200

TITLES = word_set(
    "mr mrs ms miss mx dr doctor prof professor sir madam lady lord rev fr sgt capt lt col gen sen rep hon "
    "president king queen prince princess aunt uncle"
)
"""Words before a name that are no part of it."""

SUFFIXES = word_set("jr sr ii iii iv phd md esq inc ltd llc gmbh corp co plc ag sa limited incorporated")
"""Words behind a name that are no part of it."""

_NAMES = read_words("given_names.toml")
_FULL_NAMES: dict[str, frozenset[str]] = {}
"""Short form -> the given names it may stand for."""
for _full, _shorts in _NAMES["short_forms"].items():
    for _short in _shorts.split():
        _FULL_NAMES[_short] = _FULL_NAMES.get(_short, frozenset()) | {_full}
_GIVEN_NAMES = word_set(_NAMES["common"]) | _FULL_NAMES.keys() | _NAMES["short_forms"].keys()
_SMALL = word_set("the a an of and or for in on at to de la le du des von van der den di da del y e")


@lru_cache(maxsize=16_384)
def normal_name(name: str) -> str:
    """Return the name in lower case without accents, articles, possessives and stray punctuation.

    Names that differ only in what this takes away are the same name; an empty result means no name.
    """
    plain = unicodedata.normalize("NFKD", name[:_MAX_NAME].translate(_APOSTROPHES))
    plain = "".join(char for char in plain if not unicodedata.combining(char)).casefold()
    if _ADDRESS.fullmatch(plain.strip()):
        return plain.strip().rstrip("/.,;")
    plain = _DOTTED.sub(lambda match: match[0].replace(".", ""), plain)
    plain = _POSSESSIVE.sub("", plain.strip())
    plain = " ".join(_APART.sub(" ", plain.replace("'", "").replace("_", " ")).split())
    return _ARTICLES.sub("", plain)


def name_tokens(name: str) -> tuple[str, ...]:
    """Return the words of a name that distinguish it: no titles, company suffixes or small words."""
    words = normal_name(name).split()
    telling = tuple(word for word in words if word not in TITLES and word not in _SMALL)
    while len(telling) > 1 and telling[-1].strip(".") in SUFFIXES:
        telling = telling[:-1]
    return telling or tuple(words)


def initials(name: str) -> str:
    """Return the first letters of a name of two words or more ("Bay Area Rapid Transit" -> "bart"), else ""."""
    words = [word for word in normal_name(name).split() if word not in _SMALL]
    if not 2 <= len(words) <= 8 or not all(word[0].isalpha() for word in words):
        return ""
    return "".join(word[0] for word in words)


def full_names(first_name: str) -> frozenset[str]:
    """Return the given names that a short form may stand for, in lower case ("bob" -> {"robert"})."""
    return _FULL_NAMES.get(first_name.casefold(), frozenset())


def is_given_name(word: str) -> bool:
    """Return whether a word is a given name that many people have."""
    return word.casefold() in _GIVEN_NAMES


@lru_cache(maxsize=16_384)
def entity_keys(name: str) -> tuple[str, ...]:
    """Return keys for looking a name up: the whole, each distinguishing word, full forms of a nickname, the initials.

    Two names that may mean the same thing share a key; sharing one does not make them the same.
    """
    whole = normal_name(name)
    if not whole:
        return ()
    words = name_tokens(name)
    keys = [whole, *(word for word in words if len(word) > 1)]
    if words:
        keys.extend(sorted(full_names(words[0])))
    keys.append(initials(name))
    return tuple(dict.fromkeys(key for key in keys if key))


def keys_of_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct keys of several names of one thing."""
    return tuple(dict.fromkeys(key for name in names for key in entity_keys(name)))
