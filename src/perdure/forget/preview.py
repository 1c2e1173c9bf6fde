"""What `forget` would do: the same erasure, in a transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter
from perdure.forget.around import Around
from perdure.forget.options import Target
from perdure.forget.pipeline import (
    Erased,
    Readers,
    ScrubBackground,
    ScrubRecords,
    ScrubThoughts,
    erase_target,
)
from perdure.ports.store import FactsWhere, Rows, Selection, Store, Transaction

MOST_TEXTS = 20
"""Texts of facts that a preview quotes."""
_EVERYTHING = Filter(include_closed=True, include_expired=True)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that would go."""

    fact_id: str
    text: str
    others: tuple[str, ...] = ()
    """Names of other entities that it mentions: `keep` leaves it, without the forgotten name."""


@dataclass(frozen=True, slots=True)
class Namesake:
    """Another entity that has one of the names, or the beginning of one ("Jonas" for "Jonas Brandt")."""

    entity_id: str
    name: str
    fact_ids: tuple[str, ...]
    """Facts about it and not about the forgotten one. They go too, unless `keep` has the id of the entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPreview:
    """What would go if something were forgotten now. Nothing has gone."""

    existed: bool = True
    """False when the target is not there."""
    facts: int = 0
    """Facts that would go: what was stated, how it was worded before, and what was thought of nothing else."""
    documents: int = 0
    chunks: int = 0
    """Chunks that would go with their document."""
    scrubbed_chunks: int = 0
    """Chunks that would stay without the forgotten words."""
    entities: int = 0
    """Entities that nothing else names."""
    observations: int = 0
    """Observations in force that would go or be stale; the next consolidation writes them anew of what is left."""
    opinions: int = 0
    """Opinions that would lose evidence; those that rest on nothing else go."""
    texts: tuple[str, ...] = ()
    """Texts of the first facts that would go, at most 20."""
    statements: tuple[Statement, ...] = ()
    """All facts that would go with an entity."""
    passages: tuple[str, ...] = ()
    """Sentences that mention the entity and from which no fact was drawn; they would go too."""
    namesakes: tuple[Namesake, ...] = ()
    """Other entities with one of the names."""
    around: tuple[Around, ...] = ()
    """Titles, contexts, tags and entities that share words with what would go; they stay, except with `around`."""


class _RollBack(Exception):
    """Ends a transaction of which nothing stays."""


def preview_forget(
    store: Store,
    bank: str,
    target: Target,
    *,
    also: ScrubBackground,
    thoughts: ScrubThoughts,
    records: ScrubRecords,
    opinions: Callable[[Rows, Collection[str] | None], frozenset[str]],
    stale: Callable[[Rows, Sequence[Fact]], frozenset[str]],
    kinds: Readers = MappingProxyType({}),
) -> ForgetPreview:
    """Erase as `forget` does, count what went, and roll back. The first three functions are those of `forget`.

    `opinions` names the opinions with evidence among facts of these ids, or all; `stale` the observations among facts of which
    a source has changed. DamagedRow when a row that would have to be erased cannot be read.
    """
    if target.everything:
        return _whole_bank(store, bank, opinions)
    losing: set[str] = set()

    def watch_thoughts(tx: Transaction, erased: Mapping[str, Fact]) -> frozenset[str]:
        losing.update(opinions(tx, erased.keys()))
        return thoughts(tx, erased)

    preview = ForgetPreview(existed=False)
    with suppress(_RollBack), store.transaction(bank) as tx:
        erased = erase_target(
            store, tx, bank, target, also=also, thoughts=watch_thoughts, records=records, kinds=kinds
        )
        # A reading sees what was committed: the rows as they were.
        with store.reading(bank) as before:
            preview = ForgetPreview(
                existed=erased.existed,
                facts=erased.facts,
                documents=len(before.documents(sorted(erased.documents))) if erased.documents else 0,
                chunks=erased.chunks,
                scrubbed_chunks=len(erased.scrubbed_chunks),
                entities=_entities_gone(before, tx, erased, target),
                observations=_observations_lost(before, tx, erased, target, stale),
                opinions=len(losing),
                texts=tuple(fact.text for fact in list(erased.gone.values())[:MOST_TEXTS]),
                statements=_statements(erased),
                passages=erased.passages,
                namesakes=_namesakes(erased),
                around=erased.around,
            )
        raise _RollBack
    return preview


def _statements(erased: Erased) -> tuple[Statement, ...]:
    person = erased.person
    if person is None:
        return ()
    return tuple(
        Statement(fact.id, fact.text, tuple(name for name in fact.entities if not person.names.in_text(name)))
        for fact in erased.gone.values()
    )


def _namesakes(erased: Erased) -> tuple[Namesake, ...]:
    if erased.person is None:
        return ()
    own = erased.person.entity.id
    facts = [fact for fact in (*erased.gone.values(), *erased.person.staying) if own not in fact.entity_ids]
    return tuple(
        Namesake(other.id, other.name, tuple(fact.id for fact in facts if other.id in fact.entity_ids))
        for other in erased.person.namesakes.values()
    )


def _whole_bank(
    store: Store, bank: str, opinions: Callable[[Rows, Collection[str] | None], frozenset[str]]
) -> ForgetPreview:
    with store.reading(bank) as reading:
        stored = reading.bank()
        if stored is None:
            return ForgetPreview(existed=False)
        stats = reading.stats()
        newest = reading.browse(Selection(where=_EVERYTHING, limit=MOST_TEXTS)).facts
        return ForgetPreview(
            facts=stats.facts,
            documents=stats.documents,
            chunks=stats.chunks,
            entities=stats.entities,
            observations=stats.facts_by_type.get(FactType.OBSERVATION, 0),
            opinions=len(opinions(reading, None)),
            texts=tuple(fact.text for fact in newest),
        )


def _entities_gone(before: Rows, after: Rows, erased: Erased, target: Target) -> int:
    ids = {entity_id for fact in erased.gone.values() for entity_id in fact.entity_ids}
    ids |= {target.entity_id} if target.entity_id is not None else set()
    named = sorted(ids)
    return len(before.entities(ids=named)) - len(after.entities(ids=named)) if named else 0


def _observations_lost(
    before: Rows,
    after: Rows,
    erased: Erased,
    target: Target,
    stale: Callable[[Rows, Sequence[Fact]], frozenset[str]],
) -> int:
    """Observations in force that went, and those that stay and rest on a fact that was changed on the way."""
    gone = sum(fact.type is FactType.OBSERVATION and fact.is_open for fact in erased.gone.values())
    entity_ids = [] if target.entity_id is None else [target.entity_id]
    document_ids = {fact.document_id for fact in erased.gone.values() if fact.document_id is not None}
    near = before.find_facts(
        FactsWhere(entity_ids=entity_ids, document_ids=sorted(document_ids | erased.documents))
    )
    resting = after.find_facts(FactsWhere(source_fact_ids=[fact.id for fact in near])) if near else []
    profiles = [fact for fact in resting if fact.type is FactType.OBSERVATION and fact.is_open]
    return gone + len(stale(after, profiles) - stale(before, profiles))
