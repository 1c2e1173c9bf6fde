"""Reads date expressions, finds the events that bound time, tells when what a text tells was or will be, and writes dates out.

The package needs the standard library only and imports nothing else of perdure. `reader` tells which reader is tried at
which word, `scan` how readers call each other; a language other than English is one file in `languages`.
"""

from __future__ import annotations

from datetime import datetime

from perdure.dates.anchors import read_anchors
from perdure.dates.calendar import aware
from perdure.dates.lexicon import known_languages
from perdure.dates.model import Anchor, DateOptions, DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.reader import read_text
from perdure.dates.statement import StatedTime, stated_time, stated_times
from perdure.dates.writing import annotate, describe_window

__all__ = [
    "Anchor",
    "DateOptions",
    "DateSpan",
    "DateValue",
    "DateWindow",
    "StatedTime",
    "annotate",
    "describe_window",
    "read_anchors",
    "read_dates",
    "stated_time",
    "stated_times",
]


def read_dates(
    text: str,
    reference: datetime,
    *,
    prefer: Prefer = "past",
    options: DateOptions = DateOptions(),
    language: str | None = None,
) -> list[DateSpan]:
    """The date expressions of a text in order, resolved against the time it was said; naive means UTC.

    Of several readings `prefer` takes the last or the next one, or with "sentence" the one its clause looks to:
    "When do I fly on Friday?" asks for the next Friday.
    """
    if language is not None and language not in known_languages():
        expected = ", ".join(sorted(known_languages()))
        raise ValueError(f"language: expected one of {expected}, got {language!r}")
    return read_text(text, aware(reference), prefer, options, language)
