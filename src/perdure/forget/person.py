"""Forgetting an entity: every statement and passage that mentions it goes, and its names with them.

What mentions it is a member of the entity or has one of its names. Statements that the caller keeps stay with `[removed]` in
the place of the name. Where the caller keeps another entity that has one of the names, what is about that one alone stays as
it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import FORGOTTEN, REMOVED, Chunk, Document, Entity, Fact, TurnSpan, without_entities
from perdure.domain.filter import Filter
from perdure.forget.vectors import contexts_without
from perdure.ports.store import (
    Features,
    KeyedEntity,
    Order,
    Rows,
    Selection,
    Store,
    Transaction,
)
from perdure.text.names import keys_of_names, name_tokens, normal_name
from perdure.text.own_words import own_terms
from perdure.text.signature import signature
from perdure.text.terms import fold, index_terms, plain_words

PAGE = 2_000
PERSON = "person"
_EVERYTHING = Filter(include_closed=True, include_expired=True)


class Names:
    """The names of an entity, to be found as whole words, in any case, with or without a genitive s.

    `exact` ones are found as they are spelled, as are names that are ordinary words ("Will").
    """

    def __init__(self, names: Iterable[str], exact: Iterable[str] = ()) -> None:
        named = frozenset(name for name in names if normal_name(name))
        words = {name for name in named if not index_terms(name)}
        self.exact = words | frozenset(exact)
        self.all = named | self.exact
        loose = _spelled({form for name in named - words for form in (name, fold(name))})
        self._name = re.compile(rf"(?<!\w)(?:(?i:{loose})|{_spelled(self.exact)})s?(?!\w)")
        self._sentence = re.compile(r"[^.!?\n]+[.!?]*")

    def in_text(self, text: str | None) -> bool:
        """Whether one of the names is in the text."""
        return bool(text) and self._name.search(text or "") is not None

    def is_name(self, text: str) -> bool:
        """Whether the text is one of the names."""
        return self._name.fullmatch(text.strip()) is not None

    def without(self, text: str) -> str:
        """Return the text with each name replaced."""
        return self._name.sub(REMOVED, text)

    def without_sentences(self, text: str, staying: Collection[str] = ()) -> str:
        """Return the text without the sentences that have a name; one that `staying` texts reach into loses the name only."""
        if not self.in_text(text):
            return text
        reached = [
            (at.start(), at.end()) for own in staying if own for at in re.finditer(re.escape(own), text)
        ]

        def erase(sentence: re.Match[str]) -> str:
            if not self.in_text(sentence[0]):
                return sentence[0]
            if any(start < sentence.end() and sentence.start() < end for start, end in reached):
                return self.without(sentence[0])
            blank = sentence[0][: len(sentence[0]) - len(sentence[0].lstrip())]
            return blank + FORGOTTEN

        return self.without(self._sentence.sub(erase, text))


def _spelled(names: Collection[str]) -> str:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(r"[\s_]+".join(map(re.escape, name.split())) for name in longest_first) or r"(?!)"


def names_of(entities: Collection[Entity], facts: Iterable[Fact], others: Collection[Entity]) -> Names:
    """Return the names of an entity, given with those of its parts: their own, and those under which facts mention them.

    The first name of a person counts too, as it is spelled, where nobody else has it.
    """
    ids = {entity.id for entity in entities}
    names = {name for entity in entities for name in (entity.name, *entity.aliases)}
    for fact in facts:
        pairs = zip(fact.entities, fact.entity_ids, strict=False)
        names |= {name for name, entity_id in pairs if entity_id in ids}
    first = {
        name.split()[0]
        for entity in entities
        for name in (entity.name, *entity.aliases)
        if entity.type == PERSON
        and len(name_tokens(name)) > 1
        and name_tokens(name)[0] == fold(name.split()[0])
    }
    taken = {name_tokens(other.name)[:1] for other in others if other.type == PERSON}
    return Names(names, {name for name in first if index_terms(name) and (fold(name),) not in taken})


def _short_forms(entity: Entity, others: Collection[Entity]) -> list[Entity]:
    """The entities whose name is the beginning of a person's: "Jonas" for "Jonas Brandt", unless another person begins so."""
    if entity.type != PERSON:
        return []
    tokens = name_tokens(entity.name)
    short = []
    for other in others:
        theirs = name_tokens(other.name)
        longer = [one for one in others if one.type == PERSON and len(name_tokens(one.name)) > len(theirs)]
        shared = any(name_tokens(one.name)[: len(theirs)] == theirs for one in longer)
        if theirs and theirs == tokens[: len(theirs)] and not shared:
            short.append(other)
    return short


