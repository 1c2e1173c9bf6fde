"""What goes into a recall and what comes out: query, hit, candidate, recollection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from perdure.domain.fact import Chunk, Entity, Fact
from perdure.domain.orders import INSTRUCTION_ROLES
from perdure.domain.prompt import CountTokens, Prompt, PromptFact, PromptWriter, Timeline, most_tokens
from perdure.domain.ranking import RankingFields, sigmoid
from perdure.domain.rendering import iso_day, one_line
from perdure.domain.signals import QuestionSignals
from perdure.domain.time import Window
from perdure.errors import InvalidInput


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


class Precision(StrEnum):
    """What a recall is for."""

    SEARCH = "search"
    """Everything that may help, best first."""
    INJECT = "inject"
    """Only what probably helps, to be put into a prompt; nothing where nothing does."""


class Hit(NamedTuple):
    """A fact that a channel found, with the channel's own score; the order of hits is their rank."""

    fact_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question as the channels see it."""

    text: str
    content: str
    """The text without the words that only ask; what is searched for and what rerankers read."""
    asked_at: datetime
    asker: str | None = None
    """Whom the question means by "I" and "my", None where it does not say or memory does not know."""
    terms: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    entities: Mapping[str, float] = field(default_factory=dict)
    """Entity id -> weight of the entities that the question names."""
    entity_names: tuple[str, ...] = ()
    window: Window | None = None
    anchors: tuple[str, ...] = ()
    """Events that bound the window, as worded."""
    only_time: bool = False
    """Whether the question names a time and nothing else: the answer is what the window holds."""
    asks_for_told: bool = False
    """Whether such a question asks for what was said then, rather than for what happened."""

    @property
    def is_past(self) -> bool:
        """Whether the question is about a time that is over."""
        return self.window is not None and self.window.end is not None and self.window.end <= self.asked_at


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
    logits: tuple[float, ...] = ()
    """The cross-encoder's raw scores, one per view of the passage; empty when it did not read it."""
    rerank: float | None = None
    """The best of the logits, through the sigmoid."""
    answers: float | None = None
    """The reader's probability that it answers the question; None when it did not read it."""
    span: str = ""
    """The words that would answer."""
    meaning: str = ""
    """How it is meant, as far as the reader was asked."""
    is_earlier: bool = False
    """Whether it answers with what was before: a later statement gives another value."""
    strength: float | None = None
    """Logit blended with the other signals, and with what linked candidates add; unbounded."""
    relevance: float = 0.0
    """0..1: the sigmoid of the strength, or a score made from the rank."""
    boosts: dict[str, float] = field(default_factory=dict)
    score: float = 0.0
    doubt: str | None = None
    """Why it is doubtful, where what it rests on is over or was wrong; "" when it is not, None when nobody looked."""
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
    relevance: float = 0.0
    """Calibrated probability that it helps with the question (docs/evidence.md); of the first one that it answers."""
    evidence: Evidence = Evidence.WEAK
    """The level of the relevance."""
    candidate: Candidate | None = None
    replaced_by: Fact | None = None
    """What ended the fact, when it is over."""
    notes: tuple[str, ...] = ()
    """Until when it held and what came then; doubts; conflicts with other results."""
    doubt: str | None = None
    """Why it is doubtful: what it rests on, and what became of that."""
    answers: float | None = None
    """The reader's probability that it answers the question; None where it did not read it."""
    span: str = ""
    """The words of it that answer, where it probably does."""
    is_earlier: bool = False
    """Whether it tells what was before: a later statement answers with another value."""

    @property
    def text(self) -> str:
        """The fact's text."""
        return self.fact.text

    def __str__(self) -> str:
        planned = "planned" if self.fact.is_planned else ""
        marks = ", ".join(filter(None, (iso_day(self.fact.shown_date), planned, *self.notes)))
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
    """The level of the confidence."""
    confidence: float = 0.0
    """Calibrated probability that the first fact answers the question (docs/evidence.md)."""
    abstained_because: str | None = None
    """Why a recall for injection returns nothing, None where it returns something or was a search."""
    tokens: int = 0
    """Tokens of the facts' texts."""
    notes: tuple[str, ...] = ()
    timelines: tuple[Timeline, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    timings: tuple[StageTime, ...] = ()
    cut: tuple[Candidate, ...] = ()
    """With `explain`: the candidates that were considered and left out."""
    signals: QuestionSignals | None = None
    """With `explain`: by what the evidence was judged."""
    max_tokens: int = 4096
    """What was asked for; a prompt has at most as many, with everything in it."""
    count_tokens: CountTokens = field(default=most_tokens, repr=False, compare=False)

    @property
    def abstained(self) -> bool:
        """Whether a recall for injection returns nothing, since nothing is likely enough to help."""
        return self.abstained_because is not None

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
        lines += [f"abstained: {self.abstained_because}"] if self.abstained_because else []
        lines += [f"note: {one_line(note)}" for note in self.all_notes]
        lines += [f"degraded: {part.part}: {part.reason}" for part in self.degraded]
        return "\n".join(lines)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and the timelines with the citations of their facts."""
        return (*self.notes, *self.timeline_notes)

    @property
    def timeline_notes(self) -> tuple[str, ...]:
        """The timelines, with the citations of their facts."""
        citations = {one.fact.id: one.citation for one in self.recollections}
        return tuple(filter(None, (timeline.told(citations) for timeline in self.timelines)))

    def fit_prompt(self, max_tokens: int | None = None, *, with_ids: bool = False) -> Prompt:
        """The text of `to_prompt`, with its tokens and how many facts it tells; `with_ids` adds the facts' ids."""
        budget = self.max_tokens if max_tokens is None else max_tokens
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
            raise InvalidInput("max_tokens", "an integer of at least 0", budget)
        writer = PromptWriter(
            evidence=self.evidence.value,
            facts=[
                PromptFact(citation=one.citation, fact=one.fact, notes=one.notes, replaced_by=one.replaced_by)
                for one in self.recollections
            ],
            timelines=self.timelines,
            notes=self.notes,
            count_tokens=self.count_tokens,
            with_ids=with_ids,
        )
        return writer.fit(budget)

    def to_prompt(self, max_tokens: int | None = None) -> str:
        """The best recollections with citations and the level of evidence, fenced off as data, to put into a prompt.

        All of it has at most `max_tokens` tokens, those of the recall unless given. Without recollections it is empty.
        """
        return self.fit_prompt(max_tokens).text

    def to_openai(self, role: str = "user", max_tokens: int | None = None) -> list[dict[str, str]]:
        """The same as messages for OpenAI's API: `messages=[*result.to_openai(), *conversation]`; none when it is empty.

        Never in a role whose words a model obeys: what was remembered is data.
        """
        if role.casefold() in INSTRUCTION_ROLES:
            raise InvalidInput("role", "a role that gives no instructions, such as user", role)
        text = self.to_prompt(max_tokens)
        return [{"role": role, "content": text}] if text else []

    def to_anthropic(self, max_tokens: int | None = None) -> list[dict[str, str]]:
        """The same as content blocks of a user's message for Anthropic's API; none when it is empty.

        `messages=[{"role": "user", "content": [*result.to_anthropic(), {"type": "text", "text": said}]}]`
        """
        text = self.to_prompt(max_tokens)
        return [{"type": "text", "text": text}] if text else []
