"""Reads date expressions, the events that bound time, and writes dates out in full."""

from __future__ import annotations

from datetime import datetime

from perdure.domain.time import Window, aware
from perdure.errors import InvalidInput
from perdure.text.dates.anchors import read_anchors
from perdure.text.dates.detect import known_languages
from perdure.text.dates.model import Anchor, DateOptions, DateSpan, DateValue, Prefer
from perdure.text.dates.reader import read_text
from perdure.text.dates.render import describe_window
from perdure.text.dates.rewrite import make_absolute, occurred_window

__all__ = [
    "Anchor",
    "DateOptions",
    "DateSpan",
    "DateValue",
    "Window",
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
        raise InvalidInput("language", f"one of {', '.join(sorted(known_languages()))}", language)
    return read_text(text, aware(reference), prefer, options, language)
