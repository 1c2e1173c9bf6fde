"""Reads date expressions, finds the events that bound time, and writes dates out in full."""

from __future__ import annotations

from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from perdure.domain.time import Window, aware
from perdure.errors import InvalidInput
from perdure.text.dates.detect import known_languages
from perdure.text.dates.model import Anchor, DateOptions, DateSpan, DateValue, Prefer
from perdure.text.dates.reader import read_text

if TYPE_CHECKING:
    from perdure.text.dates.anchors import read_anchors
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

_HOMES = {
    "describe_window": "perdure.text.dates.render",
    "make_absolute": "perdure.text.dates.rewrite",
    "occurred_window": "perdure.text.dates.rewrite",
    "read_anchors": "perdure.text.dates.anchors",
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
        raise InvalidInput("language", f"one of {', '.join(sorted(known_languages()))}", language)
    return read_text(text, aware(reference), prefer, options, language)
