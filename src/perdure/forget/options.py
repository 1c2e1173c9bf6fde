"""The options of `forget`, declared once for every surface: what to erase."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.options import NOT_MCP, Options, option
from perdure.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Options):
    """What to erase: exactly one of a fact, a document, an entity, or the whole bank."""

    fact_id: str | None = option(None, "Id of a fact; for assistants its whole line too.", flat="fact")
    document_id: str | None = option(None, "Id of a document, with all its facts.", flat="document")
    entity_id: str | None = option(
        None, "Id of a person, place or thing, with everything that mentions it; for people and assistants its name too.",
        flat="entity",
    )  # fmt: skip
    everything: bool = option(False, "The whole bank.", on=NOT_MCP)
    keep: tuple[str, ...] = option(
        (),
        "Ids of facts that stay, with [removed] in the place of the name; or of other entities with that name, which stay as they are.",
        on=NOT_MCP,
    )
    around: bool = option(
        False,
        "Also erase titles, contexts, tags and entities that share words with erased facts.",
        on=NOT_MCP,
    )
    unlink: bool = option(False, "Erase the entity alone; what mentions it stays.", on=frozenset())

    @classmethod
    def arguments_name(cls) -> str:
        """Return the name of the TypedDict of its options."""
        return "ForgetArguments"

    def _complete(self) -> None:
        named = [self.fact_id, self.document_id, self.entity_id]
        if sum(part is not None for part in named) + self.everything != 1:
            raise InvalidInput("forget", "exactly one of a fact, a document, an entity or everything")
        if self.keep and self.entity_id is None:
            raise InvalidInput("keep", "an entity that is forgotten")
