"""Lone surrogates: code points that a Python string may hold and no encoder takes."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Return the text, equally long, with lone surrogates replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
