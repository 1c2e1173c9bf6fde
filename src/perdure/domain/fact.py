"""A fact: one remembered statement, with its four times; and what it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from perdure.domain.time import Window
from perdure.errors import InvalidInput


class FactType(StrEnum):
    """What kind of statement a fact is."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"


class Tier(StrEnum):
    """How central a fact is."""

    CORE = "core"
    GENERAL = "general"


MOMENT = timedelta(microseconds=1)
INSTRUCTION = "instruction"
"""Flag: it reads like an order to the agent; kept, marked, and never closes anything."""
PLANNED = "planned"
"""Flag: its time is still ahead of when it was said; it tells of a plan, an appointment, a deadline."""
UNSURE_DATE = "unsure_date"
"""Flag: the words leave open which date is meant; the stored one only helps to rank."""
CORRECTION = "correction"
"""Flag: it takes back something said before ("sorry, I meant"), which never was so."""
BELIEF = "belief"
"""Flag: it states a preference, an opinion or a standing rule of who says it."""
QUESTION = "question"
"""Flag: a question put to the agent; it is never evidence, and a recall returns it only when asked to."""
MADE_BY = "made_by:"
"""Prefix of a flag: the prompt, with its hash, by which a language model worded the fact ("made_by:extract@3f9c2a1b")."""

REWORDED = "reworded"
"""Reason of a fact's retirement: a language model worded it anew; what it says is still so, in the fact that took its place."""
RESTATED = "restated"
"""Reason of a fact's retirement: a person changed its text; the fact that took its place has the new one."""
RESTATED_AS = "restated_as"
"""Kind of the records that name, under the id of a fact whose text was changed, the fact that says it now; ids alone."""
FORGOTTEN = "[forgotten]"
"""Stands where erased text stood."""
REMOVED = "[removed]"
"""Stands where an erased name stood, in a statement that was kept."""


