"""What goes into a recall and what comes out: query, hit, candidate, recollection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from perdure.domain.fact import Chunk, Entity, Fact
from perdure.domain.ranking import RankingFields, sigmoid
from perdure.domain.rendering import cited_line, fenced, iso_day, one_line, unfenced
from perdure.domain.time import Window


class Budget(StrEnum):
    """How deep to search."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


class Evidence(StrEnum):
    """How strongly memory supports an answer."""

    STRONG = "strong"
    WEAK = "weak"
    NONE = "none"


class Stance(StrEnum):
    """Whether a question asks for what is so or was so."""

    NOW = "now"
    """What is so; what is over is no answer."""
    PAST = "past"
    """What was so."""
    ANY = "any"
    """What is so or was ("ever", "when did", a plain past tense)."""


class Hit(NamedTuple):
    """A fact that a channel found, with the channel's own score; the order of hits is their rank."""

    fact_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question as the channels see it."""

    text: str
    content: str
    """The text without the words that only ask, in the third person; what is searched for."""
    asked_at: datetime
    judged: str = ""
    """What rerankers read: the content, without words of time where the question asks for one value among several of the past."""
    asker: str | None = None
    """Whom the question means by "I" and "my", None when it does not speak of who asks."""
    terms: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    entities: Mapping[str, float] = field(default_factory=dict)
    """Entity id -> weight of the entities that the question names."""
    entity_names: tuple[str, ...] = ()
    window: Window | None = None
    anchors: tuple[str, ...] = ()
    """Events that bound the window, as worded."""
    stance: Stance = Stance.NOW
    before: str = ""
    """The value after the one that is asked for, as worded ("before Lisbon")."""
    earliest: bool = False
    """Whether the first value of all is asked for ("originally")."""
    slot: tuple[str, str] | None = None
    """(subject, relation) whose value is asked for, where the words say so."""


_UNREAD = RankingFields()


class ChannelRank(NamedTuple):
    """Where one channel placed a candidate (1 is best) and its raw score."""

    channel: str
    rank: int
    score: float


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate:
    """A fused fact on its way to the answer: a working object of one recall, into which each stage writes its figures."""

    fact_id: str
    ranks: tuple[ChannelRank, ...] = ()
    fused: float = 0.0
    fields: RankingFields = _UNREAD
    fact: Fact | None = None
    """Read when a stage needs it."""
    late: float | None = None
    title: float | None = None
    """How surely the question names what the fact's document is about."""
    by_named: bool = False
    """Whether somebody said it whom the question names."""
    by_role: bool = False
    """Whether it is the user's in a question about "my", the agent's in one about what "you said"."""
    states_slot: bool = False
    """Whether it states the slot that the question asks for, of its subject."""
    answers: bool = False
    """Whether it tells, as a statement, what the question asks for."""
    logits: tuple[float, ...] = ()
    """The cross-encoder's raw scores, one per view of the passage; empty when it did not read it."""
    rerank: float | None = None
    """The best of the logits, through the sigmoid."""
    strength: float | None = None
    """Logit blended with the other signals, and with what linked candidates add; unbounded."""
    relevance: float = 0.0
    """0..1: the sigmoid of the strength, or a score made from the rank."""
    boosts: dict[str, float] = field(default_factory=dict)
    score: float = 0.0
    cut: str | None = None
    """Why it was left out, None when it was returned."""

    def set_strength(self, strength: float) -> None:
        """Set the strength and the relevance that follows from it."""
        self.strength, self.relevance = strength, sigmoid(strength)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """One recalled fact with how it was ranked."""

    fact: Fact
    score: float
    citation: int
    tokens: int = 0
    evidence: Evidence = Evidence.WEAK
    candidate: Candidate | None = None
    replaced_by: Fact | None = None
    """What ended the fact, when it is over."""
    notes: tuple[str, ...] = ()
    """Until when it held and what came then; conflicts with other results."""

    @property
    def text(self) -> str:
        """The fact's text."""
        return self.fact.text

    def __str__(self) -> str:
        planned = "planned" if self.fact.is_planned else ""
        marks = ", ".join(filter(None, (iso_day(self.fact.dated), planned, *self.notes)))
        return f"[{self.citation}] {self.score:.2f}  {one_line(self.text)}{f'  ({marks})' if marks else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """A part that could not contribute, and why."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """How long a stage took."""

    stage: str
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """What recall returns: recollections, best first, within the token budget."""

    query: Query
    recipe: str
    recollections: tuple[Recollection, ...] = ()
    observations: tuple[Recollection, ...] = ()
    """Profiles near to the question, beside the facts and in none's place; empty where the caller named the types."""
    chunks: tuple[Chunk, ...] = ()
    entities: tuple[Entity, ...] = ()
    evidence: Evidence = Evidence.NONE
    tokens: int = 0
    notes: tuple[str, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    timings: tuple[StageTime, ...] = ()
    cut: tuple[Candidate, ...] = ()
    """With `explain`: the candidates that were considered and left out."""

    def __iter__(self) -> Iterator[Recollection]:
        return iter(self.recollections)

    def __len__(self) -> int:
        return len(self.recollections)

    def __str__(self) -> str:
        count = len(self.recollections)
        total = next((time.milliseconds for time in self.timings if time.stage == "total"), 0.0)
        head = (
            f"{count} recollection{'' if count == 1 else 's'} for {self.query.text!r}: "
            f"evidence {self.evidence.value}, {self.tokens} tokens, {total:.0f} ms"
        )
        lines = [head, *map(str, self.recollections)]
        lines += [f"note: {one_line(note)}" for note in self.notes]
        lines += [f"degraded: {part.part}: {part.reason}" for part in self.degraded]
        return "\n".join(lines)

    def to_prompt(self) -> str:
        """The recollections with citations, fenced off as data, to put into a prompt."""
        lines = [cited_line(one.citation, one.fact, one.notes) for one in self.recollections]
        notes = [f"Note: {unfenced(note)}" for note in self.notes]
        return fenced([*(lines or ["Memory holds nothing on this."]), *notes])

    def to_openai(self, role: str = "system") -> list[dict[str, str]]:
        """The same as messages for OpenAI's API: `messages=[*result.to_openai(), *conversation]`."""
        return [{"role": role, "content": self.to_prompt()}]

    def to_anthropic(self) -> list[dict[str, str]]:
        """The same as content blocks for Anthropic's API: `system=result.to_anthropic()`."""
        return [{"type": "text", "text": self.to_prompt()}]
