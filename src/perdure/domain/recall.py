"""The input and output of a recall: query, hit, candidate, recollection."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import exp
from typing import NamedTuple

from perdure.domain.fact import Chunk, Entity, Fact, RankingFields
from perdure.domain.orders import INSTRUCTION_ROLES
from perdure.domain.prompt import CountTokens, Prompt, PromptFact, PromptWriter, Timeline, most_tokens
from perdure.domain.statement import one_line, render_statement
from perdure.domain.time import Window
from perdure.domain.work import check_work
from perdure.errors import InvalidInput


class Budget(StrEnum):
    """Search depth."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


class Evidence(StrEnum):
    """How strongly memory supports an answer."""

    STRONG = "strong"
    WEAK = "weak"
    NONE = "none"


class Precision(StrEnum):
    """The use of a recall."""

    SEARCH = "search"
    """Everything that may help, best first."""
    INJECT = "inject"
    """Only what probably helps, to put into a prompt; possibly nothing."""


class Hit(NamedTuple):
    """A fact that a channel returned, with the channel's own score; the order of hits is their rank."""

    fact_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question as the channels see it."""

    text: str
    content: str
    """The text without question words: what is searched for."""
    asked_at: datetime
    asker: str | None = None
    """Whom "I" and "my" in the question mean; None if not known."""
    terms: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    entities: Mapping[str, float] = field(default_factory=dict)
    """Entity id -> weight of the entities named in the question."""
    entity_names: tuple[str, ...] = ()
    window: Window | None = None
    anchors: tuple[str, ...] = ()
    """Events that bound the window, as worded."""
    only_time: bool = False
    """Whether the question names a time and nothing else: the answer is what the window contains."""
    about_user: bool = False
    """Whether the question is about the user, on whom tools and web pages are no evidence."""
    asks_for_told: bool = False
    """Whether such a question asks for what was said then, not for what happened."""

    @property
    def is_past(self) -> bool:
        """Return whether the question is about a time that is over."""
        return self.window is not None and self.window.end is not None and self.window.end <= self.asked_at


_UNREAD = RankingFields()


class ChannelRank(NamedTuple):
    """The rank that a channel gave a candidate (1 is best) and its raw score."""

    channel: str
    rank: int
    score: float


@dataclass(slots=True, kw_only=True, eq=False)
class Candidate:
    """A fused fact during one recall; each stage writes its figures into it."""

    fact_id: str
    ranks: tuple[ChannelRank, ...] = ()
    fused: float = 0.0
    fields: RankingFields = _UNREAD
    fact: Fact | None = None
    """Loaded when a stage needs it."""
    title: float | None = None
    """How certainly the question names the subject of the fact's document."""
    by_named: bool = False
    """Whether its speaker is named in the question."""
    by_role: bool = False
    """Whether the user said it, in a question about "my", or the agent, in one about what "you said"."""
    logit: float | None = None
    """The reranker's raw score; None when it did not read it."""
    rerank: float | None = None
    """The logit, or the reader's relevance, through the sigmoid."""
    answers: float | None = None
    """The reader's probability that it answers the question; None when it did not read it."""
    span: str = ""
    """The words that would answer."""
    before: str = ""
    """The turn before it, as the reader reads it."""
    is_earlier: bool = False
    """Whether it answers with an earlier value: a later statement gives another one."""
    strength: float | None = None
    """Logit blended with the other signals and with the support of linked candidates; unbounded."""
    relevance: float = 0.0
    """0..1: the sigmoid of the strength, or a score derived from the rank."""
    boosts: dict[str, float] = field(default_factory=dict)
    score: float = 0.0
    doubt: str | None = None
    """Why it is doubtful: what it rests on ended or was wrong. "" if it is not, None if not checked."""
    cut: str | None = None
    """Why it was left out; None if it was returned."""

    def set_strength(self, strength: float) -> None:
        """Set the strength and the relevance that follows from it."""
        self.strength, self.relevance = strength, sigmoid(strength)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSignals:
    """Signals of one candidate. None: that model or channel did not score it."""

    answers: float | None = None
    """The reader's log-odds that it answers."""
    cosine: float = 0.0
    bm25: float = 0.0
    covered: float = 0.0
    """Share of the question's terms in the fact or its turn."""
    score: float = 0.0
    """Relevance with boosts, which orders the candidates."""
    names: float = 0.0
    """Share of the entities named in the question that the fact mentions."""
    speaker: bool = False
    """Whether the question names, or is about, its speaker."""
    window: float | None = None
    """Factor for the nearness to the question's time; None if it has none."""
    stale: bool = False
    """Whether it is over, and the question is not about the past."""
    unsure: bool = False
    """Whether its source is little trusted, or it reads like an instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSignals:
    """Signals of the question itself, and its candidates in the order of the answer."""

    facts: tuple[FactSignals, ...]
    terms: int = 0
    entities: int = 0
    window: bool = False
    own: bool = False
    """Whether it is about the asker."""
    latin: float = 1.0
    """Share of its letters in the Latin script."""
    uncovered: float = 0.0
    """Share of its terms that none of the first candidates has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """One recalled fact with its ranking."""

    fact: Fact
    score: float
    citation: int
    tokens: int = 0
    relevance: float = 0.0
    """Calibrated probability that it helps (docs/evidence.md); of the first one, that it answers."""
    evidence: Evidence = Evidence.WEAK
    """The level of the relevance."""
    candidate: Candidate | None = None
    replaced_by: Fact | None = None
    """The fact that ended it, if it is over."""
    notes: tuple[str, ...] = ()
    """Until when it held and what came then; doubts; conflicts with other results; when it was last mentioned."""
    edge: str = ""
    """How it joins two entities, in recipes that tell it: `Ann -[works_at]-› Lumen`, or `Ann -[mentioned with]-› Bob`
    where a statement names both without a stated relation."""
    doubt: str | None = None
    """Why it is doubtful: what it rests on, and what became of that."""
    stale_months: int | None = None
    """Months since it was last mentioned, if it says how things are and these are too many; else None."""
    answers: float | None = None
    """The reader's probability that it answers the question; None if it was not read."""
    span: str = ""
    """The words of it that answer, if it probably does."""
    is_earlier: bool = False
    """Whether it gives an earlier value: a later statement answers with another one."""

    @property
    def text(self) -> str:
        return self.fact.text

    def __str__(self) -> str:
        notes = f"  ({', '.join(self.notes)})" if self.notes else ""
        return f"[{self.citation}] {self.score:.2f}  {render_statement(self.fact)}{notes}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """A part that could not contribute, and why."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """Duration of a stage."""

    stage: str
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The result of recall: recollections, best first, within the token budget."""

    query: Query
    recipe: str
    recollections: tuple[Recollection, ...] = ()
    observations: tuple[Recollection, ...] = ()
    """Profiles near the question, in addition to the facts; empty if the caller chose the types."""
    chunks: tuple[Chunk, ...] = ()
    entities: tuple[Entity, ...] = ()
    evidence: Evidence = Evidence.NONE
    """The level of the confidence."""
    confidence: float = 0.0
    """Calibrated probability that the first fact answers the question (docs/evidence.md)."""
    abstained_because: str | None = None
    """Why a recall for injection returns nothing; None if it returns something or was a search."""
    tokens: int = 0
    """Tokens of the facts' texts."""
    notes: tuple[str, ...] = ()
    timelines: tuple[Timeline, ...] = ()
    degraded: tuple[Degraded, ...] = ()
    timings: tuple[StageTime, ...] = ()
    cut: tuple[Candidate, ...] = ()
    """With `explain`: the candidates that were left out."""
    signals: QuestionSignals | None = None
    """With `explain`: the signals from which the evidence was judged."""
    max_tokens: int = 4096
    """The requested budget, which a prompt never exceeds."""
    count_tokens: CountTokens = field(default=most_tokens, repr=False, compare=False)

    def without_hearsay(self) -> RecallResult:
        """Return the result without what tools and web pages say about the user, where the question is about the user."""
        own = tuple(one for one in self.recollections if not one.fact.is_foreign)
        if not self.query.about_user or len(own) == len(self.recollections):
            return self
        return replace(self, recollections=own, evidence=self.evidence if own else Evidence.NONE)

    @property
    def abstained(self) -> bool:
        """Return whether a recall for injection returns nothing, since nothing is likely enough to help."""
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
        """Return the notes, and the timelines with citations."""
        return (*self.notes, *self.timeline_notes)

    @property
    def timeline_notes(self) -> tuple[str, ...]:
        """Return the timelines with citations."""
        citations = {one.fact.id: one.citation for one in self.recollections}
        return tuple(filter(None, (timeline.told(citations) for timeline in self.timelines)))

    def fit_prompt(self, max_tokens: int | None = None, *, with_ids: bool = False) -> Prompt:
        """Return the text of `to_prompt` with its size; `with_ids` adds the facts' ids."""
        budget = self.max_tokens if max_tokens is None else max_tokens
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
            raise InvalidInput("max_tokens", "an integer of at least 0", budget)
        writer = PromptWriter(
            evidence=self.evidence.value,
            facts=[
                PromptFact(
                    citation=one.citation,
                    fact=one.fact,
                    notes=one.notes,
                    replaced_by=one.replaced_by,
                    edge=one.edge,
                )
                for one in self.recollections
            ],
            timelines=self.timelines,
            notes=self.notes,
            count_tokens=self.count_tokens,
            with_ids=with_ids,
        )
        return writer.fit(budget)

    def to_prompt(self, max_tokens: int | None = None) -> str:
        """Return the best recollections, cited and fenced off as data, to put into a prompt.

        It has at most `max_tokens` tokens, the budget of the recall by default. Without recollections it is empty.
        """
        return self.fit_prompt(max_tokens).text

    def to_openai(self, role: str = "user", max_tokens: int | None = None) -> list[dict[str, str]]:
        """Return the prompt as messages for OpenAI: `messages=[*result.to_openai(), *conversation]`.

        The role must not be one that a model obeys: remembered text is data.
        """
        if role.casefold() in INSTRUCTION_ROLES:
            raise InvalidInput("role", "a role that gives no instructions, such as user", role)
        text = self.to_prompt(max_tokens)
        return [{"role": role, "content": text}] if text else []

    def to_anthropic(self, max_tokens: int | None = None) -> list[dict[str, str]]:
        """Return the prompt as content blocks of a user's message for Anthropic's API; none if it is empty.

        `messages=[{"role": "user", "content": [*result.to_anthropic(), {"type": "text", "text": said}]}]`
        """
        text = self.to_prompt(max_tokens)
        return [{"type": "text", "text": text}] if text else []


def sigmoid(logit: float) -> float:
    """Return 1 / (1 + e^-x), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + exp(-logit))
    return exp(logit) / (1.0 + exp(logit))


class Trace:
    """Durations of stages and failures of parts during one call; thread-safe."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._times: list[StageTime] = []
        self._degraded: list[Degraded] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the enclosed block under `name`; raise before it if the caller no longer waits."""
        check_work()
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - started)

    def add(self, name: str, seconds: float) -> None:
        """Note a duration measured elsewhere."""
        self._times.append(StageTime(stage=name, milliseconds=seconds * 1000.0))

    def failed(self, part: str, reason: str) -> None:
        """Note a part that could not contribute."""
        self._degraded.append(Degraded(part=part, reason=reason))

    @property
    def timings(self) -> tuple[StageTime, ...]:
        """Return the stages so far, with the total last."""
        total = (time.perf_counter() - self._started) * 1000.0
        return (*self._times, StageTime(stage="total", milliseconds=total))

    @property
    def degraded(self) -> tuple[Degraded, ...]:
        """Return the parts that failed, sorted."""
        return tuple(sorted(self._degraded, key=lambda item: (item.part, item.reason)))
