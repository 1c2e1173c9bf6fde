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
    """One thing that was said or written; a plain text is a turn without a speaker."""

    text: str
    speaker: str = ""
    """The speaker's name; empty for plain text."""
    is_agent: bool = False
    """Whether the agent itself speaks (role assistant)."""
    role: str = ""
    """The role in a chat's messages; without one a speaker named like a role has it."""
    said_at: datetime | None = None
    title: str = ""
    context: str = ""
    fresh: bool = True
    """False for turns that are only context: they are read, but give no facts."""

    @property
    def is_instruction(self) -> bool:
        """Whether it tells the agent what to do (roles system and developer): it gives no facts."""
        return (self.role or self.speaker).casefold() in INSTRUCTION_ROLES

    @property
    def is_data(self) -> bool:
        """Whether a tool returned it (roles tool and function): nobody says it of themself."""
        return (self.role or self.speaker).casefold() in DATA_ROLES

    @property
    def is_talk(self) -> bool:
        """Whether somebody speaks in it."""
        return bool(self.speaker.strip()) and not self.is_instruction and not self.is_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A stated relation; `single_valued` relations have one current object per subject."""

    subject: str
    relation: str
    object: str
    """Empty where the relation says that a value is over, whatever it was."""
    single_valued: bool = False
    corrects: bool = False
    """Whether it takes back what was said before ("sorry, I meant ..."), which never was so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The extracted fact at index `cause` brought about the one that holds this."""

    cause: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A proposal of an extractor that a fact states anew what an `OfferedFact` states; retain decides."""

    fact_id: str
    corrects: bool = False
    """Whether the older one never was so, rather than having changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """One fact: a statement as it was said, or one worded by a model."""

    text: str
    turn: int
    """Index of the turn it was drawn from."""
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
    """Such as "instruction": reads like an order to the agent."""
    replaces: tuple[Replacement, ...] = ()


class Extractor(Protocol):
    """Draws facts from the turns of one document, in order."""

    @property
    def name(self) -> str:
        """Name of the extractor: local, verbatim, llm."""

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """Facts in the order of their turns; none for turns without content."""

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """`extract` for several documents at once, so that models can work in batches."""


@runtime_checkable
class SteppedExtractor(Protocol):
    """Optional: an extractor that yields facts while it still reads, so that they are embedded meanwhile."""

    def extract_in_steps(
        self, documents: Sequence[Sequence[Turn]]
    ) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
        """The facts of `extract_many` in the same order, each with its document's number, in any number of steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedFact:
    """A current fact of the bank that a new one may state anew."""

    id: str
    text: str
    speaker: str = ""
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFallback:
    """Turns of a document that were read without a language model, because asking one failed."""

    document: int
    turns: tuple[int, ...]
    code: str
    """Code of the error."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BankContext:
    """What an extractor may know of the bank that it extracts for."""

    bank: str
    mission: str = ""
    instructions: str = ""
    """The bank's own instructions for extraction."""
    offered: Callable[[Sequence[Turn]], Sequence[OfferedFact]]
    """Current facts of the bank near what the turns say, nearest first."""
    fell_back: Callable[[LocalFallback], None]
    """To be told of turns that were read by other means than meant."""


@runtime_checkable
class BankExtractor(Protocol):
    """Optional: an extractor that needs to know the bank."""

    def extract_in_bank(
        self, documents: Sequence[Sequence[Turn]], context: BankContext
    ) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
        """The facts of each document in order, each with its document's number, in any number of steps."""
