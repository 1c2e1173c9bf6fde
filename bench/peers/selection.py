"""Which banks and questions of a data file are used, and the text that every memory gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from perdure.evaluation.data import LabelledBank, LabelledItem, LabelledQuery

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A part of a data file."""

    name: str
    banks: Sequence[LabelledBank]

    @property
    def texts(self) -> int:
        """How many texts are retained."""
        return sum(len(bank.items) for bank in self.banks)

    @property
    def queries(self) -> int:
        """How many questions are asked."""
        return sum(len(bank.queries) for bank in self.banks)

    def as_job(self) -> list[dict[str, Any]]:
        """What the drivers get; the labels stay here."""
        return [
            {
                "id": bank.id,
                "items": [_item(item) for item in bank.items],
                "queries": [{"id": q.id, "text": q.text, "date": q.date} for q in bank.queries],
            }
            for bank in self.banks
        ]


def select(
    name: str, banks: Sequence[LabelledBank], most_banks: int | None, most_queries: int | None
) -> Selection:
    """The first banks whole, and so many of their labelled questions, evenly spread over all of them."""
    chosen = list(banks[:most_banks])
    places = [(at, query) for at, bank in enumerate(chosen) for query in bank.queries if query.evidence]
    kept: list[list[LabelledQuery]] = [[] for _ in chosen]
    for at, query in evenly(places, most_queries):
        kept[at].append(query)
    return Selection(
        name=name, banks=[replace(bank, queries=asked) for bank, asked in zip(chosen, kept, strict=True)]
    )


def evenly(things: Sequence[T], count: int | None) -> list[T]:
    """`count` of the things in their order, at equal distances."""
    if count is None or count >= len(things):
        return list(things)
    return [things[place * len(things) // count] for place in range(count)]


def plain_text(item: LabelledItem) -> str:
    """The item as a user would paste it: `[8 May 2023] Caroline: ...`, or `Title: ...` for a passage."""
    who = item.speaker or item.title
    text = f"{who}: {item.text}" if who else item.text
    if item.date is None:
        return text
    day = datetime.fromisoformat(item.date)
    return f"[{day.day} {day:%B %Y}] {text}"


def _item(item: LabelledItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "plain": plain_text(item),
        "text": item.text,
        "speaker": item.speaker,
        "title": item.title,
        "session": item.session,
        "date": item.date,
    }