@dataclass(frozen=True, slots=True)
class Person:
    """What mentions an entity."""

    entity: Entity
    ids: frozenset[str]
    """Its id, and those of entities that are called by the beginning of its name."""
    names: Names
    own_names: Names
    """Those that no entity has that is kept."""
    namesakes: Mapping[str, Entity]
    """Other entities that have one of the names."""
    spared: frozenset[str]
    """Those that are kept."""
    mentioning: tuple[Fact, ...]
    staying: tuple[Fact, ...]

    def owns(self, fact: Fact) -> Names:
        """The names that mean this entity in a fact."""
        alone = self.spared & set(fact.entity_ids) and not self.ids & set(fact.entity_ids)
        return self.own_names if alone else self.names


def find_person(
    store: Store, tx: Transaction, bank: str, entity_id: str, keep: Collection[str]
) -> Person | None:
    """Return an entity with everything that mentions it; None when there is no such entity and nothing is a member of it.

    `keep` may have ids of other entities that have one of its names.
    """
    facts = list(_all_facts(store, bank))
    entities = [keyed.entity for keyed in tx.entities()]
    entity = next((one for one in entities if one.id == entity_id), None)
    if entity is None and not any(entity_id in fact.entity_ids for fact in facts):
        return None
    entity = entity or Entity(id=entity_id, bank=bank, name="")
    others = [other for other in entities if other.id != entity_id and other.id not in keep]
    parts = [entity, *_short_forms(entity, others)]
    ids = frozenset(part.id for part in parts)
    names = names_of(parts, facts, [other for other in entities if other.id not in ids])
    namesakes = {
        other.id: other
        for other in entities
        if other.id != entity_id
        and (other.id in ids or any(names.in_text(name) for name in (other.name, *other.aliases)))
    }
    spared = frozenset(namesakes.keys() & set(keep))
    theirs = [name for one in spared for name in (namesakes[one].name, *namesakes[one].aliases)]
    own = Names(
        *(
            [name for name in group if not any(Names([name]).in_text(other) for other in theirs)]
            for group in (names.all - names.exact, names.exact)
        )
    )
    person = Person(entity, ids, names, own, namesakes, spared, (), ())
    mentioning = [fact for fact in facts if mentions(fact, ids, person.owns(fact))]
    gone = {fact.id for fact in mentioning}
    return replace(
        person, mentioning=tuple(mentioning), staying=tuple(fact for fact in facts if fact.id not in gone)
    )


def mentions(fact: Fact, ids: frozenset[str], names: Names) -> bool:
    """Whether a fact is about the entity or names it, in its words, as who said it or as what they are about."""
    named = (fact.text, fact.original_text, fact.speaker, fact.subject, fact.object)
    return (
        not ids.isdisjoint(fact.entity_ids)
        or any(map(names.in_text, named))
        or any(map(names.is_name, fact.entities))
    )


