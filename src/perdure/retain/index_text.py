"""The texts under which a fact is found: itself, and what was said around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.ports.extractor import Turn
from perdure.text.voice import name_of

NEIGHBOURS = 2
NEIGHBOUR_CHARACTERS = 300
TURN_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexText:
    """The texts under which a fact can be found."""

    own: str
    """Embedded, and indexed with full weight: who said it to whom, the fact and its date."""
    title: str = ""
    context: str = ""
    """Indexed with less weight: the rest of the turn and the turns around it."""
    turn: str = ""
    """The turn after the turn before it, verbatim: what the reranker reads beside the fact."""


def index_text(
    fact: Fact, *, title: str = "", context: str = "", turn: str = "", said_to: str = ""
) -> IndexText:
    """What to index of a fact that stands in this context."""
    return IndexText(
        own=_headed(_dated(_told(fact, said_to), fact), title),
        title=title,
        context=context,
        turn=_headed(_dated(turn, fact), title) if turn else "",
    )


def index_text_in_turns(
    fact: Fact, turns: Sequence[Turn], index: int, source: tuple[int, int], title: str
) -> IndexText:
    """What to index of a fact that was drawn from the characters `source` of turn `index`."""
    return index_text(
        fact,
        title=title,
        said_to=listener(turns, index),
        context=neighbouring_text(turns, index, fact.source_text),
        turn=turn_in_place(turns, index, *source),
    )


def _told(fact: Fact, said_to: str) -> str:
    """The fact after who said it to whom, by name (docs/decisions/who-to-whom.md)."""
    speaker = name_of(fact.speaker)
    if not speaker:
        return fact.text
    voices = f"{speaker} to {said_to}" if said_to else speaker
    return f"{voices}: {fact.text.removeprefix(f'{speaker}: ')}"


def _headed(text: str, title: str) -> str:
    return text if not title or title.casefold() in text.casefold() else f"{title}. {text}"


def _dated(text: str, fact: Fact) -> str:
    said = fact.mentioned_at
    return text if said is None else f"{text} ({said.day} {said:%B %Y})"


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
    near = range(max(index - NEIGHBOURS, 0), min(index + NEIGHBOURS + 1, len(turns)))
    by_distance = sorted(near, key=lambda other: (abs(other - index), other))
    speakers = (turns[other].speaker for other in by_distance)
    return next((name_of(one) for one in speakers if one and one != turns[index].speaker), "")


def _line(turn: Turn, text: str) -> str:
    return f"{turn.speaker}: {text}" if turn.speaker else text
