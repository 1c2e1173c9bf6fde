"""Curation of documents and of what facts mention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.fact import Document, Entity, Fact
from perdure.domain.filter import Filter
from perdure.domain.item import check_tags, check_text
from perdure.errors import InvalidInput, NotFound
from perdure.ports.store import KeyedEntity, Selection, Store, WriteBatch
from perdure.retain.identity import digest
from perdure.retain.parts import RetainComponents
from perdure.text.names import entity_keys, normal_name

_EVERY = 1_000_000


def retag_document(parts: RetainComponents, bank: str, document_id: str, tags: Sequence[str]) -> Document:
    """The document and all facts drawn from it, closed ones too, carry these tags afterwards."""
    check_tags(tags)
    found = parts.store.documents(bank, [document_id])
    if not found:
        raise NotFound("document", document_id)
    now = parts.clock()
    wanted = Filter(now=now, document_ids=frozenset({document_id}), any_time=True, include_expired=True)
    facts = parts.store.browse(bank, Selection(wanted=wanted, limit=_EVERY)).facts
    document = replace(found[0], tags=frozenset(tags), updated_at=now)
    parts.store.write(
        WriteBatch(
            bank=bank,
            documents=[document],
            updates=[replace(fact, tags=frozenset(tags)) for fact in facts],
        )
    )
    return document


def set_fact_entities(
    parts: RetainComponents, bank: str, fact_id: str, names: Sequence[str], resolve: bool
) -> Fact:
    """The fact mentions these and nothing else afterwards."""
    found = parts.store.facts(bank, [fact_id])
    if not found:
        raise NotFound("fact", fact_id)
    fact, now = found[0], parts.clock()
    chosen = {entity.id: entity for entity in (_entity(parts.store, bank, n, resolve, now) for n in names)}
    changed = replace(fact, entities=tuple(e.name for e in chosen.values()), entity_ids=tuple(chosen))
    added = [
        replace(entity, mentions=entity.mentions + 1, last_seen=now)
        for entity in chosen.values()
        if entity.id not in fact.entity_ids
    ]
    dropped = [
        replace(keyed.entity, mentions=max(keyed.entity.mentions - 1, 0))
        for keyed in parts.store.entities(bank, ids=[e for e in fact.entity_ids if e not in chosen])
    ]
    parts.store.write(
        WriteBatch(
            bank=bank, updates=[changed], entities=[KeyedEntity(e, _keys(e)) for e in (*added, *dropped)]
        )
    )
    return changed


def _entity(store: Store, bank: str, name: str, resolve: bool, now: datetime) -> Entity:
    check_text("entities", name)
    key = normal_name(name)
    if not key:
        raise InvalidInput("entities", "names with at least one letter or digit", name)
    known = [keyed.entity for keyed in store.entities(bank, keys=[key])]
    same = [entity for entity in known if key in map(normal_name, (entity.name, *entity.aliases))]
    if not resolve:
        same = [entity for entity in same if entity.name == name]
    elif not same and len(known) == 1:
        same = known
    if same:
        return same[0]
    taken = {entity.id for entity in known}
    ident = digest(bank, "entity", key)
    if ident in taken:
        ident = digest(bank, "entity", "exact", name)
    return Entity(id=ident, bank=bank, name=name, first_seen=now, last_seen=now)


def _keys(entity: Entity) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for name in (entity.name, *entity.aliases) for key in entity_keys(name)))