def _all_facts(store: Store, bank: str) -> Iterator[Fact]:
    # A reading sees what was committed, and nobody else writes while the transaction lasts.
    with store.reading(bank) as reading:
        offset = 0
        while True:
            page = reading.browse(
                Selection(where=_EVERYTHING, order=Order.OLDEST_RECORDED, offset=offset, limit=PAGE)
            )
            yield from page.facts
            offset += PAGE
            if offset >= page.total:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What was taken out beside the erased facts."""

    unembedded: frozenset[str]
    passages: tuple[str, ...]
    """Sentences that mentioned the entity and from which no fact was drawn."""
    chunk_ids: frozenset[str]


def redact_rest(tx: Transaction, person: Person, kept: Collection[str], erased: Collection[str]) -> Redacted:
    """Take the names out of what stays: kept statements, passages, titles, contexts, tags and entities."""
    candidates = [fact for fact in (*person.mentioning, *person.staying) if fact.id not in erased]
    stored = {fact.id: fact for fact in tx.facts([fact.id for fact in candidates])}
    by_document: dict[str, list[Fact]] = {}
    for fact in stored.values():
        by_document.setdefault(fact.document_id or "", []).append(fact)
    unembedded: set[str] = set()
    passages: list[str] = []
    chunk_ids: set[str] = set()
    documents = {document.id: document for document in tx.documents()}
    for document_id in dict.fromkeys(["", *documents, *by_document]):
        facts = by_document.get(document_id, [])
        stored_chunks = tx.chunks(document_id=document_id) if document_id else []
        spared = bool(facts) and all(person.owns(fact) is not person.names for fact in facts)
        names = person.own_names if spared else person.names
        texts = [fact.text for fact in facts]
        after = [_without_names(chunk, names, texts) for chunk in stored_chunks]
        changed = [(old, new) for old, new in zip(stored_chunks, after, strict=True) if old.text != new.text]
        passages += [text for old, _ in changed for text in _passages(old.text, names, texts)]
        chunk_ids |= {old.id for old, _ in changed}
        tx.put_chunks([new for old, new in zip(stored_chunks, after, strict=True) if old != new])
        if document_id in documents:
            document = _document_without(documents[document_id], names)
            tx.put_documents([document] if document != documents[document_id] else [])
        unembedded |= redact_facts(
            tx,
            {fact.id: person.owns(fact) for fact in facts},
            facts,
            {chunk.id: chunk for chunk in after},
            kept,
        )
        members = [fact.id for fact in facts if person.ids & set(fact.entity_ids)]
        tx.update_facts([without_entities(fact, person.ids) for fact in tx.facts(members)])
    _redact_entities(tx, person)
    return Redacted(
        unembedded=frozenset(unembedded), passages=tuple(passages), chunk_ids=frozenset(chunk_ids)
    )


def _passages(text: str, names: Names, staying: Sequence[str]) -> list[str]:
    parts = [part.strip() for part in re.findall(r"[^.!?\n]+[.!?]*", text) if FORGOTTEN not in part]
    return [part for part in parts if names.in_text(part) and not any(own in part for own in staying)]


def _without_names(chunk: Chunk, names: Names, staying: Sequence[str]) -> Chunk:
    """The chunk without the names, and without turns that the entity said."""
    text, at = "", 0
    spans: list[TurnSpan] = []
    for span in chunk.spans:
        text += names.without_sentences(chunk.text[at : span.start], [chunk.text[at : span.start]])
        said = chunk.text[span.start : span.end]
        is_theirs = names.in_text(span.speaker)
        start = len(text)
        is_kept = any(own in said for own in staying)
        text += FORGOTTEN if is_theirs and not is_kept else names.without_sentences(said, staying)
        speaker = names.without(span.speaker)
        spans.append(replace(span, start=start, end=len(text), speaker=speaker))
        at = span.end
    text += names.without_sentences(chunk.text[at:], staying)
    return chunk if text == chunk.text else replace(chunk, text=text, spans=tuple(spans))


def _document_without(document: Document, names: Names) -> Document:
    return replace(
        document,
        title=names.without(document.title),
        context=names.without_sentences(document.context),
        tags=frozenset(tag for tag in document.tags if not names.in_text(tag)),
        metadata=_metadata_without(document.metadata, names),
    )


def _metadata_without(metadata: Mapping[str, str], names: Names) -> dict[str, str]:
    return {key: names.without(value) for key, value in metadata.items() if not names.in_text(key)}


def _fact_without(fact: Fact, names: Names, *, is_kept: bool) -> Fact:
    def optional(value: str | None) -> str | None:
        return value and names.without(value)

    return replace(
        fact,
        text=names.without(fact.text) if is_kept else fact.text,
        source_text=names.without_sentences(fact.source_text, [fact.text]),
        original_text=fact.original_text and names.without_sentences(fact.original_text, [fact.text]),
        asked=names.without_sentences(fact.asked),
        context=names.without_sentences(fact.context),
        speaker=names.without(fact.speaker),
        listener="" if names.in_text(fact.listener) else fact.listener,
        subject=optional(fact.subject),
        object=optional(fact.object),
        topic=optional(fact.topic),
        invalid_reason=optional(fact.invalid_reason),
        dates=tuple((names.without(words), date) for words, date in fact.dates),
        entities=tuple(map(names.without, fact.entities)),
        tags=frozenset(tag for tag in fact.tags if not names.in_text(tag)),
        metadata=_metadata_without(fact.metadata, names),
    )


def redact_facts(
    tx: Transaction,
    names: Mapping[str, Names],
    facts: Sequence[Fact],
    chunks: Mapping[str, Chunk],
    kept: Collection[str] = (),
) -> set[str]:
    """Take names out of the facts of a document and what they are found by; returns those that lost their vectors.

    The text of a fact changes only if it is among `kept`.
    """
    features = tx.features([fact.id for fact in facts])
    after: dict[str, Fact] = {}
    found_by: dict[str, Features] = {}
    unembedded: set[str] = set()
    for fact in facts:
        own = features[fact.id]
        redacted = _fact_without(fact, names[fact.id], is_kept=fact.id in kept)
        redacted_features = _features_without(redacted, own, names[fact.id])
        if redacted.text != fact.text or redacted_features.passage != own.passage:
            unembedded.add(fact.id)
            redacted_features = replace(redacted_features, vectors={}, signature=signature(redacted.text))
        if _states_other(fact, redacted):
            redacted_features = replace(redacted_features, dedupe_key="")
        after[fact.id], found_by[fact.id] = redacted, redacted_features
    for fact_id, vector in contexts_without(unembedded, facts, found_by, chunks).items():
        views = found_by[fact_id].vectors
        found_by[fact_id] = replace(found_by[fact_id], vectors={**views, "context": vector})
    tx.update_facts([after[fact.id] for fact in facts if after[fact.id] != fact])
    tx.put_features({one: own for one, own in found_by.items() if own is not features[one]})
    return unembedded


def _states_other(before: Fact, after: Fact) -> bool:
    """Whether the key that finds duplicates was made from words that went."""
    return (before.text, before.asked, before.speaker, before.tags) != (
        after.text,
        after.asked,
        after.speaker,
        after.tags,
    )


def _features_without(fact: Fact, features: Features, names: Names) -> Features:
    """The features without what only the names brought in; the same object when they hold none of it."""
    passage = names.without_sentences(features.passage, [fact.text])
    in_context = names.without_sentences(features.passage_in_context, [fact.text])
    spelled = " ".join(names.all)
    doubtful = {term: weight for term, weight in features.terms.items() if term in index_terms(spelled)}
    own = own_terms(fact, doubtful, fact.context, passage, in_context) if doubtful else {}
    words_of_names = set(plain_words(spelled)) & set(features.words)
    if words_of_names:
        words_of_names -= set(plain_words(f"{passage or fact.text} {fact.source_text}"))
    if (passage, in_context) == (features.passage, features.passage_in_context) and not (
        doubtful.keys() - own.keys() or words_of_names
    ):
        return features
    return replace(
        features,
        passage=passage,
        passage_in_context=in_context,
        terms={
            term: weight for term, weight in features.terms.items() if term not in doubtful or term in own
        },
        words=tuple(word for word in features.words if word not in words_of_names),
    )


def _redact_entities(tx: Transaction, person: Person) -> None:
    """Delete the entity, and take its names out of those of others."""
    names = person.own_names
    changed: list[KeyedEntity] = []
    for keyed in tx.entities():
        entity = keyed.entity
        if entity.id in person.ids or not any(map(names.in_text, (entity.name, *entity.aliases))):
            continue
        aliases = tuple(alias for alias in entity.aliases if not names.in_text(alias))
        redacted = replace(entity, name=names.without(entity.name), aliases=aliases)
        changed.append(KeyedEntity(redacted, keys_of_names((redacted.name, *aliases))))
    tx.delete_entities(sorted(person.ids))
    tx.put_entities(changed)


def redact_records(tx: Transaction, names: Names, kinds: Iterable[str]) -> None:
    """Take names out of the bank's records of these kinds; a record with a name as its id goes."""
    for kind in kinds:
        for record in tx.records(kind):
            if names.in_text(record.id):
                tx.delete_records(kind, [record.id])
                continue
            body = {key: _plain_without(value, names) for key, value in record.body.items()}
            if body != record.body:
                tx.put_records([replace(record, body=body)])


