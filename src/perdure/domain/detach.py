"""Detaching facts from sources and entities that were erased."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from perdure.domain.fact import Fact


class Source(Protocol):
    """Where a statement was made: a fact names its first source, each proof another one."""

    @property
    def document_id(self) -> str | None: ...

    @property
    def chunk_id(self) -> str | None: ...


Proof = TypeVar("Proof", bound=Source)


def without_sources(
    fact: Fact, proofs: Sequence[Proof], is_gone: Callable[[Source], bool]
) -> tuple[Fact, list[Proof]]:
    """Return the fact and its proofs without the erased sources.

    A fact whose first source is gone moves to its oldest remaining proof, without what it quoted. A fact without another
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
        source_text="",
        context="",
        original_text=None,
        proof_count=max(1, fact.proof_count - lost - 1),
    )
    return moved, left


def without_entities(fact: Fact, entity_ids: Collection[str]) -> Fact:
    """Return the fact without its membership of the entities, and without their names."""
    kept = [index for index, entity_id in enumerate(fact.entity_ids) if entity_id not in entity_ids]
    parallel = len(fact.entities) == len(fact.entity_ids)
    return replace(
        fact,
        entity_ids=tuple(fact.entity_ids[index] for index in kept),
        entities=tuple(fact.entities[index] for index in kept) if parallel else fact.entities,
    )
