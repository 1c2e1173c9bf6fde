"""A bank: an isolated memory space."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from unicodedata import category

from perdure.domain.options import Options, option
from perdure.errors import InvalidInput

_BANK_ID = re.compile(r"[^\x00-\x1f\x7f/\\]{1,128}")
_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode categories of characters that are invisible or that steer a terminal or the direction of text."""
_JOINERS = "\u200c\u200d"
"""Hidden characters that words and emoji are written with."""


@dataclass(frozen=True, slots=True)
class Disposition(Options):
    """How a bank reasons."""

    skepticism: int = option(3, "How much evidence a sentence needs.", at_least=1, at_most=5)
    literalism: int = option(
        3, "Whether to quote (5) or also to use what follows over links (1).", at_least=1, at_most=5
    )
    empathy: int = option(3, "How much of what is felt is said.", at_least=1, at_most=5)
    bias_strength: float = option(0.5, "How strongly the traits act.", at_least=0, at_most=1)


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a bank's vectors."""

    name: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimensions} dimensions)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """An isolated memory space; nothing ever crosses banks."""

    id: str
    name: str = ""
    mission: str = ""
    disposition: Disposition = field(default_factory=Disposition)
    settings: Mapping[str, object] = field(default_factory=dict)
    model: EmbeddingModel | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _BANK_ID.fullmatch(self.id):
            raise InvalidInput("bank", "1 to 128 printable characters without slashes", self.id)


def check_bank_id(bank: str) -> str:
    """Return the id; raise `InvalidInput` if it cannot stand in a URL or a file path."""
    if not isinstance(bank, str) or not _BANK_ID.fullmatch(bank) or bank != bank.strip():
        raise InvalidInput("bank", "1 to 128 printable characters without slashes", bank)
    if bank in (".", ".."):
        raise InvalidInput("bank", "a name that is no step in a path", bank)
    if has_hidden(bank):
        raise InvalidInput("bank", "no control characters or hidden ones", bank)
    return bank


def has_hidden(text: str) -> bool:
    """Return whether a name has characters that are invisible or that steer a terminal or a text."""
    return not text.isprintable() and any(
        category(character) in _HIDDEN for character in text if character not in _JOINERS
    )
