"""A fact: one remembered statement with its four times, and its source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

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


class Origin(StrEnum):
    """Where a statement comes from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"
    IMPORT = "import"
    AGENT = "agent"
    """Another agent."""


_ORIGINS = {origin.value: origin for origin in Origin}
FOREIGN = frozenset({Origin.TOOL, Origin.WEB})
"""Origins that are never evidence about the user: anybody may have written what a tool or a page says."""
MOMENT = timedelta(microseconds=1)
INSTRUCTION = "instruction"
"""Flag: it reads like an instruction to the agent; kept, marked, and never supersedes anything."""
PLANNED = "planned"
"""Flag: its time was in the future when it was said: a plan, an appointment, a deadline."""
UNSURE_DATE = "unsure_date"
"""Flag: the date is ambiguous; the stored one is used for ranking only."""
BELIEF = "belief"
"""Flag: it states a preference, an opinion or a standing rule of its speaker."""
QUESTION = "question"
"""Flag: a question put to the agent; it is never evidence, and a recall returns it only when asked to."""
GIVEN_RELATION = "given_relation"
"""Flag: the caller passed its relation with the text."""
ORIGIN = "origin:"
"""Prefix of a flag: where the fact comes from ("origin:tool"); without one that is not known."""
MADE_BY = "made_by:"
"""Prefix of a flag: the prompt by which a language model worded the fact ("made_by:extract@3f9c2a1b")."""

REWORDED = "reworded"
"""Reason of retirement: a language model reworded the fact, and `superseded_by` says the same."""
RESTATED = "restated"
"""Reason of a fact's retirement: a person changed its text; the fact that took its place has the new one."""
RESTATED_AS = "restated_as"
"""Kind of the records that name, by id, the fact that restates one whose text was changed."""
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
    """The place of a turn in a chunk's text, with its speaker and time."""

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
    """Since when it is not believed: a user, a correction or its own source took it back."""
    end_recorded_at: datetime | None = None
    """When another fact made `valid_to` known; None if the end was stated with the fact, or there is none."""
    superseded_by: str | None = None
    """The fact that ended it (a change) or took it back (a correction)."""
    invalidated_at: datetime | None = None
    """When a user declared it wrong; it is then retired as well."""
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
    """How certain a statement of taste or belief is; in a recalled opinion, how certain the bank is."""
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
        """Return when it happened, or None if it is undated."""
        if self.occurred_start is None and self.occurred_end is None:
            return None
        return Window(self.occurred_start, self.occurred_end)

    @property
    def is_question(self) -> bool:
        return QUESTION in self.flags

    @property
    def origin(self) -> Origin | None:
        """Return where it comes from; None where nobody said so."""
        named = (flag.removeprefix(ORIGIN) for flag in self.flags if flag.startswith(ORIGIN))
        return next((_ORIGINS.get(name) for name in named), None)

    @property
    def is_foreign(self) -> bool:
        """Return whether a tool or a web page says it, so that it is no evidence about the user."""
        return self.origin in FOREIGN

    @property
    def is_planned(self) -> bool:
        return PLANNED in self.flags

    @property
    def has_unsure_date(self) -> bool:
        """Return whether its date is a guess, used for ranking and never shown."""
        return UNSURE_DATE in self.flags

    @property
    def is_reworded(self) -> bool:
        """Return whether it is retired for its wording alone: `superseded_by` says the same."""
        return self.invalid_reason == REWORDED and self.superseded_by is not None

    @property
    def made_by(self) -> str:
        """Return the name and hash of the prompt by which a model worded it; empty for other facts."""
        return next((flag.removeprefix(MADE_BY) for flag in self.flags if flag.startswith(MADE_BY)), "")

    @property
    def dated(self) -> datetime | None:
        """Return the best single date: when it certainly happened, else when it was said."""
        return self.mentioned_at if self.has_unsure_date else self.likely_dated

    @property
    def shown_date(self) -> datetime | None:
        """Return the date to show; if only the end of a time is known ("by January"), its last moment."""
        open_start = (
            self.occurred_start is None and self.occurred_end is not None and not self.has_unsure_date
        )
        return self.occurred_end - MOMENT if open_start and self.occurred_end is not None else self.dated

    @property
    def likely_dated(self) -> datetime | None:
        """Return the best single date, even if it is a guess; for ranking only."""
        return self.occurred_start or self.occurred_end or self.mentioned_at

    @property
    def is_open(self) -> bool:
        """Return whether no other statement ended it or took it back."""
        return self.retired_at is None and self.end_recorded_at is None

    @property
    def is_ended(self) -> bool:
        """Return whether another statement ended it, so that it is believed for the time before."""
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


class RankingFields(NamedTuple):
    """Fields for ranking: a recall ranks hundreds of facts and reads a few dozen."""

    type: FactType = FactType.WORLD
    document_id: str | None = None
    speaker: str = ""
    event_date: datetime | None = None
    """The middle of the time when it happened, else when it was said."""
    proof_count: int = 1
    """Of observations; 1 for others."""


def ranking_fields(fact: Fact) -> RankingFields:
    return RankingFields(
        type=fact.type,
        document_id=fact.document_id,
        speaker=fact.speaker,
        event_date=event_date(fact.occurred_start, fact.occurred_end, fact.mentioned_at),
        proof_count=fact.proof_count if fact.type is FactType.OBSERVATION else 1,
    )


def event_date(
    start: datetime | None, end: datetime | None, mentioned_at: datetime | None
) -> datetime | None:
    """Return the middle of the time when a fact happened, else when it was said."""
    if start is not None and end is not None:
        return start + (end - start) / 2
    return start or end or mentioned_at


class Source(Protocol):
    """Where a statement was made: a fact names its first source, each proof another one."""

    @property
    def document_id(self) -> str | None: ...

    @property
    def chunk_id(self) -> str | None: ...


Proof = TypeVar("Proof", bound=Source)


def without_sources(
    fact: Fact, proofs: Sequence[Proof], is_gone: Callable[[Source], bool]
) -> tuple[Fact, list[Proof]]:
    """Return the fact and its proofs without the erased sources.

    A fact whose first source is gone moves to its oldest remaining proof, without what it quoted. A fact
    without another source stays where it is: `is_gone` still holds for it.
    """
    left = [proof for proof in proofs if not is_gone(proof)]
    lost = len(proofs) - len(left)
    if not is_gone(fact) or not left:
        return replace(fact, proof_count=max(1, fact.proof_count - lost)) if lost else fact, left
    home = left.pop(0)
    moved = replace(
        fact,
        document_id=home.document_id,
        chunk_id=home.chunk_id,
        source_text=fact.text if fact.text == fact.source_text else "",
        listener="",
        asked="",
        context="",
        original_text=None,
        proof_count=max(1, fact.proof_count - lost - 1),
    )
    return moved, left


def without_entities(fact: Fact, entity_ids: Collection[str]) -> Fact:
    """Return the fact without its membership of the entities, and without their names."""
    kept = [index for index, entity_id in enumerate(fact.entity_ids) if entity_id not in entity_ids]
    parallel = len(fact.entities) == len(fact.entity_ids)
    return replace(
        fact,
        entity_ids=tuple(fact.entity_ids[index] for index in kept),
        entities=tuple(fact.entities[index] for index in kept) if parallel else fact.entities,
    )