class LinkKind(StrEnum):
    """Why two facts are joined."""

    TEMPORAL = "temporal"
    SEMANTIC = "semantic"
    CAUSAL = "causal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text as it was given."""

    id: str
    bank: str
    title: str = ""
    context: str = ""
    tags: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    content_hash: str = ""
    characters: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSpan:
    """Where a turn stands in a chunk's text, who said it and when."""

    start: int
    end: int
    speaker: str = ""
    is_agent: bool = False
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A verbatim part of a document, at most 3,000 characters; every field is stored."""

    id: str
    bank: str
    document_id: str
    ordinal: int
    text: str
    content_hash: str
    spans: tuple[TurnSpan, ...] = ()
    """The turns in the text; empty for plain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A person, place, organisation, thing or concept."""

    id: str
    bank: str
    name: str
    type: str = "concept"
    aliases: tuple[str, ...] = ()
    mentions: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A weighted edge between two facts; causal ones lead from cause to effect."""

    source: str
    target: str
    kind: LinkKind
    weight: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0 + 1e-6:
            raise InvalidInput("link.weight", "a number from 0 to 1", self.weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One remembered statement. Facts are closed, never overwritten."""

    id: str
    bank: str
    text: str
    type: FactType = FactType.WORLD

    document_id: str | None = None
    chunk_id: str | None = None
    ordinal: int = 0
    source_text: str = ""
    speaker: str = ""
    listener: str = ""
    """To whom it was said; empty where that is not known."""
    asked: str = ""
    """The question of the turn before that it answers, where it is too short to be understood without it."""
    context: str = ""
    dates: tuple[tuple[str, str], ...] = ()
    """Words of the text that give a date, and the date that they mean: ("Sunday", "2026-05-03")."""

    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    recorded_at: datetime | None = None
    retired_at: datetime | None = None
    """Since when it is not believed: a person, a correction or its own source took it back."""
    end_recorded_at: datetime | None = None
    """When `valid_to` became known by another fact; None when the end was stated with the fact, or has none."""
    superseded_by: str | None = None
    """The fact that ended it (a change) or took it back (a correction)."""
    invalidated_at: datetime | None = None
    """When a person declared it wrong; it is then retired as well."""
    invalid_reason: str | None = None

    subject: str | None = None
    relation: str | None = None
    object: str | None = None

    entities: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)

    topic: str | None = None
    tier: Tier = Tier.GENERAL
    classification: int = 0
    trust: int = 2
    credibility: int = 3
    relevance: float = 0.0
    emotion: float = 0.0
    emotion_tags: tuple[str, ...] = ()
    confidence: float | None = None
    """How surely a taste or belief is put in a statement; how sure the bank is, in an opinion that recall returns."""
    expires_at: datetime | None = None
    language: str = "en"
    original_text: str | None = None
    flags: tuple[str, ...] = ()

    proof_count: int = 1
    source_fact_ids: tuple[str, ...] = ()

    recall_count: int = 0
    last_recalled_at: datetime | None = None
    recall_times: tuple[datetime, ...] = ()

    def __post_init__(self) -> None:
        check_fact(self)

    @property
    def occurred(self) -> Window | None:
        """When it happened, None when undated."""
        if self.occurred_start is None and self.occurred_end is None:
            return None
        return Window(self.occurred_start, self.occurred_end)

    @property
    def is_question(self) -> bool:
        """Whether it is a question that was put to the agent."""
        return QUESTION in self.flags

    @property
    def is_planned(self) -> bool:
        """Whether it tells of something that was still ahead when it was said."""
        return PLANNED in self.flags

    @property
    def has_unsure_date(self) -> bool:
        """Whether its date is a guess, which may rank it and is not to be shown."""
        return UNSURE_DATE in self.flags

    @property
    def is_reworded(self) -> bool:
        """Whether it is retired for its wording alone: `superseded_by` says the same in other words."""
        return self.invalid_reason == REWORDED and self.superseded_by is not None

    @property
    def made_by(self) -> str:
        """Name and hash of the prompt by which a language model worded it; empty for other facts."""
        return next((flag.removeprefix(MADE_BY) for flag in self.flags if flag.startswith(MADE_BY)), "")

    @property
    def dated(self) -> datetime | None:
        """The best single date: when it surely happened, else when it was said."""
        return self.mentioned_at if self.has_unsure_date else self.likely_dated

    @property
    def shown_date(self) -> datetime | None:
        """The same to show: where only the end of a time is known ("by January"), its last moment and not the one after it."""
        open_start = (
            self.occurred_start is None and self.occurred_end is not None and not self.has_unsure_date
        )
        return self.occurred_end - MOMENT if open_start and self.occurred_end is not None else self.dated

    @property
    def likely_dated(self) -> datetime | None:
        """The same, even where when it happened is a guess; for ranking only."""
        return self.occurred_start or self.occurred_end or self.mentioned_at

    @property
    def is_open(self) -> bool:
        """Whether no other statement ended it or took it back; one whose own words state its end is open too."""
        return self.retired_at is None and self.end_recorded_at is None

    @property
    def is_ended(self) -> bool:
        """Whether another statement ended it, and it is believed for the time before."""
        return self.retired_at is None and self.end_recorded_at is not None


_RANGES: tuple[tuple[str, float, float], ...] = (
    ("classification", 0, 3),
    ("trust", 0, 3),
    ("emotion", -5, 5),
    ("credibility", 1, 6),
)
_TIMES = (
    "occurred_start", "occurred_end", "mentioned_at", "valid_from", "valid_to",
    "recorded_at", "retired_at", "end_recorded_at", "invalidated_at", "expires_at", "last_recalled_at",
)  # fmt: skip


def check_fact(fact: Fact) -> None:
    """Raise InvalidInput naming the first field that cannot be stored."""
    if not fact.id:
        raise InvalidInput("id", "a non-empty string", fact.id)
    if not fact.text.strip():
        raise InvalidInput("text", "non-empty text", fact.text)
    if "\x00" in fact.text:
        raise InvalidInput("text", "text without NUL characters", fact.text)
    for name, low, high in _RANGES:
        value = getattr(fact, name)
        if not low <= value <= high:
            raise InvalidInput(name, f"a number from {low:g} to {high:g}", value)
    if fact.confidence is not None and not 0.0 <= fact.confidence <= 1.0:
        raise InvalidInput("confidence", "a number from 0 to 1", fact.confidence)
    if fact.proof_count < 1:
        raise InvalidInput("proof_count", "at least 1", fact.proof_count)
    for name in _TIMES:
        moment = getattr(fact, name)
        if moment is not None and moment.tzinfo is None:
            raise InvalidInput(name, "a datetime with a time zone", moment)
    _check_order(fact.occurred_start, fact.occurred_end, "occurred_end")
    _check_order(fact.valid_from, fact.valid_to, "valid_to")
    _check_order(fact.recorded_at, fact.retired_at, "retired_at")


def _check_order(first: datetime | None, last: datetime | None, name: str) -> None:
    if first is not None and last is not None and last < first:
        raise InvalidInput(name, "not before its start", last)
