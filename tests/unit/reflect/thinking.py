"""A bank in which people say things on days that the test chooses, and which forms opinions of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from perdure import AsOf, Opinion, Perdure
from tests.support.memory_store import MemoryStore

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
BANK = "b"


def day(number: int) -> datetime:
    """That many days after the start."""
    return START + timedelta(days=number)


class Thinking:
    """A memory on the in-memory store with local extraction and without models."""

    def __init__(self, **components: Any) -> None:
        self.now = START
        chosen = {"embedder": "none", "reranker": "none", "tagger": "rules", **components}
        self.engine = Perdure.open(store=MemoryStore(lambda: self.now), clock=lambda: self.now, **chosen)

    def say(self, on: int, text: str, speaker: str = "Ann", **fields: Any) -> tuple[str, ...]:
        """Retain what somebody says on a day, and form opinions; returns the ids of the facts."""
        self.now = day(on)
        role = "assistant" if speaker == "assistant" else "user"
        message = {"role": role, "speaker": speaker, "content": text}
        ids = self.engine.retain(BANK, [message], timestamp=self.now, **fields).fact_ids
        self.engine.opinions.form(BANK)
        return ids

    def opinions(self, as_of: AsOf | datetime | None = None) -> list[str]:
        """What the bank believes, as printed, surest first."""
        return list(map(str, self.engine.opinions.list(BANK, as_of=as_of)))

    def only(self) -> Opinion:
        """The one opinion that there is."""
        (opinion,) = self.engine.opinions.list(BANK)
        return opinion
