"""Where output goes: a console for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from perdure.surfaces.plain import plain

if TYPE_CHECKING:
    from rich.console import Console

NARROW, USUAL, WIDE = 60, 100, 120
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def harmless(text: str) -> str:
    """The text without control characters: an escape sequence in a memory would steer the terminal."""
    return text.translate(_CONTROLS)


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, at most 120 columns; 100 where there is no terminal."""
    from perdure.surfaces.cli.draw.console import HarmlessConsole

    made = HarmlessConsole(stderr=stderr, highlight=False, soft_wrap=False)
    made.width = max(min(made.width, WIDE), NARROW) if made.is_terminal else USUAL
    return made


def emit(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False) + "\n")
