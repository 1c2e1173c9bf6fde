"""The bound on what the rules of language read: sentences as people write them."""

from __future__ import annotations

LONGEST_SENTENCE = 600
"""Characters; the longest of a thousand labelled sentences has 124. What is longer is a paste, a list or noise.

Rules are many and some look ahead from every word: unbounded, one text could keep them busy for hours.
"""


def is_readable(text: str) -> bool:
    """Whether rules read the sentence; a longer one is kept as it is, and nothing is concluded from it."""
    return len(text) <= LONGEST_SENTENCE


def folded(text: str) -> str:
    """The sentence with every run of whitespace as one space; empty when it is too long to be read."""
    return " ".join(text.split()) if is_readable(text) else ""
