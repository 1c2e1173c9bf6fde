"""Where output goes: a console for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment

from perdure.domain.plain import to_plain

NARROW, USUAL, WIDE = 60, 100, 120
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Marks that turn the direction of writing, so that a text reads as another one."""
_CONTROLS = {
    code: None for code in (*range(0x20), *range(0x7F, 0xA0), *_DIRECTIONS) if chr(code) not in "\n\t"
}
_ESCAPES = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_DIRECTIONS)}
"""What a terminal would obey in JSON, which has an equivalent spelling for it."""


def harmless(text: str) -> str:
    """Return a text without control characters and marks of direction: a memory must not steer the terminal."""
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
    sys.stdout.write(json_line(to_plain(value)) + "\n")


def json_line(value: Any) -> str:
    """Return a value as JSON on one line, with what steers a terminal escaped."""
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


def tell(as_json: bool, value: Any, shown: Callable[[Console], None] | str) -> None:
    """Write a value: as JSON for programs, drawn or as a line for people."""
    if as_json:
        emit(value)
    elif isinstance(shown, str):
        console().print(shown, markup=False)
    else:
        shown(console())


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str, int, int | None, str], None]]:
    """Yield a function that shows a person how far work is: its stage, how much of what total is done, and the part at hand."""
    with bars(quiet=quiet) as bar:
        task = bar.add_task("", total=None, at="")
        yield lambda stage, done, total, at: bar.update(
            task, description=stage, completed=done, total=total, at=at[-40:]
        )


def bars(*, quiet: bool = False) -> Progress:
    """Return bars of progress on standard error, for a person at a terminal; the field `at` is what is worked on."""
    shown = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[at]}"),
    )
    return Progress(*columns, console=shown, transient=True, disable=quiet or not shown.is_terminal)
