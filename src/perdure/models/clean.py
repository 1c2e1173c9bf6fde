"""Bringing any string into a form that the tokenizers accept, at a bounded cost."""

from __future__ import annotations

import re

_CHARACTERS_A_TOKEN = 32
_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text, equally long, with lone surrogates replaced: no tokenizer takes them."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def cut_characters(text: str, tokens: int) -> str:
    """A beginning long enough for that many tokens of ordinary text, so that megabytes are not read to keep 512."""
    return without_surrogates(text[: tokens * _CHARACTERS_A_TOKEN])
