"""A bank in which people say things on days that the test chooses, and which forms opinions of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from perdure import AsOf, Fact, Opinion, Perdure
from perdure.domain.fact import BELIEF
from perdure.domain.opinion import EvidenceLabel
from tests.support.memory_store import MemoryStore

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
BANK = "b"


def day(number: int) -> datetime:
    """That many days after the start."""
    return START + timedelta(days=number)


_TASTE = re.compile(r"\b(?P<like>prefers?|loves?|likes?|enjoys?|adores?)|(?P<dislike>hates?|dislikes?)\b")


class TasteJudge:
    """Judges statements of taste: the same last word is the same matter."""

    def beliefs(self, facts: Sequence[Fact]) -> list[float]:
        """Return nothing: the facts are flagged already."""
        return [0.0] * len(facts)

    def labels(self, pairs: Sequence[tuple[str, Fact]]) -> list[EvidenceLabel | None]:
        """Return whether each fact likes or dislikes what the belief does."""
        return [self._label(belief, fact.text) for belief, fact in pairs]

    def _label(self, belief: str, text: str) -> EvidenceLabel | None:
        own, other = _TASTE.search(belief), _TASTE.search(text)
        if own is None or other is None or _last_word(belief) != _last_word(text):
            return None
        if "sometimes" in text:
            return EvidenceLabel.WEAK
        same = bool(own["like"]) is bool(other["like"])
        return EvidenceLabel.SUPPORTING if same else EvidenceLabel.CONTRADICTING


class SureTasteJudge(TasteJudge):
    """Takes every statement that likes something for a belief."""

    def beliefs(self, facts: Sequence[Fact]) -> list[float]:
        """Return .9 for a taste, 0 for other statements."""
        return [0.9 if _TASTE.search(fact.text) else 0.0 for fact in facts]


def _last_word(text: str) -> str:
    return re.findall(r"\w+", text.lower())[-1]


def mark_beliefs(engine: Perdure, bank: str, fact_ids: Sequence[str]) -> None:
    """Flag the facts that state a taste, as a model does that reads what is meant."""
    with engine._store.transaction(bank) as tx:
        stated = [fact for fact in tx.facts(fact_ids) if _TASTE.search(fact.text)]
        tx.update_facts(
            [
                replace(fact, flags=(*fact.flags, BELIEF), confidence=0.85 if "prefer" in fact.text else 0.65)
                for fact in stated
                if "sometimes" not in fact.text
            ]
        )


def judge_tastes(engine: Perdure, judge: TasteJudge | None = None) -> None:
    """Let the opinions of a memory be judged by tastes."""
    opinions = engine.opinions
    opinions._components = replace(opinions._components, evidence_judge=judge or TasteJudge())


class Thinking:
    """A memory on the in-memory store with local extraction and without models."""

    def __init__(self, **components: Any) -> None:
        self.now = START
        chosen = {"embedder": "none", "reranker": "none", "tagger": "rules", **components}
        self.engine = Perdure.open(store=MemoryStore(lambda: self.now), clock=lambda: self.now, **chosen)
        judge_tastes(self.engine)

    def say(self, on: int, text: str, speaker: str = "Ann", **fields: Any) -> tuple[str, ...]:
        """Retain what somebody says on a day, and form opinions; returns the ids of the facts."""
        self.now = day(on)
        role = "assistant" if speaker == "assistant" else "user"
        message = {"role": role, "speaker": speaker, "content": text}
        ids = self.engine.retain(BANK, [message], timestamp=self.now, **fields).fact_ids
        mark_beliefs(self.engine, BANK, ids)
        self.engine.opinions.form(BANK)
        return ids

    def opinions(self, as_of: AsOf | datetime | None = None) -> list[str]:
        """What the bank believes, as printed, surest first."""
        return list(map(str, self.engine.opinions.list(BANK, as_of=as_of)))

    def only(self) -> Opinion:
        """The one opinion that there is."""
        (opinion,) = self.engine.opinions.list(BANK)
        return opinion
