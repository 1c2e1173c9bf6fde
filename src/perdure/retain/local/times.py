"""Times of a fact: relative dates made absolute, and when it happened."""

from __future__ import annotations

from datetime import datetime

from perdure.domain.time import Window


def with_absolute_dates(text: str, said_at: datetime | None) -> str:
    """The text with "yesterday" as a date; as it is when nobody knows when it was said."""
    return text


def when(text: str, said_at: datetime | None) -> Window | None:
    """When the things a text tells happened; None when it does not say."""
    return None
