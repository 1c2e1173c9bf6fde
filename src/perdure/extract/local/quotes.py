"""Words of others that a sentence quotes: their "I" is not the speaker."""

from __future__ import annotations

import re

_DOUBLE = r"\"[^\"\n]*\"|“[^”\n]*”"
_INTRODUCED = r"(?:^|(?<=[,:] )|(?<=says )|(?<=said )|(?<=like )|(?<=asked )|(?<=asks ))"
_SINGLE = rf"{_INTRODUCED}'(?![Cc]ause\b|[Tt]il\b|[Ee]m\b)\w(?:[^'\n]|'(?=\w)){{0,300}}'(?=[\s,.!?;:)]|$)|‘[^‘\n]{{0,300}}’(?!\w)"

QUOTED = re.compile(f"{_DOUBLE}|{_SINGLE}")
"""Quoted words; in single quotes, which are apostrophes too, only where something introduces them."""

_REPORTED_QUESTION = re.compile(
    r"(?:[,:]|\b(?:ask|say)(?:s|ed|ing)?|\bsaid)\s+(?:\"[^\"\n]*\?\"|“[^”\n]*\?”)\s*$"
)


def reports_question(text: str) -> bool:
    """Whether a sentence ends with somebody's question and is none itself: `He asked: "Who?"`."""
    return _REPORTED_QUESTION.search(text) is not None
