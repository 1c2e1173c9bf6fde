"""Curation: changes of facts by a user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_type_hints

from perdure.domain.fact import RESTATED, RESTATED_AS, Document, Entity, Fact
from perdure.domain.item import check_tags, check_text
from perdure.domain.plain import from_plain
from perdure.domain.record import Record
from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput, NotFound
from perdure.guard import mask_secrets
from perdure.history import is_corrected
from perdure.ports.store import FactsWhere, NewFact, Rows, Transaction, raise_damaged
from perdure.retain.commit import Closure, FactChanges, apply_changes
from perdure.retain.components import RetainComponents
from perdure.retain.entities import keyed
from perdure.retain.features import features_of_edited
from perdure.retain.identity import digest, new_fact_id
from perdure.retain.masking import masks_secrets
from perdure.text.names import normal_name

_TEXTS = ("text", "context", "original_text")
_FIXED = frozenset(
    """
    id bank document_id chunk_id ordinal source_text listener asked dates entities entity_ids proof_count
    recorded_at end_recorded_at superseded_by invalidated_at invalid_reason source_fact_ids
    recall_count last_recalled_at recall_times
    """.split()
)
_FIELD_TYPES = get_type_hints(Fact)
CHANGEABLE = frozenset(_FIELD_TYPES) - _FIXED


def update_fact(components: RetainComponents, bank: str, fact_id: str, changes: Mapping[str, object]) -> Fact:
    """Return the fact with changed fields; a new text supersedes it by a correction, so that history is kept.

    `valid_to` None removes an end that another fact set.
    """
    values: dict[str, Any] = {name: _value(name, value) for name, value in changes.items()}
    if masks_secrets(components.store, bank):
        values |= {name: mask_secrets(values[name]).text for name in _TEXTS if values.get(name)}
    with components.store.reading(bank) as reading:
        fact = _fact(reading, fact_id)
    if values.get("text", fact.text) != fact.text:
        return _restate(components, fact, replace(fact, **_following(fact, values), **values))
    return _edit(components, bank, fact_id, lambda stored: replace(stored, **values))


def invalidate_fact(components: RetainComponents, bank: str, fact_id: str, reason: str | None = None) -> Fact:
    """Declare a fact wrong and retire it. What it had superseded opens again."""
    if reason is not None:
        check_text("reason", reason)
    now = components.clock()

    return _edit(components, bank, fact_id, lambda fact: _declared_wrong(fact, now, reason))


def _declared_wrong(fact: Fact, now: datetime, reason: str | None) -> Fact:
    retired_at = fact.retired_at or max(now, fact.recorded_at or now)
    return replace(fact, retired_at=retired_at, invalidated_at=now, invalid_reason=reason)


def restore_fact(components: RetainComponents, bank: str, fact_id: str) -> Fact:
    """Take back that a fact is wrong, and close again what it had superseded.

    A fact that a newer one corrected or ended stays closed, and cannot be restored.
    """
    with components.store.transaction(bank) as tx:
        fact = _fact(tx, fact_id)
        ended = fact.retired_at is None and fact.superseded_by is not None
        restored = (
            fact if ended or is_corrected(tx, fact) else _change(tx, fact, replace(fact, retired_at=None))
        )
        if ended or restored.retired_at is not None:
            raise InvalidInput("state", "a fact that no newer one superseded", restored.superseded_by)
        return restored


def _edit(components: RetainComponents, bank: str, fact_id: str, change: Callable[[Fact], Fact]) -> Fact:
    """Change a stored fact, read and written in one transaction."""
    with components.store.transaction(bank) as tx:
        fact = _fact(tx, fact_id)
        return _change(tx, fact, change(fact))


def _change(tx: Transaction, fact: Fact, changed: Fact) -> Fact:
    """Write a changed fact; clear what no longer applies if it is believed again or has no end any more."""
    believed_again = fact.retired_at is not None and changed.retired_at is None
    if believed_again:
        changed = replace(changed, invalidated_at=None, invalid_reason=None)
    endless = fact.end_recorded_at is not None and changed.valid_to is None
    if endless:
        changed = replace(changed, end_recorded_at=None)
    reopened = [fact.id] if believed_again or endless else []
    apply_changes(tx, FactChanges(bank=fact.bank, updates=[changed], reopened=reopened))
    return _fact(tx, fact.id)


def _following(fact: Fact, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what follows from a new text for fields that were read from the old one.

    A value that other words replaced becomes these; one that the text no longer has goes with its relation.
    Entities that only the old text names are removed.
    """
    text = values["text"]
    changed: dict[str, Any] = {}
    if fact.relation and not {"subject", "object", "relation"} & values.keys():
        changed = _relation_in(fact, text)
    left = [
        (name, entity_id)
        for name, entity_id in zip(fact.entities, fact.entity_ids, strict=True)
        if _names(text, name) or not _names(fact.text, name)
    ]
    return changed | {
        "asked": "",
        "dates": tuple(pair for pair in fact.dates if pair[0] in text),
        "entities": tuple(name for name, _ in left),
        "entity_ids": tuple(entity_id for _, entity_id in left),
    }


def _relation_in(fact: Fact, text: str) -> dict[str, Any]:
    """Return what a new text changes of a fact's relation.

    It stays where the text has everything that the old one had of its subject and object, and at least one of them.
    """
    told = [part for part in (fact.subject, fact.object) if part and _names(fact.text, part)]
    if told and all(_names(text, part) for part in told):
        return {}
    if (
        fact.object
        and fact.object in told
        and (not fact.subject or fact.subject not in told or _names(text, fact.subject))
    ):
        value = _in_place_of(fact.object, fact.text, text)
        if value:
            return {"object": value}
    return {"subject": None, "relation": None, "object": None}


