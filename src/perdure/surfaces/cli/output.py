"""Where output goes: a console for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from perdure.surfaces.plain import plain

NARROW, USUAL, WIDE = 60, 100, 120
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def harmless(text: str) -> str:
    """Return a text without control characters: an escape sequence in a memory would steer the terminal."""
    return text.translate(_CONTROLS)


class HarmlessConsole(Console):
    """A console that shows what is remembered and never obeys it: it leaves control characters out of all text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; those by which rich itself steers the terminal stay as they are."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(harmless(segment.text), segment.style)


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal, at most 120 columns; of 100 if there is no terminal."""
    shown = HarmlessConsole(stderr=stderr, highlight=False, soft_wrap=False)
    shown.width = max(min(shown.width, WIDE), NARROW) if shown.is_terminal else USUAL
    return shown


def emit(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False) + "\n")


def tell(as_json: bool, value: Any, shown: Callable[[Console], None] | str) -> None:
    """Write a value: as JSON for programs, drawn or as a line for people."""
    if as_json:
        emit(value)
    elif isinstance(shown, str):
        console().print(shown, markup=False)
    else:
        shown(console())
