"""Word lists: in code as plain text, longer ones in data files next to this module."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def read_words(name: str) -> dict[str, Any]:
    """Return the word lists of a data file."""
    return tomllib.loads(files("perdure.text").joinpath(name).read_text(encoding="utf-8"))
