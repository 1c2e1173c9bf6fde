"""Port of linguistic analysis: sentences, entities and, where the model has them, dependencies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its place in the sentence's dependency tree; offsets count from the text's start."""

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
    """A named thing in the text; type is person, place, organisation, product, event, work, group, handle, url or concept."""

    text: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text; `tokens` is empty when the tagger has no parser."""

    text: str
    start: int
    end: int
    tokens: tuple[Token, ...] = ()
    mentions: tuple[Mention, ...] = ()


class Tagger(Protocol):
    """Cuts texts into sentences and finds the named things in them."""

    @property
    def name(self) -> str:
        """Name of the model, or `rules`."""

    @property
    def has_parser(self) -> bool:
        """Whether sentences come with tokens and dependencies."""

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Sentence]]:
        """The sentences of each text; `names` are known names (speakers) to find even in lower case."""
