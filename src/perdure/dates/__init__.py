"""Reads date expressions, finds the events that bound time, and writes dates out in full."""

from __future__ import annotations

from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from perdure.dates.calendar import aware
from perdure.dates.lexicon import known_languages
from perdure.dates.model import Anchor, DateOptions, DateSpan, DateValue, DateWindow, Prefer
from perdure.dates.reader import read_text

if TYPE_CHECKING:
    from perdure.dates.anchors import read_anchors
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

_HOMES = {
    "describe_window": "perdure.dates.writing",
    "make_absolute": "perdure.dates.writing",
    "occurred_window": "perdure.dates.writing",
    "read_anchors": "perdure.dates.anchors",
}


def __getattr__(name: str) -> Any:
    """Loads the writing side and the anchors when first used."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
        raise ValueError(
            f"language: expected one of {', '.join(sorted(known_languages()))}, got {language!r}"
        )
    return read_text(text, aware(reference), prefer, options, language)
