"""The texts under which a fact is found: itself, and what was said around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact
from perdure.domain.statement import spell_dates
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
    rest: str = ""
    """Indexed as fully: what else its turn says."""
    context: str = ""
    """Indexed with less weight: the turns around it."""
    turn: str = ""
    """The turn after the turn before it, verbatim: what the reranker reads beside the fact."""


def index_text(
    fact: Fact, *, title: str = "", rest: str = "", context: str = "", turn: str = ""
) -> IndexText:
    """Return what to index of a fact that stands in this context."""
    return IndexText(
        own=_headed(_dated(_told(fact), fact), title),
        title=title,
        rest=rest,
        context=context,
        turn=_headed(_dated(turn, fact), title) if turn else "",
    )


def index_text_in_turns(
    fact: Fact, turns: Sequence[Turn], index: int, source: tuple[int, int], title: str
) -> IndexText:
    """Return what to index of a fact that was drawn from the characters `source` of turn `index`."""
    return index_text(
        fact,
        title=title,
        rest=rest_of_turn(turns[index], fact.source_text),
        context=neighbouring_text(turns, index),
        turn=turn_in_place(turns, index, *source),
    )


def _told(fact: Fact) -> str:
    """Return the fact after who said it to whom, by name (docs/decisions/who-to-whom.md), its dates spelled out."""
    speaker, listener, text = name_of(fact.speaker), name_of(fact.listener), spell_dates(fact)
    text = f"{fact.asked} {text}" if fact.asked else text
    if not speaker:
        return text
    return f"{speaker} to {listener}: {text}" if listener else f"{speaker}: {text}"


def _headed(text: str, title: str) -> str:
    return text if not title or title.casefold() in text.casefold() else f"{title}. {text}"


def _dated(text: str, fact: Fact) -> str:
    said = fact.mentioned_at
    return text if said is None else f"{text} ({said.day} {said:%B %Y})"


def rest_of_turn(turn: Turn, own: str) -> str:
    """Return what a turn says beside a fact's own words, cut to a bearable length; "" when there is nothing else."""
    rest = turn.text.replace(own, " ", 1).strip() if own else ""
    return "" if rest == turn.text else rest[:NEIGHBOUR_CHARACTERS]


def neighbouring_text(turns: Sequence[Turn], index: int) -> str:
    """Return the two turns on either side of a fact's, each cut to a bearable length."""
    low, high = max(index - NEIGHBOURS, 0), min(index + NEIGHBOURS + 1, len(turns))
    return "\n".join(
        _line(turns[i], turns[i].text[:NEIGHBOUR_CHARACTERS]) for i in range(low, high) if i != index
    )


def turn_in_place(turns: Sequence[Turn], index: int, start: int, end: int) -> str:
    """Return the fact's turn, verbatim, after the turn before it; of a long turn the part around the fact."""
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


def _line(turn: Turn, text: str) -> str:
    return f"{turn.speaker}: {text}" if turn.speaker else text
