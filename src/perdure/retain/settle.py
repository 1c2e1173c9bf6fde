"""Settling entities: the things that facts mention are matched with those the bank knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import Entity
from perdure.ports.store import KeyedEntity, Store
from perdure.retain.draw import Draft
from perdure.retain.plan import digest
from perdure.text.names import entity_keys, normal_name


@dataclass(frozen=True, slots=True)
class Settled:
    """Drafts that know their entities, and the entities to write."""

    drafts: list[Draft]
    entities: list[KeyedEntity]


def settle_entities(store: Store, bank: str, drafts: Sequence[Draft], now: datetime) -> Settled:
    known: dict[str, Entity] = {}
    names = {normal_name(m.text) for d in drafts for m in d.extracted.mentions}
    for keyed in store.entities(bank, keys=sorted(names - {""})):
        for name in (keyed.entity.name, *keyed.entity.aliases):
            known.setdefault(normal_name(name), keyed.entity)
    out = []
    touched: dict[str, Entity] = {}
    for d in drafts:
        ids: dict[str, str] = {}
        for m in d.extracted.mentions:
            key = normal_name(m.text)
            if not key:
                continue
            if key not in known:
                known[key] = Entity(id=digest(bank, "entity", key), bank=bank, name=m.text, type=m.type, first_seen=now)
            e = touched.get(known[key].id, known[key])
            touched[e.id] = replace(e, mentions=e.mentions + 1, last_seen=now)
            ids[e.id] = e.name
        out.append(replace(d, fact=replace(d.fact, entities=tuple(ids.values()), entity_ids=tuple(ids))))
    return Settled(out, [KeyedEntity(e, entity_keys(e.name)) for e in touched.values()])
