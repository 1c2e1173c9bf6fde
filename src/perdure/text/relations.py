"""Relations that callers and language models state: which have one object at a time, and when two objects are the same."""

from __future__ import annotations

import re

from rapidfuzz.fuzz import ratio

from perdure.text.names import name_tokens, normal_name
from perdure.text.wordlist import word_set

SINGLE_VALUED = word_set(
    "address age banks_with birthday children_count date dating diet email employer engaged_to height home_town job_title "
    "lives_in lives_with location marital_status married_to name nickname owner partner phone phone_model religion rent "
    "reports_to salary status studies_at time time_zone value weight works_as works_at works_hours"
)
"""Relations with one object at a time per subject; of others, several objects hold at once."""
_PHONE_DIGITS = 7
_ALIKE = 92.0


def is_single_valued(relation: str) -> bool:
    """Return whether a relation has one current object per subject."""
    return relation in SINGLE_VALUED


def same_value(first: str, second: str) -> bool:
    """Return whether two objects are the same, or one says the other more exactly ("Lisbon, Portugal")."""
    left, right = normal_name(first), normal_name(second)
    if left == right:
        return True
    if "@" in first or "@" in second:
        return False
    left_digits, right_digits = (re.sub(r"\D", "", text) for text in (first, second))
    if min(len(left_digits), len(right_digits)) >= _PHONE_DIGITS:
        return left_digits[-_PHONE_DIGITS:] == right_digits[-_PHONE_DIGITS:]
    left_words, right_words = set(name_tokens(first)), set(name_tokens(second))
    if left_words and right_words and (left_words <= right_words or right_words <= left_words):
        return True
    digits = any(char.isdigit() for char in left + right)
    return not digits and ratio(left, right) >= _ALIKE
