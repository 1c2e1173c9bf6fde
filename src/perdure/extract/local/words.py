"""The words of each language that the local extractor needs to know, read from a file of data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def word_lists(name: str) -> Mapping[str, frozenset[str]]:
    """Return language -> words of one table of words.toml."""
    tables = tomllib.loads(files("perdure.extract.local").joinpath("words.toml").read_text(encoding="utf-8"))
    return {key: frozenset(words.split()) for key, words in tables[name].items()}


@cache
def every_word(name: str) -> frozenset[str]:
    """Return the words of one table in all languages."""
    return frozenset[str]().union(*word_lists(name).values())
