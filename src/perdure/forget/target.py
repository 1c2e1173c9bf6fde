"""What to erase, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.errors import InvalidInput
from perdure.ports.store import Traces

LAST_ERASURE = "last_erasure"
"""Kind and id of the record whose `updated_at` says when something was last erased from a bank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to erase: exactly one of a fact, a document, an entity, or the whole bank."""

    fact_id: str | None = None
    document_id: str | None = None
    entity_id: str | None = None
    everything: bool = False
    keep: frozenset[str] = frozenset()
    """Facts that mention the entity and stay, with `[removed]` in the place of its name."""
    around: bool = False
    """Whether titles, contexts, tags and entities that share words with erased facts go too."""
    unlink: bool = False
    """Whether the entity alone goes and the facts that mention it stay."""

    def __post_init__(self) -> None:
        named = [self.fact_id, self.document_id, self.entity_id]
        if sum(part is not None for part in named) + self.everything != 1:
            raise InvalidInput("forget", "exactly one of fact_id, document_id, entity_id, everything")
        if self.keep and self.entity_id is None:
            raise InvalidInput("keep", "an entity that is forgotten")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What an erasure did."""

    facts: int = 0
    """How many facts went."""
    kept: int = 0
    """Facts that the caller kept, without the name."""
    existed: bool = True
    """False when the target was not there, perhaps because it went before."""
    traces: Traces = Traces.CLEARED
    """PENDING while erased content may still be found in unused parts of the store's files."""
    unembedded: tuple[str, ...] = ()
    """Facts that stay, whose vectors went because they were made from text with erased words: they should be embedded anew."""
    keys_destroyed: bool = False
    """Whether the content was encrypted and its keys are destroyed: traces of its texts are unreadable, wherever they are."""
    pending: tuple[str, ...] = ()
    """What may still be found and until when, a sentence each; nothing when traces are cleared."""
    mentions_left: int | None = None
    """How many texts of the bank still have the name of a forgotten entity, counted afterwards; None when none was forgotten."""
