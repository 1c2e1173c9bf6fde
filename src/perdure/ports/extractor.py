"""Port of fact extraction: turns in, narrative facts out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from perdure.domain.fact import FactType
from perdure.domain.item import DATA_ROLES
from perdure.domain.orders import INSTRUCTION_ROLES
from perdure.domain.time import Window
from perdure.ports.tagger import Mention


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that was said or written; plain text is a turn without a speaker."""

    text: str
    speaker: str = ""
    """The speaker's name; empty for plain text."""
    is_agent: bool = False
    """Whether the agent itself speaks (role assistant)."""
    role: str = ""
    """The role in a chat's messages; without one, a speaker named like a role has it."""
    said_at: datetime | None = None
    title: str = ""
    context: str = ""
    fresh: bool = True
    """False for context: such turns are read, but give no facts."""

    @property
    def is_instruction(self) -> bool:
        """Return whether it instructs the agent (roles system and developer): such turns give no facts."""
        return (self.role or self.speaker).casefold() in INSTRUCTION_ROLES

    @property
    def is_data(self) -> bool:
        """Return whether a tool returned it (roles tool and function)."""
        return (self.role or self.speaker).casefold() in DATA_ROLES

    @property
    def is_talk(self) -> bool:
        return bool(self.speaker.strip()) and not self.is_instruction and not self.is_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A stated relation."""

    subject: str
    relation: str
    object: str
    """Empty if the relation says that a value is over, whatever it was."""
    corrects: bool = False
    """Whether it takes back an earlier statement ("sorry, I meant ...") that never was true."""
    given: Window | None = None
    """While it holds, of a relation that the caller passed with the text; None of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A cause of the fact that holds this: the extracted fact at index `cause`."""

    cause: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """An extractor's proposal that a fact restates an `OfferedFact`; retain decides."""

    fact_id: str
    corrects: bool = False
    """Whether the older one never was true, rather than having changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """One narrative fact that is understandable without its context."""

    text: str
    turn: int
    """Index of its turn."""
    source_text: str
    """The sentence or sentences it came from, verbatim."""
    start: int = 0
    """Offset of source_text in the turn's text."""
    type: FactType = FactType.WORLD
    mentions: tuple[Mention, ...] = ()
    """Offsets count in `text`."""
    aliases: tuple[tuple[str, str], ...] = ()
    """(name, other name) pairs that the text itself states, as in "Bay Area Rapid Transit (BART)"."""
    triple: Triple | None = None
    occurred: Window | None = None
    dates: tuple[tuple[str, str], ...] = ()
    """Words of the text that give a date, and the date that they mean."""
    asked: str = ""
    """The question of the turn before that it answers, where it is too short to be understood without it."""
    valid: Window | None = None
    causes: tuple[Cause, ...] = ()
    confidence: float | None = None
    emotion: float = 0.0
    emotion_tags: tuple[str, ...] = ()
    topic: str | None = None
    language: str = "en"
    flags: tuple[str, ...] = ()
    """Such as "instruction": reads like an instruction to the agent."""
    replaces: tuple[Replacement, ...] = ()


class Extractor(Protocol):
    """Extracts facts from the turns of one document, in order."""

    @property
    def name(self) -> str:
        """Return the name of the extractor: local, verbatim, llm."""

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """Return facts in the order of their turns; none for turns without content."""

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """Extract from several documents at once, so that models can work in batches."""


@runtime_checkable
class SteppedExtractor(Protocol):
    """Optional: an extractor that yields facts while it still reads, so that they are embedded meanwhile."""

    def extract_in_steps(
        self, documents: Sequence[Sequence[Turn]]
    ) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
        """Yield the facts of `extract_many` in order, in steps, each with its document's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedFact:
    """A current fact of the bank that a new one may restate."""

    id: str
    text: str
    speaker: str = ""
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFallback:
    """Turns of a document that were read without a language model, because the model failed."""

    document: int
    turns: tuple[int, ...]
    code: str
    """Code of the error."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BankContext:
    """What an extractor may know about its bank."""

    bank: str
    mission: str = ""
    instructions: str = ""
    """The bank's own instructions for extraction."""
    offered: Callable[[Sequence[Turn]], Sequence[OfferedFact]]
    """Returns current facts of the bank near the turns, nearest first."""
    fell_back: Callable[[LocalFallback], None]
    """Called for turns that were read by other means than intended."""


@runtime_checkable
class BankExtractor(Protocol):
    """Optional: an extractor that needs the bank."""

    def extract_in_bank(
        self, documents: Sequence[Sequence[Turn]], context: BankContext
    ) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
        """Yield the facts of each document in order, in steps, each with its document's number."""
