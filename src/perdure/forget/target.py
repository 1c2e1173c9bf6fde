"""What to erase, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.options import NOT_MCP, Options, option
from perdure.errors import InvalidInput
from perdure.ports.store import Traces

LAST_ERASURE = "last_erasure"
"""Kind and id of the record whose `updated_at` says when something was last erased from a bank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Options):
    """What to erase: exactly one of a fact, a document, an entity, or the whole bank."""

    fact_id: str | None = option(None, "Id of a fact.", flag="--fact")
    document_id: str | None = option(None, "Id of a document, with all its facts.", flag="--document")
    entity_id: str | None = option(None, "Id of an entity; its facts stay.", on=NOT_MCP, flag="--entity")
    everything: bool = option(False, "The whole bank.", on=NOT_MCP)

    @classmethod
    def arguments_name(cls) -> str:
        """Return the name of the TypedDict of its options."""
        return "ForgetArguments"

    def _complete(self) -> None:
        named = [self.fact_id, self.document_id, self.entity_id]
        if sum(part is not None for part in named) + self.everything != 1:
            raise InvalidInput("forget", "exactly one of fact_id, document_id, entity_id, everything")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What an erasure did."""

    facts: int = 0
    """How many facts went."""
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
