"""Names of entities: one that only erased facts held is erased with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from perdure.domain.fact import Entity, Fact, without_entities
from perdure.domain.filter import Filter
from perdure.forget.scrub import Wordings, scrub
from perdure.ports.store import KeyedEntity, Reading, Selection, Store, Transaction
from perdure.text.names import keys_of_names, name_tokens
from perdure.text.terms import fold

FIRST_PAGE = 20
PAGE = 1_000
_EVERYTHING = Filter(include_closed=True, include_expired=True)
_WORD = re.compile(r"\w+")


def forget_names(
    store: Store, tx: Transaction, bank: str, erased: Mapping[str, Fact], wordings: Wordings
) -> None:
    """Count the erased facts' mentions down, and erase entities and names that no other fact holds.

    The erased facts are still stored; `wordings` are what they said. Members of an entity are read only until each of its
    names is known to stay.
    """
    lost = Counter(entity_id for fact in erased.values() for entity_id in set(fact.entity_ids))
    if not lost:
        return
    entities: list[KeyedEntity] = []
    changed: dict[str, Fact] = {}
    with store.reading(bank) as reading:
        for entity_id in lost:
            members = _Members(reading, tx, entity_id, erased.keys(), changed)
            if not any(members):
                tx.delete_entities([entity_id])
                continue
            for keyed in tx.entities(ids=[entity_id]):
                after = _without_lost_names(tx, keyed, lost[entity_id], members, erased, wordings, changed)
                if after is None:
                    tx.delete_entities([entity_id])
                else:
                    entities.append(after)
    tx.put_entities(entities)
    tx.update_facts(list(changed.values()))


class _Members:
    """The facts that mention an entity and stay, as they are in the transaction; read page by page, again each time."""

    def __init__(
        self,
        reading: Reading,
        tx: Transaction,
        entity_id: str,
        erased: Collection[str],
        changed: Mapping[str, Fact],
    ) -> None:
        self._reading, self._tx, self._entity_id, self._erased = reading, tx, entity_id, erased
        self._changed = changed

    def __iter__(self) -> Iterator[Fact]:
        # A reading sees what was committed, and nobody else writes while the transaction lasts.
        offset, limit = 0, FIRST_PAGE
        while True:
            page = self._reading.browse(
                Selection(where=_EVERYTHING, entity_id=self._entity_id, offset=offset, limit=limit)
            )
            for fact in self._tx.facts([fact.id for fact in page.facts if fact.id not in self._erased]):
                yield self._changed.get(fact.id, fact)
            offset += limit
            limit = PAGE
            if offset >= page.total:
                return


def _without_lost_names(
    tx: Transaction,
    keyed: KeyedEntity,
    lost: int,
    members: Iterable[Fact],
    erased: Mapping[str, Fact],
    wordings: Wordings,
    changed: dict[str, Fact],
) -> KeyedEntity | None:
    """The entity without the mentions and names that only erased facts held; None when it has no name left.

    Facts that called it by such a name go into `changed`.
    """
    entity = keyed.entity
    fewer = replace(entity, mentions=max(0, entity.mentions - lost))
    of_entity = [fact for fact in erased.values() if entity.id in fact.entity_ids]
    names = _NamesInFacts(tx)
    gone = names.only_of(entity, of_entity, members, wordings)
    if not gone:
        return KeyedEntity(fewer, keyed.keys)
    staying = list(members)
    left = [name for name in (entity.name, *entity.aliases) if name not in gone]
    name = entity.name if entity.name in left else names.fullest(entity.id, left, staying)
    for fact in staying:
        changed[fact.id] = _renamed(fact, entity.id, gone, name)
    if name is None:
        return None
    aliases = tuple(alias for alias in left if alias != name)
    return KeyedEntity(replace(fewer, name=name, aliases=aliases), keys_of_names(left))


class _NamesInFacts:
    """Which of an entity's names occur in facts."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._titles: dict[str, str] = {}

    def only_of(
        self, entity: Entity, erased: Sequence[Fact], staying: Iterable[Fact], wordings: Wordings
    ) -> set[str]:
        """The names that erased facts hold and no staying one does."""
        names = [entity.name, *entity.aliases]
        quoting = {name for name in names if scrub(name, wordings) != name}
        gone = quoting | {name for fact in erased for name in self._names_in(fact, entity.id, names)}
        if not gone:
            return gone
        for fact in staying:
            in_words = self._in_words(fact, names)
            gone -= in_words or self._names_in(fact, entity.id, names) - quoting
            if not gone:
                break
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
        title = self._title(fact.document_id)
        said = (fact.text, fact.source_text, fact.original_text or "", fact.speaker, fact.asked, title)
        text = _spaced(" ".join(said))
        return {name for name in names if _spaced(name) in text}

    def _title(self, document_id: str | None) -> str:
        if document_id is None:
            return ""
        if document_id not in self._titles:
            documents = self._tx.documents([document_id])
            self._titles[document_id] = documents[0].title if documents else ""
        return self._titles[document_id]


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
