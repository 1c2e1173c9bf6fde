"""A bank: an isolated memory space."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from unicodedata import category

from perdure.errors import InvalidInput

_BANK_ID = re.compile(r"[^\x00-\x1f\x7f/\\]{1,128}")
_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode categories of characters that cannot be seen or that steer a terminal or the direction of text."""
_JOINERS = "\u200c\u200d"
"""Hidden characters that words and emoji are written with."""


@dataclass(frozen=True, slots=True)
class Disposition:
    """How a bank reasons: each trait 1..5, bias strength 0..1."""

    skepticism: int = 3
    literalism: int = 3
    empathy: int = 3
    bias_strength: float = 0.5

    def __post_init__(self) -> None:
        for name in ("skepticism", "literalism", "empathy"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 5:
                raise InvalidInput(f"disposition.{name}", "an integer from 1 to 5", value)
        if not 0.0 <= self.bias_strength <= 1.0:
            raise InvalidInput("disposition.bias_strength", "a number from 0 to 1", self.bias_strength)


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
    """The id itself if it may name a bank: it stands in URLs and in paths of files."""
    if not isinstance(bank, str) or not _BANK_ID.fullmatch(bank) or bank != bank.strip():
        raise InvalidInput("bank", "1 to 128 printable characters without slashes", bank)
    if bank in (".", ".."):
        raise InvalidInput("bank", "a name that is no step in a path", bank)
    if has_hidden(bank):
        raise InvalidInput("bank", "no control characters or hidden ones", bank)
    return bank


def has_hidden(text: str) -> bool:
    """Whether a name has characters that nobody sees, or that steer a terminal or the direction of text."""
    return not text.isprintable() and any(
        category(character) in _HIDDEN for character in text if character not in _JOINERS
    )
