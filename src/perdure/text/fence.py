"""The fence around recalled memory in a prompt, and how to take it out again."""

from __future__ import annotations

from perdure.domain.rendering import CLOSING, OPENING


def strip_fenced(text: str) -> str:
    """Return the text without fenced recalled memory, so that what was recalled is not retained again.

    An opening without a closing is the user's own text and stays.
    """
    parts: list[str] = []
    position = 0
    while (start := text.find(OPENING, position)) >= 0:
        end = text.find(CLOSING, start)
        if end < 0:
            break
        parts.append(text[position:start])
        position = end + len(CLOSING)
    return "".join([*parts, text[position:]]) if parts else text[position:]
