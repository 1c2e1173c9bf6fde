"""The entities of a bank: listing them, and correcting by hand which names mean the same one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Entity, Fact
from perdure.domain.item import check_text
from perdure.domain.options import read_count
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import InvalidInput, NotFound
from perdure.forget.target import Forgotten
from perdure.ports.store import FactsWhere, Reading, Rows
from perdure.recall.question import entities_named
from perdure.retain.commit import FactChanges, apply_changes
from perdure.retain.components import RetainComponents
from perdure.retain.entities import keyed
from perdure.retain.identity import digest
from perdure.text.names import normal_name


class Entities:
    """The entities of a memory: `memory.entities`."""

    def __init__(self, components: RetainComponents, unlink: Callable[[str, str], Forgotten]) -> None:
        self._components = components
        self._store = components.store
        self._unlink = unlink

    @verb(READ)
    def get(self, bank: str, entity: str) -> Entity:
        """Return the entity of an id, or else the most mentioned one of a name or alias, in any case."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return find_entity(reading, entity)

    @verb(WRITE)
    def merge(self, bank: str, keep: str, absorb: str) -> Entity:
        """Merge two entities into one: the facts of `absorb` move to `keep`, its names become aliases."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            apply_changes(tx, _merged(_entity(tx, keep), _entity(tx, absorb), _facts_of(tx, absorb)))
            return _entity(tx, keep)

    @verb(WRITE)
    def split(self, bank: str, entity_id: str, name: str, fact_ids: Sequence[str] = ()) -> Entity:
        """Move mentions of an entity to a new one: in these facts, or in those that use the name."""
        check_text("name", name)
        new_id = digest(bank, "entity", name, entity_id, self._components.clock().isoformat())
        with self._store.transaction(check_bank_id(bank)) as tx:
            entity, facts = _entity(tx, entity_id), _facts_of(tx, entity_id)
            apply_changes(tx, _split(entity, facts, name, new_id, fact_ids))
            return _entity(tx, new_id)

    @verb(WRITE)
    def unlink(self, bank: str, entity_id: str) -> Forgotten:
        """Delete an entity and its observations, but none of the facts that mention it."""
        return self._unlink(check_bank_id(bank), entity_id)

    @verb(READ)
    def list(
        self,
        bank: str,
        ids: Sequence[str] | None = None,
        *,
        name: str | None = None,
        text: str = "",
        types: Sequence[str] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entity]:
        """Return the entities of a bank, most mentioned first: all, or those of `ids` or of a name.

        `text` (in a name or alias) and `types` narrow them down; `limit` counts from `offset` on.
        """
        if ids is not None and name is not None:
            raise InvalidInput("entities", "ids or a name, not both")
        read_count(offset, "offset")
        read_count(0 if limit is None else limit, "limit")
        with self._store.reading(check_bank_id(bank)) as reading:
            if name is not None:
                entities = entities_named(reading, name)
            else:
                entities = [keyed.entity for keyed in reading.entities(ids=ids)]
        chosen = [
            entity
            for entity in entities
            if (types is None or entity.type in types)
            and (not text or any(text.casefold() in one.casefold() for one in (entity.name, *entity.aliases)))
        ]
        return chosen[offset:] if limit is None else chosen[offset : offset + limit]


def _merged(keep: Entity, gone: Entity, facts_of_gone: Sequence[Fact]) -> FactChanges:
    """Merge `gone` into `keep`: its names become aliases, its facts point to `keep`."""
    if keep.id == gone.id:
        raise InvalidInput("entity", "two different entities of one bank", gone.id)
    names = dict.fromkeys([*keep.aliases, gone.name, *gone.aliases])
    merged = replace(
        keep,
        type=gone.type if keep.type == "concept" else keep.type,
        aliases=tuple(name for name in names if normal_name(name) != normal_name(keep.name)),
        mentions=keep.mentions + gone.mentions,
        first_seen=min(filter(None, (keep.first_seen, gone.first_seen)), default=None),
        last_seen=max(filter(None, (keep.last_seen, gone.last_seen)), default=None),
    )
    repointed = [_repoint(fact, gone, merged) for fact in facts_of_gone]
    return FactChanges(
        bank=keep.bank, entities=[keyed(merged)], removed_entities=[gone.id], updates=repointed
    )


def _split(
    entity: Entity, facts: Sequence[Fact], name: str, new_id: str, fact_ids: Collection[str]
) -> FactChanges:
    """Move a name of an entity to a new one, with the facts that belong to it.

    These are the facts in `fact_ids` or, without any, those whose text has the name and not the entity's own.
    """
    key = normal_name(name)
    if not key:
        raise InvalidInput("name", "a name for the new entity", name)
    if normal_name(entity.name) == key:
        raise InvalidInput("name", "another name than the entity's own", name)
    moved = [fact for fact in facts if _moves(fact, entity, key, fact_ids)]
    rest = replace(
        entity,
        aliases=tuple(alias for alias in entity.aliases if normal_name(alias) != key),
        mentions=max(0, entity.mentions - len(moved)),
    )
    fresh = replace(entity, id=new_id, name=name, aliases=(), mentions=len(moved))
    repointed = [_repoint(fact, entity, fresh) for fact in moved]
    return FactChanges(bank=entity.bank, entities=[keyed(rest), keyed(fresh)], updates=repointed)


def _moves(fact: Fact, entity: Entity, key: str, chosen: Collection[str]) -> bool:
    if chosen:
        return fact.id in chosen
    text = f" {normal_name(fact.text[:200])} {' '.join(fact.text.casefold().split())} "
    return key in text and normal_name(entity.name) not in text


def _repoint(fact: Fact, old: Entity, new: Entity) -> Fact:
    """Return the fact with the new entity instead of the old one, once."""
    pairs = dict(zip(fact.entity_ids, fact.entities, strict=False))
    changed: dict[str, str] = {}
    for entity_id, name in pairs.items():
        if entity_id == old.id:
            changed.setdefault(new.id, new.name)
        else:
            changed.setdefault(entity_id, name)
    return replace(
        fact,
        entity_ids=tuple(changed),
        entities=tuple(changed.values()),
        subject=_renamed(fact.subject, old, new),
        object=_renamed(fact.object, old, new),
    )


def _renamed(name: str | None, old: Entity, new: Entity) -> str | None:
    if name is None:
        return None
    names = {normal_name(alias) for alias in (old.name, *old.aliases, new.name, *new.aliases)}
    return new.name if normal_name(name) in names else name


def find_entity(reading: Reading, entity: str) -> Entity:
    """Return the entity of an id, or else the most mentioned one of a name or alias, in any case."""
    for one in [row.entity for row in reading.entities(ids=[entity])] or entities_named(reading, entity):
        return one
    raise NotFound("entity", entity)


def _entity(rows: Rows, entity_id: str) -> Entity:
    for one in rows.entities(ids=[entity_id]):
        return one.entity
    raise NotFound("entity", entity_id)


def _facts_of(rows: Rows, entity_id: str) -> list[Fact]:
    return rows.find_facts(FactsWhere(entity_ids=[entity_id]))
