"""Names of entities: one that only erased facts held is erased with them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from perdure.domain.fact import Entity, Fact, without_entities
from perdure.forget.scrub import Wordings, scrub
from perdure.ports.store import FactsWhere, KeyedEntity, Transaction
from perdure.text.names import keys_of_names, name_tokens
from perdure.text.terms import fold

_WORD = re.compile(r"\w+")


def forget_names(tx: Transaction, erased: Mapping[str, Fact], wordings: Wordings) -> None:
    """Count the erased facts' mentions down, and erase entities and names that no other fact holds.

    The erased facts are still stored; `wordings` are what they said.
    """
    lost = Counter(entity_id for fact in erased.values() for entity_id in set(fact.entity_ids))
    members: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in tx.find_facts(FactsWhere(entity_ids=list(lost))) if lost else ():
        if fact.id not in erased:
            for entity_id in lost.keys() & set(fact.entity_ids):
                members[entity_id].append(fact)
    tx.delete_entities([entity_id for entity_id in lost if entity_id not in members])
    names = _NamesInFacts(tx, [*erased.values(), *(fact for facts in members.values() for fact in facts)])
    entities: list[KeyedEntity] = []
    changed: dict[str, Fact] = {}
    for keyed in tx.entities(ids=list(members)):
        entity = keyed.entity
        fewer = replace(entity, mentions=max(0, entity.mentions - lost[entity.id]))
        of_entity = [fact for fact in erased.values() if entity.id in fact.entity_ids]
        gone = names.only_of(entity, of_entity, members[entity.id], wordings)
        if not gone:
            entities.append(KeyedEntity(fewer, keyed.keys))
            continue
        left = [name for name in (entity.name, *entity.aliases) if name not in gone]
        name = entity.name if entity.name in left else names.fullest(entity.id, left, members[entity.id])
        for fact in members[entity.id]:
            changed[fact.id] = _renamed(changed.get(fact.id, fact), entity.id, gone, name)
        if name is None:
            tx.delete_entities([entity.id])
        else:
            aliases = tuple(alias for alias in left if alias != name)
            entities.append(KeyedEntity(replace(fewer, name=name, aliases=aliases), keys_of_names(left)))
    tx.put_entities(entities)
    tx.update_facts(list(changed.values()))


class _NamesInFacts:
    """Which of an entity's names occur in facts."""

    def __init__(self, tx: Transaction, facts: Iterable[Fact]) -> None:
        documents = dict.fromkeys(fact.document_id for fact in facts if fact.document_id is not None)
        self._titles = {document.id: document.title for document in tx.documents(list(documents))}

    def only_of(
        self, entity: Entity, erased: Sequence[Fact], staying: Sequence[Fact], wordings: Wordings
    ) -> set[str]:
        """The names that erased facts hold and no staying one does."""
        names = [entity.name, *entity.aliases]
        quoting = {name for name in names if scrub(name, wordings) != name}
        gone = quoting | {name for fact in erased for name in self._names_in(fact, entity.id, names)}
        for fact in staying:
            if not gone:
                break
            in_words = self._in_words(fact, names)
            gone -= in_words or self._names_in(fact, entity.id, names) - quoting
        return gone

    def fullest(self, entity_id: str, names: Sequence[str], facts: Sequence[Fact]) -> str | None:
        """The name of most words that one of the facts holds, or else any."""
        in_facts = {name for fact in facts for name in self._names_in(fact, entity_id, names)}
        chosen = [name for name in names if name in in_facts] or names
        return max(chosen, key=lambda name: len(name_tokens(name)), default=None)

    def _names_in(self, fact: Fact, entity_id: str, names: Sequence[str]) -> set[str]:
        """The names in the fact's words; where there is none (the caller named the entity), the one stored with the fact."""
        in_words = self._in_words(fact, names)
        if in_words or len(fact.entities) != len(fact.entity_ids):
            return in_words or set(names)
        return {fact.entities[fact.entity_ids.index(entity_id)]} & set(names)

    def _in_words(self, fact: Fact, names: Sequence[str]) -> set[str]:
        title = self._titles.get(fact.document_id or "", "")
        said = (fact.text, fact.source_text, fact.original_text or "", fact.speaker, fact.asked, title)
        text = _spaced(" ".join(said))
        return {name for name in names if _spaced(name) in text}


def _spaced(text: str) -> str:
    """The text's words in lower case without accents, each between blanks."""
    return f" {' '.join(fold(word) for word in _WORD.findall(text))} "


def _renamed(fact: Fact, entity_id: str, gone: Collection[str], name: str | None) -> Fact:
    """The fact with the entity's name in place of one that is gone; without the entity when it has no name left."""
    if name is None:
        return without_entities(fact, [entity_id])
    lost = {one.casefold() for one in gone}

    def rename(value: str) -> str:
        return name if value.casefold() in lost else value

    ids = (*fact.entity_ids, *[""] * len(fact.entities))
    return replace(
        fact,
        entities=tuple(
            rename(one) if at == entity_id else one for one, at in zip(fact.entities, ids, strict=False)
        ),
        subject=fact.subject and rename(fact.subject),
        object=fact.object and rename(fact.object),
    )
