"""Correcting resolution by hand: two entities become one, or one becomes two."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import Entity, Fact
from perdure.errors import InvalidInput
from perdure.ports.store import KeyedEntity
from perdure.retain.entities import keyed
from perdure.text.names import normal_name


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityEdit:
    """What a merge or split changes."""

    entities: tuple[KeyedEntity, ...] = ()
    removed: tuple[str, ...] = ()
    updates: tuple[Fact, ...] = ()


def merge_two(keep: Entity, gone: Entity, facts_of_gone: Sequence[Fact]) -> EntityEdit:
    """`gone` becomes part of `keep`: its names become aliases, its facts point to `keep`."""
    if keep.id == gone.id or keep.bank != gone.bank:
        raise InvalidInput("entity", "two different entities of one bank", gone.id)
    names = dict.fromkeys([*keep.aliases, gone.name, *gone.aliases])
    merged = replace(
        keep,
        type=gone.type if keep.type == "concept" else keep.type,
        aliases=tuple(name for name in names if normal_name(name) != normal_name(keep.name)),
        mentions=keep.mentions + gone.mentions,
        first_seen=min((t for t in (keep.first_seen, gone.first_seen) if t is not None), default=None),
        last_seen=max((t for t in (keep.last_seen, gone.last_seen) if t is not None), default=None),
    )
    return EntityEdit(
        entities=(keyed(merged),),
        removed=(gone.id,),
        updates=tuple(_repoint(fact, gone, merged) for fact in facts_of_gone),
    )


def split_one(
    entity: Entity,
    facts: Sequence[Fact],
    *,
    name: str,
    new_id: str,
    aliases: Collection[str] = (),
    fact_ids: Collection[str] = (),
) -> EntityEdit:
    """Take a name (and `aliases`) out of an entity into one of its own, with the facts that belong to it.

    Facts move when they are listed in `fact_ids` or, with none listed, when their text holds one of the names
    and not the entity's own.
    """
    if not normal_name(name) or new_id == entity.id:
        raise InvalidInput("name", "a name and an id for the new entity", name)
    taken = {normal_name(alias) for alias in (name, *aliases)}
    if normal_name(entity.name) in taken:
        raise InvalidInput("name", "another name than the entity's own", name)
    moved = [fact for fact in facts if _moves(fact, entity, taken, set(fact_ids))]
    rest = replace(
        entity,
        aliases=tuple(alias for alias in entity.aliases if normal_name(alias) not in taken),
        mentions=max(0, entity.mentions - len(moved)),
    )
    fresh = replace(
        entity,
        id=new_id,
        name=name,
        aliases=tuple(alias for alias in aliases if normal_name(alias) != normal_name(name)),
        mentions=len(moved),
    )
    return EntityEdit(
        entities=(keyed(rest), keyed(fresh)), updates=tuple(_repoint(fact, entity, fresh) for fact in moved)
    )


def _moves(fact: Fact, entity: Entity, taken: set[str], chosen: set[str]) -> bool:
    if entity.id not in fact.entity_ids:
        return False
    if chosen:
        return fact.id in chosen
    text = f" {normal_name(fact.text[:200])} {' '.join(fact.text.casefold().split())} "
    return any(name in text for name in taken) and normal_name(entity.name) not in text


def _repoint(fact: Fact, old: Entity, new: Entity) -> Fact:
    """The fact with the new entity in the old one's place, once."""
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
