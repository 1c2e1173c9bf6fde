"""Entities: which mentions of new facts mean things that the bank already knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from perdure.domain.fact import Entity
from perdure.ports.store import KeyedEntity, Rows
from perdure.retain.build import Draft
from perdure.retain.identity import digest
from perdure.retain.likeness import Likeness, compare, full_names_conflict
from perdure.text.names import entity_keys, keys_of_names, name_tokens, normal_name
from perdure.text.voice import name_of

_SAME = 0.75
_RECENT = timedelta(days=180)
_MAX_CANDIDATES = 64
_MAX_ALIASES = 12
_CONTEXT_WEIGHT = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A mention and what stands beside it."""

    name: str
    type: str = "concept"
    seen_at: datetime | None = None
    context: frozenset[str] = frozenset()
    """Normal names of what the same fact mentions too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which entity a sighting means, how sure that is, and why."""

    entity_id: str
    score: float
    reason: str
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Decisions in the order of the sightings, and the entities to write."""

    decisions: tuple[Decision, ...] = ()
    entities: tuple[KeyedEntity, ...] = ()
    added_mentions: Mapping[str, int] = field(default_factory=dict)
    """Entity id -> how often it was seen."""
    by_name: Mapping[str, Entity] = field(default_factory=dict)
    """Normal name as mentioned -> its entity."""

    def canonical(self, name: str) -> str:
        """Return the entity's own name for a name as mentioned; the name itself when nothing is known of it."""
        entity = self.by_name.get(normal_name(name))
        return entity.name if entity is not None else name


@dataclass(frozen=True, slots=True)
class ResolvedEntities:
    """Drafts that name their entities, and the entities to write."""

    drafts: list[Draft]
    entities: Sequence[KeyedEntity]
    added_mentions: Mapping[str, int]


def resolve_entities(rows: Rows, bank: str, drafts: Sequence[Draft], now: datetime) -> ResolvedEntities:
    """Resolve every mention, entities that the caller names and titles included; relations get the entities' own names."""
    sightings = _typed_alike([_sightings(draft, now) for draft in drafts], _stated_types(drafts))
    every = [sighting for of_draft in sightings for sighting in of_draft]
    keys = lookup_keys(every)
    resolution = resolve(
        bank,
        every,
        rows.entities(keys=keys) if keys else [],
        lambda name, kind: digest(bank, "entity", name, kind),
        aliases=[pair for draft in drafts for pair in draft.extracted.aliases],
    )
    decisions = iter(resolution.decisions)
    names = {keyed.entity.id: keyed.entity.name for keyed in resolution.entities}
    resolved = [
        _assign(draft, [next(decisions) for _ in of_draft], resolution, names)
        for draft, of_draft in zip(drafts, sightings, strict=True)
    ]
    return ResolvedEntities(resolved, resolution.entities, resolution.added_mentions)


def _sightings(draft: Draft, now: datetime) -> list[Sighting]:
    planned = draft.plan.turns[draft.extracted.turn]
    item = draft.plan.items[planned.item]
    named = [(mention.text, mention.type) for mention in draft.extracted.mentions]
    if planned.turn.is_talk and name_of(planned.turn.speaker):
        named.append((name_of(planned.turn.speaker), "person"))
    named += item.entities
    if draft.plan.document.title:
        named.append((draft.plan.document.title, "concept"))
    distinct = {normal_name(name): (name, kind) for name, kind in reversed(named) if normal_name(name)}
    for name, kind in item.entities:
        if kind != "concept" and normal_name(name):
            # What the caller says it is goes before what a tagger takes it for.
            distinct[normal_name(name)] = (distinct[normal_name(name)][0], kind)
    context = frozenset(distinct)
    return [
        Sighting(name=name, type=kind, seen_at=draft.fact.mentioned_at or now, context=context - {normal})
        for normal, (name, kind) in reversed(distinct.items())
    ]


def _stated_types(drafts: Sequence[Draft]) -> dict[str, str]:
    """Return normal name -> type, of the entities that the caller names with one type and no other."""
    stated: dict[str, set[str]] = {}
    for draft in drafts:
        for name, kind in draft.plan.items[draft.plan.turns[draft.extracted.turn].item].entities:
            if kind != "concept":
                stated.setdefault(normal_name(name), set()).add(kind)
    return {name: kinds.pop() for name, kinds in stated.items() if len(kinds) == 1}


