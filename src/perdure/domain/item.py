"""The input of retain, and its result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from perdure.domain.fact import Tier
from perdure.domain.observation import ScopeRule, read_scope_rule
from perdure.domain.recall import StageTime
from perdure.domain.time import aware
from perdure.errors import InvalidInput

MAX_CONTENT_CHARACTERS = 20_000_000
AGENT_ROLES = frozenset({"assistant", "agent", "ai", "bot", "model"})
DATA_ROLES = frozenset({"tool", "function"})
USER_ROLES = frozenset({"user", "human"})
SPEAKER = "speaker"
"""Kind of the records that name the speakers of a bank, with the role of those who spoke as its user."""
UNFINISHED_DOCUMENT = "unfinished_document"
"""Kind of the records that name documents whose text is stored but whose facts a model could not extract yet."""

REFINED_DOCUMENT = "refined_document"
"""Kind of the records that list the chunks of a document whose turns a language model has reworded."""


class UpdateMode(StrEnum):
    """What happens to a document that is retained again."""

    REPLACE = "replace"
    APPEND = "append"


_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One text or turn to retain; items that share a document_id are its turns, in order."""

    content: str
    timestamp: datetime | None = None
    """When it was said; the present when neither this nor `timeless` is given."""
    timeless: bool = False
    speaker: str = ""
    role: str = ""
    title: str = ""
    context: str = ""
    document_id: str | None = None
    tags: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[tuple[str, str], ...] = ()
    """(name, type) of entities to add to those in the text."""
    topic: str | None = None
    tier: Tier = Tier.GENERAL
    classification: int = 0
    trust: int = 2
    credibility: int = 3
    relevance: float = 0.0
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    original_text: str | None = None
    observation_scopes: ScopeRule | None = None
    """How its tags scope observations of its facts; the bank's rule by default."""

    def __post_init__(self) -> None:
        if not isinstance(self.content, str):
            raise InvalidInput("content", "text", self.content)
        if len(self.content) > MAX_CONTENT_CHARACTERS:
            raise InvalidInput("content", f"at most {MAX_CONTENT_CHARACTERS} characters", len(self.content))
        if not self.content.strip():
            raise InvalidInput("content", "non-empty text", self.content)
        check_text("content", self.content)
        for name in ("speaker", "title", "context", "document_id", "original_text"):
            value = getattr(self, name)
            if value is not None:
                check_text(name, value)
        if self.document_id is not None and not self.document_id.strip():
            raise InvalidInput("document_id", "an id that is not blank", self.document_id)
        if self.document_id is not None and _CONTROLS.search(self.document_id):
            raise InvalidInput("document_id", "an id without control characters", self.document_id)
        check_tags(self.tags)
        if self.observation_scopes is not None:
            rule = read_scope_rule(self.observation_scopes)
            object.__setattr__(self, "observation_scopes", rule)
        self._check_validity()
        for name, low, high in (("classification", 0, 3), ("trust", 0, 3), ("credibility", 1, 6)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InvalidInput(name, f"an integer from {low} to {high}", value)

    def _check_validity(self) -> None:
        for name in ("valid_from", "valid_to"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, datetime):
                raise InvalidInput(name, "a datetime", value)
        if (
            self.valid_from is not None
            and self.valid_to is not None
            and aware(self.valid_to) < aware(self.valid_from)
        ):
            raise InvalidInput("valid_to", "a time not before valid_from", self.valid_to.isoformat())

    @property
    def is_agent(self) -> bool:
        return (self.role or self.speaker).lower() in AGENT_ROLES


def check_text(field_name: str, value: object) -> None:
    """Raise `InvalidInput` unless the value is text that can be stored."""
    if not isinstance(value, str):
        raise InvalidInput(field_name, "text", value)
    if "\x00" in value:
        raise InvalidInput(field_name, "text without NUL characters")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(field_name, "text without lone surrogates") from error


def check_tags(tags: object) -> None:
    """Refuse what is no collection of texts that can be stored, and blank ones."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise InvalidInput("tags", "a list of strings", tags)
    for tag in tags:
        check_text("tags", tag)
        if not tag.strip():
            raise InvalidInput("tags", "tags that are not blank", tag)


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """An older fact that a new one closed."""

    fact_id: str
    superseded_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A part of what was given that was not retained, and why."""

    path: str
    """Where it stands, such as `content[2].content[0]` or `content, line 7`."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FellBack:
    """Turns that were read without a language model, because asking one failed; their facts are the local extractor's."""

    document_id: str
    chunk_ids: tuple[str, ...]
    turns: int
    code: str
    """Code of the error: llm_busy, llm_refused, llm_cut, llm_invalid, llm_cap_reached."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainResult:
    """What a retain did."""

    bank: str
    document_ids: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    """New facts, in order."""
    unchanged: int = 0
    """Facts of the same documents that stayed as they were."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """Not stored again: new fact's id -> the existing fact whose proof grew."""
    superseded: tuple[Superseded, ...] = ()
    retired: tuple[str, ...] = ()
    """Facts whose source text is gone from a replaced document."""
    chunks: int = 0
    entities: int = 0
    links: int = 0
    passed_over: tuple[PassedOver, ...] = ()
    """What of the content was not retained: tool calls, images, empty texts, dates that could not be read."""
    fell_back: tuple[FellBack, ...] = ()
    timings: tuple[StageTime, ...] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.fact_ids)} new fact{'' if len(self.fact_ids) == 1 else 's'}"]
        counted = (
            (len(self.merged), "merged"),
            (len(self.superseded), "superseded"),
            (len(self.retired), "retired"),
            (self.unchanged, "unchanged"),
            (len(self.passed_over), "passed over"),
            (sum(one.turns for one in self.fell_back), "turns without the language model"),
        )
        parts += [f"{count} {name}" for count, name in counted if count]
        documents = f"{len(self.document_ids)} document{'' if len(self.document_ids) == 1 else 's'}"
        return f"{', '.join(parts)} from {documents} in bank {self.bank!r}"
