"""Reads date expressions, finds the events that bound time, and writes dates out in full.

The package needs the standard library only and imports nothing else of perdure. How a reader is found is told in
`reader` and `scan`; a language other than English is one file in `languages`, read by `templates`.
"""

from __future__ import annotations

from datetime import datetime

from perdure.dates.anchors import read_anchors
from perdure.dates.calendar import aware
from perdure.dates.lexicon import known_languages
from perdure.dates.model import Anchor, DateOptions, DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.reader import read_text
from perdure.dates.writing import describe_window, make_absolute, occurred_window

__all__ = [
    "Anchor",
    "DateOptions",
    "DateSpan",
    "DateValue",
    "DateWindow",
    "describe_window",
    "make_absolute",
    "occurred_window",
    "read_anchors",
    "read_dates",
]


def read_dates(
    text: str,
    reference: datetime,
    *,
    prefer: Prefer = "past",
    options: DateOptions = DateOptions(),
    language: str | None = None,
) -> list[DateSpan]:
    """The date expressions of a text in order, resolved against the time it was said; naive means UTC."""
    if language is not None and language not in known_languages():
        expected = ", ".join(sorted(known_languages()))
        raise ValueError(f"language: expected one of {expected}, got {language!r}")
    return read_text(text, aware(reference), prefer, options, language)
