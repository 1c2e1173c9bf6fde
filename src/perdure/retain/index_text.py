"""Situation: the text around a fact, which helps to find and to understand it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.domain.fact import Chunk, Fact
from perdure.ports.extractor import Turn
from perdure.text.voice import name_of

NEIGHBOURS = 2
NEIGHBOUR_CHARACTERS = 300
TURN_CHARACTERS = 500


def neighbouring_text(turns: Sequence[Turn], index: int, own: str) -> str:
    """The rest of the fact's turn and the two turns on either side, each cut to a bearable length."""
    low, high = max(index - NEIGHBOURS, 0), min(index + NEIGHBOURS + 1, len(turns))
    lines = [_line(turns[i], turns[i].text[:NEIGHBOUR_CHARACTERS]) for i in range(low, high) if i != index]
    rest = turns[index].text.replace(own, " ", 1).strip() if own else ""
    if rest and rest != turns[index].text:
        lines.append(rest[:NEIGHBOUR_CHARACTERS])
    return "\n".join(lines)


def turn_in_place(turns: Sequence[Turn], index: int, start: int, end: int) -> str:
    """The fact's turn, verbatim, after the turn before it; of a long turn the part around the fact."""
    turn = turns[index]
    spare = max(TURN_CHARACTERS - (end - start), 0) // 2
    low, high = max(start - spare, 0), min(max(end + spare, start + 1), len(turn.text))
    if len(turn.text) <= TURN_CHARACTERS:
        low, high = 0, len(turn.text)
    shown = _line(turn, turn.text[low:high].strip())
    before = turns[index - 1] if index > 0 and low == 0 else None
    if before is None or not before.text.strip():
        return shown
    return f"{_line(before, before.text[-NEIGHBOUR_CHARACTERS:].strip())}\n{shown}"


def listener(turns: Sequence[Turn], index: int) -> str:
    """To whom a turn is said: the name of the nearest other speaker, before it rather than after; "" if none is known."""
    around = sorted(range(len(turns)), key=lambda place: (abs(place - index), place))
    others = (turns[place].speaker for place in around if abs(place - index) <= NEIGHBOURS)
    return next((name_of(other) for other in others if other and other != turns[index].speaker), "")


def turn_length(fact: Fact, chunks: Mapping[str, Chunk]) -> int:
    """Characters of the turn that a stored fact comes from."""
    chunk = chunks.get(fact.chunk_id or "")
    for span in chunk.spans if chunk is not None else ():
        if chunk is not None and fact.source_text in chunk.text[span.start : span.end]:
            return span.end - span.start
    return len(fact.source_text or fact.text)


def _line(turn: Turn, text: str) -> str:
    return f"{turn.speaker}: {text}" if turn.speaker else text
