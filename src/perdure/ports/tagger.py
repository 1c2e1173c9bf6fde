"""Port of linguistic analysis: sentences, entities and, where the model has them, dependencies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its position in the sentence's dependency tree; offsets count from the text's start."""

    text: str
    lemma: str
    pos: str
    """Universal part of speech: NOUN, VERB, PROPN, ..."""
    tag: str
    """Penn treebank tag: VBD, NNP, ..."""
    dep: str
    head: int
    """Index of the head within the sentence's tokens; its own index at the root."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A named entity in the text; type is person, place, organisation, product, event, work, group, handle, url or concept."""

    text: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text; `tokens` is empty if the tagger has no parser."""

    text: str
    start: int
    end: int
    tokens: tuple[Token, ...] = ()
    mentions: tuple[Mention, ...] = ()


class Tagger(Protocol):
    """Splits texts into sentences and finds named entities."""

    @property
    def name(self) -> str:
        """Return the name of the model, or `rules`."""

    @property
    def has_parser(self) -> bool:
        """Return whether sentences come with tokens and dependencies."""

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Sentence]]:
        """Return the sentences of each text; `names` are names (speakers) to find even in lower case."""