def _names(text: str, name: str) -> bool:
    return f" {normal_name(name)} " in f" {normal_name(text)} "


def _in_place_of(value: str, old: str, new: str) -> str:
    """Return the words that replaced a value in a new text; empty if more than that changed."""
    before, same, behind = old.partition(value)
    fits = bool(same) and new.startswith(before) and new.endswith(behind)
    return new[len(before) : len(new) - len(behind)].strip() if fits else ""


def _restate(components: RetainComponents, old: Fact, changed: Fact) -> Fact:
    """State a fact anew in other words. The old fact is invalidated, and stays so if the new one is erased.

    An end that another fact set stays, and the new fact ends what the old one had ended.
    """
    now = components.clock()
    new = replace(
        changed,
        id=new_fact_id(now, 0, old.bank, "edit", old.id, changed.text),
        recorded_at=now,
        retired_at=None,
        end_recorded_at=None,
        superseded_by=None,
        invalidated_at=None,
        invalid_reason=None,
    )
    features = features_of_edited(new, components.embedder)
    with components.store.transaction(old.bank) as tx:
        stored = _fact(tx, old.id)
        if stored.is_ended and new.valid_to is not None:
            new = replace(new, end_recorded_at=stored.end_recorded_at, superseded_by=stored.superseded_by)
        receipt = apply_changes(
            tx,
            FactChanges(
                bank=old.bank,
                model=components.embedder.model if components.embedder is not None else None,
                facts=[NewFact(new, features)],
                updates=[_declared_wrong(stored, now, stored.invalid_reason or RESTATED)],
                closures=[Closure(fact_id=old.id, retired_at=now, superseded_by=new.id)],
            ),
        )
        stated = receipt.merged.get(new.id, new.id)
        tx.put_records([Record(kind=RESTATED_AS, id=old.id, bank=old.bank, body={"fact": stated})])
        return _fact(tx, stated)


def _value(name: str, value: object) -> object:
    if name not in CHANGEABLE:
        raise InvalidInput(name, "one of " + ", ".join(sorted(CHANGEABLE)))
    if name == "text":
        check_text(name, value)
    if name == "tags":
        check_tags(value)
    kind: Any = _FIELD_TYPES[name]
    if kind == datetime | None:
        return parse_instant(value, name)
    try:
        return from_plain(kind, value)
    except InvalidInput as error:
        raise error.renamed(name) from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, "a value that JSON has", value) from error


def retag_document(
    components: RetainComponents, bank: str, document_id: str, tags: Sequence[str]
) -> Document:
    """Replace the tags of the document and of all facts extracted from it, closed ones too."""
    check_tags(tags)
    with components.store.transaction(bank) as tx:
        stored = tx.documents([document_id])
        if not stored:
            raise NotFound("document", document_id)
        document = replace(stored[0], tags=frozenset(tags), updated_at=components.clock())
        facts = tx.find_facts(FactsWhere(document_ids=[document_id]))
        retagged = [replace(fact, tags=document.tags) for fact in facts]
        apply_changes(tx, FactChanges(bank=bank, documents=[document], updates=retagged))
    return document


def set_fact_entities(
    components: RetainComponents, bank: str, fact_id: str, names: Sequence[str], resolve: bool = True
) -> Fact:
    """Replace the entities of a fact; without `resolve` a name means the entity of exactly that name."""
    now = components.clock()
    with components.store.transaction(bank) as tx:
        fact = _fact(tx, fact_id)
        named = [_entity_of_name(tx, bank, name, resolve, now) for name in names]
        chosen = {entity.id: entity for entity in named}
        added = [
            replace(entity, mentions=entity.mentions + 1, last_seen=now)
            for entity in chosen.values()
            if entity.id not in fact.entity_ids
        ]
        dropped = [
            replace(one.entity, mentions=max(one.entity.mentions - 1, 0))
            for one in tx.entities(ids=[e for e in fact.entity_ids if e not in chosen])
        ]
        mentioning = replace(
            fact, entities=tuple(entity.name for entity in chosen.values()), entity_ids=tuple(chosen)
        )
        entities = [keyed(entity) for entity in (*added, *dropped)]
        apply_changes(tx, FactChanges(bank=bank, updates=[mentioning], entities=entities))
        return _fact(tx, fact_id)


def _entity_of_name(rows: Rows, bank: str, name: str, resolve: bool, now: datetime) -> Entity:
    check_text("entities", name)
    key = normal_name(name)
    if not key:
        raise InvalidInput("entities", "names with at least one letter or digit", name)
    under_key = [one.entity for one in rows.entities(keys=[key])]
    same = [entity for entity in under_key if key in map(normal_name, (entity.name, *entity.aliases))]
    if not resolve:
        same = [entity for entity in same if entity.name == name]
    elif not same and len(under_key) == 1:
        same = under_key
    if same:
        return same[0]
    entity_id = digest(bank, "entity", key)
    if any(entity.id == entity_id for entity in under_key):
        entity_id = digest(bank, "entity", "exact", name)
    return Entity(id=entity_id, bank=bank, name=name, first_seen=now, last_seen=now)


def _fact(rows: Rows, fact_id: str) -> Fact:
    for fact in rows.facts([fact_id]):
        return fact
    raise_damaged(rows)
    raise NotFound("fact", fact_id)