def _plain_without(value: object, names: Names) -> object:
    if isinstance(value, str):
        return names.without(value)
    if isinstance(value, Mapping):
        return {key: _plain_without(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain_without(one, names) for one in value]
    return value


def count_mentions(store: Store, bank: str, names: Names, kinds: Iterable[str]) -> int:
    """Return how many stored texts have one of the names: facts, passages, documents, entities and records of `kinds`."""
    found = sum(map(names.in_text, _fact_texts(_all_facts(store, bank))))
    with store.reading(bank) as rows:
        found += sum(map(names.in_text, _other_texts(rows)))
        for kind in kinds:
            for record in rows.records(kind):
                found += names.in_text(record.id) or _plain_without(record.body, names) != record.body
    return found


def _fact_texts(facts: Iterable[Fact]) -> Iterator[str | None]:
    for fact in facts:
        yield from (fact.text, fact.source_text, fact.original_text, fact.asked, fact.context, fact.topic)
        yield from (fact.speaker, fact.listener, fact.subject, fact.object, fact.invalid_reason)
        yield from (*fact.entities, *fact.tags, *fact.metadata, *fact.metadata.values())


def _other_texts(rows: Rows) -> Iterator[str]:
    for document in rows.documents():
        yield from (document.title, document.context, *document.tags)
        yield from (*document.metadata, *document.metadata.values())
        for chunk in rows.chunks(document_id=document.id):
            yield from (chunk.text, *(span.speaker for span in chunk.spans))
    for keyed in rows.entities():
        yield from (keyed.entity.name, *keyed.entity.aliases)