def _typed_alike(sightings: Sequence[list[Sighting]], types: Mapping[str, str]) -> list[list[Sighting]]:
    """Return the sightings, with the caller's type wherever the same name is seen in the batch."""
    if not types:
        return list(sightings)
    return [
        [replace(one, type=types.get(normal_name(one.name), one.type)) for one in of_draft]
        for of_draft in sightings
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


def lookup_keys(sightings: Iterable[Sighting]) -> tuple[str, ...]:
    """Return the keys to ask the store for before `resolve`."""
    return tuple(sorted({key for sighting in sightings for key in entity_keys(sighting.name)}))


def keyed(entity: Entity) -> KeyedEntity:
    """Return the entity with the keys of its name and aliases."""
    return KeyedEntity(entity, keys_of_names((entity.name, *entity.aliases)))


def resolve(
    bank: str,
    sightings: Sequence[Sighting],
    stored: Sequence[KeyedEntity],
    new_id: Callable[[str, str], str],
    *,
    companions: Mapping[str, Collection[str]] | None = None,
    aliases: Collection[tuple[str, str]] = (),
) -> Resolution:
    """Decide same or new for each sighting; `stored` are the bank's entities under `lookup_keys`.

    `new_id` makes an id from (normal name, type). `companions` gives, by entity id, normal names that were
    seen together with it. `aliases` are (name, other name) pairs that the text itself states.
    Each distinct name is compared with its candidates once, so cost grows with the mentions alone.
    """
    registry = _Registry(bank, stored, companions or {})
    stated = {normal_name(alias): name for name, alias in aliases if normal_name(alias)}
    decisions = [
        registry.decide(_by_stated_name(sighting, stated), sighting, new_id) for sighting in sightings
    ]
    entities = registry.touched()
    return Resolution(
        decisions=tuple(decisions),
        entities=tuple(keyed(entity) for entity in entities),
        added_mentions={entity.id: registry.added(entity) for entity in entities},
        by_name=registry.by_name,
    )


def _by_stated_name(sighting: Sighting, stated: Mapping[str, str]) -> Sighting:
    name = stated.get(normal_name(sighting.name))
    return sighting if name is None else replace(sighting, name=name)


class _Registry:
    """The entities in play while a batch is resolved."""

    def __init__(
        self, bank: str, stored: Sequence[KeyedEntity], companions: Mapping[str, Collection[str]]
    ) -> None:
        self._bank = bank
        self._entities: dict[str, Entity] = {}
        self._under_key: dict[str, dict[str, None]] = {}
        self._companions = {entity_id: set(names) for entity_id, names in companions.items()}
        self._decided: dict[tuple[str, str], Decision] = {}
        self._touched: dict[str, None] = {}
        self._before = {item.entity.id: item.entity.mentions for item in stored}
        self.by_name: dict[str, Entity] = {}
        for item in stored:
            self._add(item.entity, item.keys)

    def touched(self) -> list[Entity]:
        """Return the entities that were seen, in the order of their first sighting."""
        return [self._entities[entity_id] for entity_id in self._touched]

    def added(self, entity: Entity) -> int:
        """Return how often the entity was seen here."""
        return entity.mentions - self._before.get(entity.id, 0)

    def decide(self, sighting: Sighting, as_seen: Sighting, new_id: Callable[[str, str], str]) -> Decision:
        normal = normal_name(sighting.name)
        place = (normal, sighting.type)
        decision = self._decided.get(place)
        if decision is None:
            decision = self._match(sighting) or self._create(sighting, new_id(normal, sighting.type))
            self._decided[place] = replace(decision, is_new=False)
        self._note(decision.entity_id, sighting, as_seen)
        return decision

    def _match(self, sighting: Sighting) -> Decision | None:
        scored = []
        for entity_id in self._candidates(sighting):
            entity = self._entities[entity_id]
            likeness = _best_likeness(sighting, entity)
            if likeness.score > 0.0 and not (likeness.partial and not _is_recent(entity, sighting)):
                scored.append((self._score(likeness, entity_id, sighting), entity_id, likeness))
        if not scored:
            return None
        scored.sort(key=lambda item: (-item[0], item[1]))
        score, entity_id, likeness = scored[0]
        rivals = [item for item in scored[1:] if item[2].score >= _SAME]
        if score < _SAME or (likeness.partial and rivals):
            return None
        return Decision(entity_id=entity_id, score=round(score, 3), reason=likeness.reason)

    def _is_exact(self, entity_id: str, sighting: Sighting) -> bool:
        entity, normal = self._entities[entity_id], normal_name(sighting.name)
        return any(normal_name(name) == normal for name in (entity.name, *entity.aliases))

    def _candidates(self, sighting: Sighting) -> list[str]:
        """Entities to compare with: those of the very name if there are any, else all that share a key."""
        exact = [
            e for e in self._under_key.get(normal_name(sighting.name), ()) if self._is_exact(e, sighting)
        ]
        if exact:
            return exact
        sharing_a_key = dict.fromkeys(
            entity_id for key in entity_keys(sighting.name) for entity_id in self._under_key.get(key, ())
        )
        if len(sharing_a_key) <= _MAX_CANDIDATES:
            return list(sharing_a_key)
        return sorted(sharing_a_key, key=lambda entity_id: (-self._entities[entity_id].mentions, entity_id))[
            :_MAX_CANDIDATES
        ]

    def _score(self, likeness: Likeness, entity_id: str, sighting: Sighting) -> float:
        """Likeness of the name, a little more for shared company; never above a full match."""
        if not likeness.partial or not sighting.context:
            return likeness.score
        shared = len(self._companions.get(entity_id, set()) & sighting.context)
        return min(1.0, likeness.score + _CONTEXT_WEIGHT * min(shared, 2) / 2)

    def _create(self, sighting: Sighting, entity_id: str) -> Decision:
        entity = Entity(
            id=entity_id, bank=self._bank, name=sighting.name, type=sighting.type, first_seen=sighting.seen_at
        )
        if entity_id not in self._entities:
            self._add(entity, entity_keys(sighting.name))
        return Decision(entity_id=entity_id, score=1.0, reason="first seen", is_new=True)

    def _add(self, entity: Entity, keys: Iterable[str]) -> None:
        self._entities[entity.id] = entity
        for key in keys:
            self._under_key.setdefault(key, {})[entity.id] = None

    def _note(self, entity_id: str, sighting: Sighting, as_seen: Sighting) -> None:
        """Count the sighting, keep its wording as an alias and its company for the next decision."""
        entity = self._entities[entity_id]
        grown = _grow(entity, sighting, as_seen)
        self._entities[entity_id] = grown
        self._touched[entity_id] = None
        self._companions.setdefault(entity_id, set()).update(sighting.context)
        for name in (sighting.name, as_seen.name):
            if normal_name(name) not in self.by_name or self.by_name[normal_name(name)].id == entity_id:
                self.by_name[normal_name(name)] = grown
            for key in entity_keys(name):
                self._under_key.setdefault(key, {})[entity_id] = None


def _best_likeness(sighting: Sighting, entity: Entity) -> Likeness:
    """By the name that fits best; a full name that conflicts with any known one rules the entity out."""
    names = (entity.name, *entity.aliases)
    if "person" in (sighting.type, entity.type) and any(
        full_names_conflict(sighting.name, name) for name in names
    ):
        return compare("", "", sighting.type, entity.type)
    return max(
        (compare(sighting.name, name, sighting.type, entity.type) for name in names),
        key=lambda item: item.score,
    )


def _is_recent(entity: Entity, sighting: Sighting) -> bool:
    if entity.last_seen is None or sighting.seen_at is None:
        return True
    return abs(sighting.seen_at - entity.last_seen) <= _RECENT


def _grow(entity: Entity, sighting: Sighting, as_seen: Sighting) -> Entity:
    """Return the entity after one more sighting: a fuller name becomes its name, other wordings its aliases."""
    name = entity.name
    if entity.type == "person" and len(name_tokens(sighting.name)) > len(name_tokens(name)):
        name = sighting.name
    aliases = list(entity.aliases)
    normals = {normal_name(name), *(normal_name(alias) for alias in aliases)}
    for other in (entity.name, sighting.name, as_seen.name):
        if normal_name(other) not in normals and len(aliases) < _MAX_ALIASES:
            aliases.append(other)
            normals.add(normal_name(other))
    kind = sighting.type if entity.type == "concept" else entity.type
    return replace(
        entity,
        name=name,
        type=kind,
        aliases=tuple(alias for alias in aliases if normal_name(alias) != normal_name(name)),
        mentions=entity.mentions + 1,
        first_seen=_earlier(entity.first_seen, sighting.seen_at),
        last_seen=_later(entity.last_seen, sighting.seen_at),
    )


def _earlier(first: datetime | None, second: datetime | None) -> datetime | None:
    return min((moment for moment in (first, second) if moment is not None), default=None)


def _later(first: datetime | None, second: datetime | None) -> datetime | None:
    return max((moment for moment in (first, second) if moment is not None), default=None)
