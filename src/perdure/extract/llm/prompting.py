"""What a language model is shown: turns and current facts, fenced as data, under numbers and labels of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from perdure.llm.prompt import Prompt
from perdure.ports.extractor import BankContext, OfferedFact, Turn
from perdure.ports.llm import ChatMessage

Place = tuple[int, int]
"""Number of a document and index of a turn in it."""
CONTEXT_TURNS = 2
"""Turns before a chunk that are shown with it."""
CONTEXT_CHARACTERS = 300
"""What is shown of each, from its end."""
OFFERED_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChunk:
    """The turns of one call, by their number in the prompt, and what stands beside them."""

    turns: Sequence[tuple[Place, Turn]]
    """The first has number 1."""
    before: Sequence[Turn] = ()
    """Turns that are only context."""
    offered: Sequence[OfferedFact] = ()
    """The first has label F1."""

    def turn_of(self, number: int) -> tuple[Place, Turn] | None:
        """The turn that the prompt shows under a number."""
        return self.turns[number - 1] if 1 <= number <= len(self.turns) else None

    def offered_under(self, label: str) -> OfferedFact | None:
        """The fact that was offered under a label; None for a label that was not."""
        digits = label.strip().removeprefix("F")
        number = int(digits) if digits.isdecimal() and len(digits) < 6 else 0
        return self.offered[number - 1] if 1 <= number <= len(self.offered) else None

    @property
    def said(self) -> str:
        """All words that a fact of these turns may rest on."""
        shown = [*self.before, *(turn for _, turn in self.turns)]
        return "\n".join(f"{turn.speaker} {turn.text} {turn.title}" for turn in shown)


def write_messages(prompt: Prompt, chunk: ShownChunk, context: BankContext) -> list[ChatMessage]:
    """The conversation that asks for the facts of a chunk."""
    guidance = "".join(
        f"{head}: {json.dumps(text, ensure_ascii=False)}\n"
        for head, text in (
            ("What this memory is for", context.mission.strip()),
            ("What its owner asks of the facts", context.instructions.strip()),
        )
        if text
    )
    system = prompt.fill(guidance=guidance)
    return [
        ChatMessage(role="system", text=system),
        ChatMessage(role="user", text="\n".join(_lines(chunk))),
    ]


def _lines(chunk: ShownChunk) -> Iterator[str]:
    yield "TURNS"
    day, title = None, ""
    shown = [("-", turn, turn.text[-CONTEXT_CHARACTERS:]) for turn in chunk.before]
    shown += [(str(number), turn, turn.text) for number, (_, turn) in enumerate(chunk.turns, 1)]
    for mark, turn, text in shown:
        if turn.said_at is not None and turn.said_at.date() != day:
            day = turn.said_at.date()
            yield f"{day:%Y-%m-%d %A}"
        if turn.title != title:
            title = turn.title
            yield f"title {_quoted(title)}"
        yield f"{mark} {_speaker(turn.speaker)}{_quoted(text)}"
    yield "END"
    if chunk.offered:
        yield "MEMORY"
        for number, fact in enumerate(chunk.offered, 1):
            text = fact.text[:OFFERED_CHARACTERS]
            yield f"F{number} {_day(fact.said_at)}{_speaker(fact.speaker)}{_quoted(text)}"
        yield "END"


def _quoted(text: str) -> str:
    """A text as one line of JSON, which nothing in it can leave."""
    return json.dumps(text, ensure_ascii=False)


def _speaker(name: str) -> str:
    """The name before what was said, on the same line; nothing where there is none."""
    plain = " ".join(name.split())
    return f"{plain}: " if plain else ""


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d} " if moment is not None else ""
