"""Settling entities: the things that facts mention are matched with those the bank knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.ports.store import KeyedEntity, Store
from perdure.retain.build import Draft
from perdure.retain.entities import Decision, Resolution, Sighting, lookup_keys, resolve
from perdure.retain.identity import digest
from perdure.text.names import normal_name


@dataclass(frozen=True, slots=True)
class ResolvedEntities:
    """Drafts that know their entities, and the entities to write."""

    drafts: list[Draft]
    entities: Sequence[KeyedEntity]


def resolve_entities(store: Store, bank: str, drafts: Sequence[Draft], now: datetime) -> ResolvedEntities:
    """Resolve every mention, given entities and titles included; relations get the entities' own names."""
    sightings = [_sightings(draft, now) for draft in drafts]
    every = [sighting for found in sightings for sighting in found]
    keys = lookup_keys(every)
    known = store.entities(bank, keys=keys) if keys else []
    aliases = [pair for draft in drafts for pair in draft.extracted.aliases]
    resolution = resolve(
        bank, every, known, lambda name, kind: digest(bank, "entity", name, kind), aliases=aliases
    )
    decisions = iter(resolution.decisions)
    names = {keyed.entity.id: keyed.entity.name for keyed in resolution.entities}
    settled = [
        _assign(draft, [next(decisions) for _ in found], resolution, names)
        for draft, found in zip(drafts, sightings, strict=True)
    ]
    return ResolvedEntities(settled, resolution.entities)


def _sightings(draft: Draft, now: datetime) -> list[Sighting]:
    planned = draft.plan.turns[draft.extracted.turn]
    item = draft.plan.items[planned.item]
    named = [(mention.text, mention.type) for mention in draft.extracted.mentions]
    named += [(text, kind) for text, kind in item.entities]
    if draft.plan.document.title:
        named.append((draft.plan.document.title, "concept"))
    distinct = {normal_name(name): (name, kind) for name, kind in reversed(named) if normal_name(name)}
    context = frozenset(distinct)
    return [
        Sighting(name=name, type=kind, seen_at=draft.fact.mentioned_at or now, context=context - {normal})
        for normal, (name, kind) in reversed(distinct.items())
    ]


def _assign(
    draft: Draft, decisions: Sequence[Decision], resolution: Resolution, names: Mapping[str, str]
) -> Draft:
    ids = tuple(dict.fromkeys(decision.entity_id for decision in decisions))
    fact = replace(
        draft.fact,
        entity_ids=ids,
        entities=tuple(names[entity_id] for entity_id in ids),
        subject=resolution.canonical(draft.fact.subject) if draft.fact.subject else None,
        object=resolution.canonical(draft.fact.object) if draft.fact.object else None,
    )
    return replace(draft, fact=fact)
