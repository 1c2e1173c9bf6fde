"""Curation: changes that a person makes to what memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from perdure.domain.fact import Entity, Fact, FactType, Tier
from perdure.domain.filter import Filter
from perdure.domain.item import check_tags, check_text
from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput, NotFound
from perdure.manage import entities as regroup
from perdure.manage.validation import checked
from perdure.ports.store import Closure, NewFact, Selection, WriteBatch
from perdure.retain.dedupe import dedupe_key
from perdure.retain.features import restate_features
from perdure.retain.identity import digest
from perdure.retain.parts import RetainComponents

_EVERY = 1_000_000
_FIXED = frozenset(
    [
        "id",
        "bank",
        "document_id",
        "chunk_id",
        "ordinal",
        "source_text",
        "recorded_at",
        "superseded_by",
        "entities",
        "entity_ids",
        "recall_count",
        "last_recalled_at",
        "recall_times",
        "proof_count",
        "source_fact_ids",
    ]
)
CHANGEABLE = frozenset(f.name for f in fields(Fact)) - _FIXED


def update_fact(parts: RetainComponents, fact: Fact, changes: Mapping[str, Any]) -> Fact:
    """The fact with its fields changed; a new text closes it and states it anew, so that history is kept."""
    given = {name: _value(name, value) for name, value in changes.items()}
    try:
        changed = replace(fact, **given)
    except TypeError as error:
        raise InvalidInput(", ".join(sorted(given)), "values of the fields' types") from error
    checked(changed)
    if changed.text == fact.text:
        reopened = [fact.id] if fact.retired_at is not None and changed.retired_at is None else []
        parts.store.write(WriteBatch(bank=fact.bank, updates=[changed], reopened=reopened))
        return changed
    return _restate(parts, fact, changed, parts.clock())


def _restate(parts: RetainComponents, old: Fact, changed: Fact, now: datetime) -> Fact:
    new_id = digest(old.bank, "edit", old.id, changed.text, now.isoformat())
    new = replace(changed, id=new_id, recorded_at=now, retired_at=None, superseded_by=None)
    features = restate_features(new, dedupe_key(new), parts.embedder, parts.late)
    receipt = parts.store.write(
        WriteBatch(
            bank=old.bank,
            model=parts.embedder.model if parts.embedder is not None else None,
            facts=[NewFact(new, features)],
            closures=[Closure(fact_id=old.id, retired_at=now)],
        )
    )
    holder = parts.store.facts(old.bank, [receipt.merged.get(new_id, new_id)])
    return holder[0] if holder else new


def _value(name: str, value: Any) -> Any:
    if name not in CHANGEABLE:
        raise InvalidInput(name, "one of " + ", ".join(sorted(CHANGEABLE)))
    if name == "text":
        check_text(name, value)
    if name.endswith(("_at", "_from", "_to", "_start", "_end")):
        return parse_instant(value, name)
    if name == "type":
        return _member(FactType, name, value)
    if name == "tier":
        return _member(Tier, name, value)
    if name in ("tags", "emotion_tags", "flags"):
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidInput(name, "a list of texts", value)
        if name != "tags":
            return tuple(value)
        tags = tuple(value)
        check_tags(tags)
        return frozenset(tags)
    return value


def _member(kind: type[FactType] | type[Tier], name: str, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidInput(name, "one of " + ", ".join(kind), value) from error


def merge_entities(parts: RetainComponents, bank: str, keep: str, absorb: str) -> Entity:
    """Facts of `absorb` come to `keep`, whose aliases grow by the other's names."""
    kept, absorbed = _entity(parts, bank, keep), _entity(parts, bank, absorb)
    change = regroup.merge_entities(kept, absorbed, _facts_of(parts, bank, absorb))
    parts.store.write(change.batch(bank))
    return change.entities[0].entity


def split_entity(
    parts: RetainComponents, bank: str, entity_id: str, name: str, fact_ids: Sequence[str]
) -> Entity:
    """A new entity of that name takes over the given facts' mentions; with none given, those that use the name."""
    check_text("name", name)
    source = _entity(parts, bank, entity_id)
    new_id = digest(bank, "entity", name, entity_id, parts.clock().isoformat())
    facts = _facts_of(parts, bank, entity_id)
    change = regroup.split_entity(source, facts, name=name, new_id=new_id, fact_ids=fact_ids)
    parts.store.write(change.batch(bank))
    return next(keyed.entity for keyed in change.entities if keyed.entity.id == new_id)


def _entity(parts: RetainComponents, bank: str, entity_id: str) -> Entity:
    found = parts.store.entities(bank, ids=[entity_id])
    if not found:
        raise NotFound("entity", entity_id)
    return found[0].entity


def _facts_of(parts: RetainComponents, bank: str, entity_id: str) -> list[Fact]:
    wanted = Filter(now=parts.clock(), any_time=True, include_expired=True)
    page = parts.store.browse(bank, Selection(wanted=wanted, entity_id=entity_id, limit=_EVERY))
    return list(page.facts)
