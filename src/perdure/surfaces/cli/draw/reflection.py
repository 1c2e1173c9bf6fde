"""An answer with the facts it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from perdure.surfaces.cli.draw.words import EVIDENCE_STYLE, provenance

if TYPE_CHECKING:
    from perdure.reflect.pipeline import Reflection


def draw_reflection(console: Console, answer: Reflection) -> None:
    """The answer, how well it is supported, and each source."""
    console.print(Text(answer.text))
    console.print(Text(f"evidence {answer.evidence.value}", style=EVIDENCE_STYLE[answer.evidence]))
    for cited, recollection in enumerate(answer.based_on, start=1):
        line = Text(f"[{cited}] ", style="dim") + provenance(recollection.fact)
        console.print(Padding(line, (0, 0, 0, 2)))
    for part in answer.recalled.degraded:
        console.print(Text(f"without {part.part}: {part.reason}", style="yellow"))
