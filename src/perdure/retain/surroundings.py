"""Surroundings: the text around a fact, which helps to find and to understand it."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.ports.extractor import Turn

NEIGHBOURS = 2
NEIGHBOUR_CHARACTERS = 300


def neighbouring_text(turns: Sequence[Turn], index: int, own: str) -> str:
    """The rest of the fact's turn and the two turns on either side, each cut to a bearable length."""
    low, high = max(index - NEIGHBOURS, 0), min(index + NEIGHBOURS + 1, len(turns))
    lines = [_line(turns[i], turns[i].text) for i in range(low, high) if i != index]
    rest = turns[index].text.replace(own, " ", 1).strip() if own else ""
    if rest and rest != turns[index].text:
        lines.append(rest[:NEIGHBOUR_CHARACTERS])
    return "\n".join(lines)


def preceding_text(turns: Sequence[Turn], index: int, start: int) -> str:
    """What was said just before: the turn's own beginning, else the end of the turn before it."""
    before = turns[index].text[:start].strip()
    if before:
        return _line(turns[index], before[-NEIGHBOUR_CHARACTERS:])
    if index == 0:
        return ""
    return _line(turns[index - 1], turns[index - 1].text[-NEIGHBOUR_CHARACTERS:])


def _line(turn: Turn, text: str) -> str:
    shown = text[:NEIGHBOUR_CHARACTERS]
    return f"{turn.speaker}: {shown}" if turn.speaker else shown
