"""A fact without a source or an entity that went."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from perdure.domain.fact import Fact


class Source(Protocol):
    """Where a statement was made: a fact names its first source, each proof one more."""

    @property
    def document_id(self) -> str | None: ...

    @property
    def chunk_id(self) -> str | None: ...


Proof = TypeVar("Proof", bound=Source)


def without_sources(
    fact: Fact, proofs: Sequence[Proof], is_gone: Callable[[Source], bool]
) -> tuple[Fact, list[Proof]]:
    """The fact and its proofs without the sources that went.

    A fact whose first source went moves to its oldest proof that is left, without what it quoted. One that has no other
    source stays where it is: `is_gone` still holds for it.
    """
    left = [proof for proof in proofs if not is_gone(proof)]
    lost = len(proofs) - len(left)
    if not is_gone(fact) or not left:
        return replace(fact, proof_count=max(1, fact.proof_count - lost)) if lost else fact, left
    home = left.pop(0)
    moved = replace(
        fact,
        document_id=home.document_id,
        chunk_id=home.chunk_id,
        source_text=fact.text if fact.text == fact.source_text else "",
        listener="",
        asked="",
        context="",
        original_text=None,
        proof_count=max(1, fact.proof_count - lost - 1),
    )
    return moved, left


def without_entities(fact: Fact, entity_ids: Collection[str]) -> Fact:
    """The fact without its membership of entities; names beside the ids go with them."""
    kept = [index for index, entity_id in enumerate(fact.entity_ids) if entity_id not in entity_ids]
    parallel = len(fact.entities) == len(fact.entity_ids)
    return replace(
        fact,
        entity_ids=tuple(fact.entity_ids[index] for index in kept),
        entities=tuple(fact.entities[index] for index in kept) if parallel else fact.entities,
    )
