"""Reads of one bank's rows, shared by readings, transactions and feeds of every SQL database.

Statements are written once, with `?` for each value, in SQL that SQLite and PostgreSQL both take.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from perdure.domain.bank import Bank
from perdure.domain.damage import Damage
from perdure.domain.fact import (
    Chunk,
    Document,
    Entity,
    Fact,
    FactType,
    Link,
    LinkKind,
    RankingFields,
    TurnSpan,
    event_date,
)
from perdure.domain.record import Record
from perdure.errors import StoreCorrupt
from perdure.ports.embedder import Vector
from perdure.ports.store import BankStats, FactsWhere, Features, KeyedEntity, Passage, Proof
from perdure.stores.index.packing import LinkEnd
from perdure.stores.sql import checksums, columns
from perdure.stores.sql.columns import T, U, Values, batches, placeholders

UNREADABLE, ALTERED = "cannot be read", "is not what was written: its checksum differs"
"""How damage is described."""
_FACT_JOIN = "fact JOIN {0} ON {0}.bank = fact.bank AND {0}.fact = fact.no WHERE fact.bank = ?"
"""Facts with their rows of another table."""
FACT = f"SELECT no, {columns.names(columns.FACT_ROW)}, checksum FROM fact WHERE bank = ?"
FACT_LISTS = (
    "SELECT fact, ordinal, entity_id, name FROM fact_entity WHERE bank = ?",
    "SELECT fact, tag FROM fact_tag WHERE bank = ?",
    "SELECT fact, ordinal, source_id FROM fact_source WHERE bank = ?",
)
"""What a fact mentions, its tags and its sources."""
_FEATURES = f"SELECT id, no, {columns.names(columns.FEATURES)} FROM {_FACT_JOIN.format('fact_features')}"
_PROOF = (
    f"SELECT no, proof.ordinal, id, {columns.names(columns.PROOF, 'proof')} FROM {_FACT_JOIN.format('proof')}"
)
_LINK = "SELECT source, target, kind, weight FROM link WHERE bank = ?"
BANK = f"SELECT {columns.names(columns.BANK + columns.DISPOSITION)}, model, dimensions FROM bank"
_LINK_KINDS = {str(kind): kind for kind in LinkKind}
_FACT_TYPES = {str(kind): kind for kind in FactType}
_OPEN = "retired_at IS NULL AND end_recorded_at IS NULL"
"""`Fact.is_open`."""
Select = Callable[..., list[Values]]
"""Takes a query and its values, returns all rows."""


class BankRows(ABC):
    """Reads rows of the bank `bank_no`; a bank that does not exist has the number 0 and no rows.

    A row that cannot be read, or is not what was written, is left out and listed by `damaged`.
    """

    def __init__(self, bank_id: str, bank_no: int) -> None:
        self.bank_id = bank_id
        self.bank_no = bank_no
        self._damage: dict[tuple[str, str], Damage] = {}

    def damaged(self) -> tuple[Damage, ...]:
        return tuple(self._damage.values())

    def _note_damage(self, kind: str, name: str, problem: str) -> None:
        self._damage[kind, name] = Damage(kind=kind, name=name, problem=problem, bank=self.bank_id)

    @abstractmethod
    def _select(self, query: str, *parameters: object) -> list[Values]:
        """Return all rows of a query."""

    @abstractmethod
    def containing(self, text: str) -> list[int]:
        """Return numbers of the facts whose text contains a text, in any case (`str.casefold`)."""

    @abstractmethod
    def _bytes_on_disk(self) -> int:
        """Return size of the whole database."""

    def _of_bank(self, query: str, *parameters: object) -> list[Values]:
        """Return rows of a query whose first parameter is the bank."""
        return self._select(query, self.bank_no, *parameters)

    def _where(
        self, query: str, column: str, values: Iterable[object] | None, *parameters: object
    ) -> Iterator[Values]:
        """Return rows of a query on the bank, with one of the values in a column; None selects all."""
        if values is None:
            yield from self._of_bank(query, *parameters)
        else:
            for batch in batches(values):
                condition, batch_parameters = self._any(column, batch)
                try:
                    rows = self._select(
                        f"{query} AND {condition}", self.bank_no, *parameters, *batch_parameters
                    )
                except Exception as error:
                    if not self._is_damage(error):
                        raise
                    rows = self._one_by_one(query, column, batch, parameters)
                yield from rows

    def _any(self, column: str, values: Sequence[object]) -> tuple[str, Sequence[object]]:
        """Return the condition that a column has one of the values, and what it is given."""
        return f"{column} IN ({placeholders(values)})", values

    def _is_damage(self, error: Exception) -> bool:
        """Return whether an error means damage, so that other rows may still be read."""
        return isinstance(error, StoreCorrupt | UnicodeDecodeError)

    def _one_by_one(
        self, query: str, column: str, values: Sequence[object], parameters: Sequence[object]
    ) -> list[Values]:
        """Return the rows of those values whose rows can be read."""
        rows: list[Values] = []
        for value in values:
            try:
                rows += self._of_bank(f"{query} AND {column} = ?", *parameters, value)
            except Exception as error:
                if not self._is_damage(error):
                    raise
                self._note_damage(*_named(query, column, value), UNREADABLE)
        return rows

    def _built(self, kind: str, rows: Iterable[Values], build: Callable[[Values], T]) -> dict[str, T]:
        """Return id -> object of its row, which begins with the id, without rows that cannot be read."""
        built: dict[str, T] = {}
        for row in rows:
            try:
                built[row[0]] = build(row)
            except (ValueError, TypeError, KeyError, AttributeError):
                self._note_damage(kind, str(row[0]), UNREADABLE)
        return built

    def bank(self) -> Bank | None:
        rows = self._of_bank(f"{BANK} WHERE no = ?")
        return columns.read_bank(rows[0]) if rows else None

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        facts = {fact.id: fact for fact in self._facts("id", ids).values()}
        return [facts[fact_id] for fact_id in ids if fact_id in facts]

    def facts_by_number(self, numbers: Sequence[int]) -> dict[int, Fact]:
        """Return number -> fact, in the order of the numbers."""
        return _in_order(numbers, self._facts("no", numbers))

    def _facts(self, column: str, values: Iterable[object]) -> dict[int, Fact]:
        """Return number -> fact, of the facts with one of the values in a column."""
        facts, *lists = self._fact_rows(column, values)
        rows = {row[0]: row[1:] for row in facts}
        mentions, tags, sources = (_grouped(sorted(group)) for group in lists)
        sound: dict[int, Values] = {}
        for no, row in rows.items():
            if row[-1] == checksums.fact_checksum(row, mentions[no], tags[no], sources[no]):
                sound[no] = row[:-1]
            else:
                self._note_damage("fact", str(row[0]), ALTERED)
        try:
            return columns.read_facts(self.bank_id, sound, mentions, tags, sources)
        except (ValueError, TypeError, KeyError):
            return self._facts_one_by_one(sound, mentions, tags, sources)

    def _facts_one_by_one(
        self, rows: Mapping[int, Values], *lists: Mapping[object, Sequence[Values]]
    ) -> dict[int, Fact]:
        """Return the facts whose counts and weights, which no checksum covers, can be read."""
        facts: dict[int, Fact] = {}
        for no, row in rows.items():
            try:
                facts |= columns.read_facts(self.bank_id, {no: row}, *lists)
            except (ValueError, TypeError, KeyError):
                self._note_damage("fact", str(row[0]), UNREADABLE)
        return facts

    def _sound(
        self, kind: str, rows: Iterable[Values], checksum: Callable[[Values], int]
    ) -> Iterator[Values]:
        """Return the rows that match the checksum at their end, without it."""
        for *row, stored in rows:
            if stored == checksum(tuple(row)):
                yield tuple(row)
            else:
                self._note_damage(kind, str(row[0]), ALTERED)

    def _fact_rows(self, column: str, values: Iterable[object]) -> list[list[Values]]:
        """Return rows of FACT, and those of the queries of FACT_LISTS that belong to them."""
        facts = list(self._where(FACT, column, values))
        numbers = [row[0] for row in facts]
        return [facts, *(list(self._where(query, "fact", numbers)) for query in FACT_LISTS)]

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return fact id -> number of those facts that exist."""
        return dict(self._where("SELECT id, no FROM fact WHERE bank = ?", "id", ids))

    def views(self) -> list[str]:
        """Return the names of the bank's vector views, each found by one step into the key."""
        views = [""]
        while views[-1] is not None:
            query = "SELECT min(view) FROM vector WHERE bank = ? AND view > ?"
            views.append(self._of_bank(query, views[-1])[0][0])
        return views[1:-1]

    def features(self, ids: Sequence[str]) -> dict[str, Features]:
        rows = list(self._where(_FEATURES, "id", ids))
        vectors: dict[int, dict[str, Vector]] = {no: {} for _, no, *_ in rows}
        for view in self.views() if rows else ():
            query = "SELECT fact, value FROM vector WHERE bank = ? AND view = ?"
            for no, value in self._where(query, "fact", vectors, view):
                vectors[no][view] = columns.from_float16([value])[0]

        def build(row: Values) -> Features:
            return Features(vectors=vectors[row[1]], **columns.fields(columns.FEATURES, row[2:]))

        return _in_order(ids, self._built("features", rows, build))

    def ranking_fields(self, ids: Sequence[str]) -> dict[str, RankingFields]:
        """Return what ranking needs of facts (`perdure.domain.fact`)."""
        names = "id, type, document_id, speaker, occurred_start, occurred_end, mentioned_at, proof_count"

        def build(row: Values) -> RankingFields:
            _, kind, document_id, speaker, *times, proof_count = row
            return RankingFields(
                type=_FACT_TYPES[kind],
                document_id=document_id,
                speaker=speaker,
                event_date=event_date(*map(columns.shared_moment, times)),
                proof_count=proof_count if kind == FactType.OBSERVATION else 1,
            )

        rows = self._where(f"SELECT {names} FROM fact WHERE bank = ?", "id", ids)
        return _in_order(ids, self._built("fact", rows, build))

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return what reranking reads of facts; an empty passage stands for the fact's text."""
        names = "id, CASE WHEN passage = '' THEN text ELSE passage END, passage_in_context"
        rows = self._where(f"SELECT {names} FROM {_FACT_JOIN.format('fact_features')}", "id", ids)
        return _in_order(ids, {fact_id: Passage(own, in_context or own) for fact_id, own, in_context in rows})

    def documents(self, ids: Sequence[str] | None = None) -> list[Document]:
        query = f"SELECT {columns.names(columns.DOCUMENT)}, checksum FROM document WHERE bank = ?"
        tag_query = "SELECT document_id, tag FROM document_tag WHERE bank = ?"
        tags = _grouped(sorted(self._where(tag_query, "document_id", ids)))
        rows = self._sound(
            "document",
            self._where(query, "id", ids),
            lambda row: checksums.document_checksum(row, tags[row[0]]),
        )

        def build(row: Values) -> Document:
            own = frozenset(tag for (tag,) in tags[row[0]])
            return Document(bank=self.bank_id, tags=own, **columns.fields(columns.DOCUMENT, row))

        documents = self._built("document", rows, build)
        if ids is not None:
            return list(_in_order(ids, documents).values())
        by_id = sorted(documents.values(), key=lambda document: document.id)
        return sorted(by_id, key=columns.creation_order, reverse=True)

    def chunks(self, *, ids: Sequence[str] | None = None, document_id: str | None = None) -> list[Chunk]:
        column, values = ("document_id", [document_id]) if ids is None else ("id", ids)
        query = f"SELECT {columns.names(columns.CHUNK)}, checksum FROM chunk WHERE bank = ?"
        stored = list(self._where(query, column, values))
        turn_query = f"SELECT chunk_id, ordinal, {columns.names(columns.TURN)} FROM chunk_turn WHERE bank = ?"
        turns = _grouped(sorted(self._where(turn_query, "chunk_id", [row[0] for row in stored])))
        rows = self._sound("chunk", stored, lambda row: checksums.chunk_checksum(row, turns[row[0]]))

        def build(row: Values) -> Chunk:
            spans = tuple(TurnSpan(**columns.fields(columns.TURN, turn)) for _, *turn in turns[row[0]])
            return Chunk(bank=self.bank_id, spans=spans, **columns.fields(columns.CHUNK, row))

        chunks = self._built("chunk", rows, build)
        if ids is None:
            return sorted(chunks.values(), key=lambda chunk: (chunk.ordinal, chunk.id))
        return list(_in_order(ids, chunks).values())

    def entities(
        self, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        key_query = "SELECT entity_id, key FROM entity_key WHERE bank = ?"
        chosen = ids
        if ids is None and keys is not None:
            chosen = [entity_id for entity_id, _ in self._where(key_query, "key", keys)]
        keys_of = _grouped(self._where(key_query, "entity_id", chosen))
        query = f"SELECT {columns.names(columns.ENTITY)} FROM entity WHERE bank = ?"

        def build(row: Values) -> KeyedEntity:
            entity = Entity(bank=self.bank_id, **columns.fields(columns.ENTITY, row))
            return KeyedEntity(entity, tuple(sorted(key for (key,) in keys_of[row[0]])))

        entities = self._built("entity", self._where(query, "id", chosen), build)
        if ids is not None:
            return list(_in_order(ids, entities).values())
        return sorted(entities.values(), key=lambda keyed: (-keyed.entity.mentions, keyed.entity.id))

    def links(self, ids: Sequence[str], kind: LinkKind | None = None) -> list[Link]:
        id_of = {no: fact_id for fact_id, no in self.numbers_of(ids).items()}
        query, of_kind = (_LINK, ()) if kind is None else (f"{_LINK} AND kind = ?", (kind.value,))
        rows = {row for end in ("source", "target") for row in self._where(query, end, id_of, *of_kind)}
        others = {no for row in rows for no in row[:2]} - id_of.keys()
        id_of |= dict(self._where("SELECT no, id FROM fact WHERE bank = ?", "no", others))
        ends = sorted(
            (id_of[source], id_of[target], name, weight)
            for source, target, name, weight in rows
            if source in id_of and target in id_of
        )
        return [Link(source, target, _LINK_KINDS[name], weight) for source, target, name, weight in ends]

    def earlier_links(self, numbers: Sequence[int]) -> dict[int, list[LinkEnd]]:
        """Return fact number -> its links with facts of lower number, as an index packs them."""
        ends: defaultdict[int, list[LinkEnd]] = defaultdict(list)
        for near, far in (("source", "target"), ("target", "source")):
            query = f"SELECT {near}, {far}, kind, weight FROM link WHERE bank = ?"
            for no, other, kind, weight in sorted(self._where(query, near, numbers)):
                if other < no:
                    ends[no].append(LinkEnd(other, _LINK_KINDS[kind], near == "source", weight))
        return ends

    def terms(self, numbers: Iterable[int]) -> dict[int, dict[str, float]]:
        """Return fact number -> its index terms."""
        rows = self._where("SELECT fact, terms FROM fact_features WHERE bank = ?", "fact", numbers)
        terms = self._built("features", ((f"of fact {no}", no, terms) for no, terms in rows), _numbered_terms)
        return dict(terms.values())

    def proofs(self, ids: Sequence[str]) -> dict[str, list[Proof]]:
        return _proofs_by_fact(self._where(_PROOF, "id", ids))

    def proofs_from(
        self, *, document_ids: Sequence[str] = (), chunk_ids: Sequence[str] = ()
    ) -> dict[str, list[Proof]]:
        """Return fact id -> proofs from one of the documents or chunks, oldest first."""
        sources = (("document_id", set(document_ids)), ("chunk_id", set(chunk_ids)))
        numbers = {
            no
            for column, ids in sources
            for (no,) in self._where("SELECT fact FROM proof WHERE bank = ?", column, ids)
        }
        proofs = _proofs_by_fact(self._where(_PROOF, "no", numbers))
        return {
            fact_id: [
                proof for proof in group if any(getattr(proof, column) in ids for column, ids in sources)
            ]
            for fact_id, group in proofs.items()
        }

    def facts_by_dedupe_key(self, keys: Sequence[str]) -> dict[str, str]:
        query = f"SELECT no, dedupe_key, id FROM {_FACT_JOIN.format('fact_features')}"
        rows = self._where(f"{query} AND {_OPEN} AND dedupe_key <> ''", "dedupe_key", keys)
        return {key: fact_id for _, key, fact_id in sorted(rows, reverse=True)}

    def find_facts(self, where: FactsWhere) -> list[Fact]:
        conditions = (
            ("SELECT no FROM fact", "document_id", where.document_ids),
            ("SELECT no FROM fact", "chunk_id", where.chunk_ids),
            ("SELECT no FROM fact", "superseded_by", where.superseded_by),
            ("SELECT fact FROM fact_entity", "entity_id", where.entity_ids),
            ("SELECT fact FROM fact_source", "source_id", where.source_fact_ids),
        )
        numbers = {
            no
            for query, column, values in conditions
            for (no,) in self._where(f"{query} WHERE bank = ?", column, values)
        }
        return list(self.facts_by_number(sorted(numbers)).values())

    def records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        query = f"SELECT {columns.names(columns.RECORD)} FROM record WHERE bank = ? AND kind = ?"
        rows = ((row[1], *row) for row in self._where(query, "id", ids, kind))
        records = self._built(
            kind, rows, lambda row: Record(bank=self.bank_id, **columns.fields(columns.RECORD, row[1:]))
        )
        return columns.oldest_first(records.values())

    def stats(self) -> BankStats:
        """Count what the bank holds, by sums of conditions, since GROUP BY would sort all rows first."""
        types = ", ".join(f"count(*) FILTER (WHERE type = '{kind}')" for kind in _FACT_TYPES)
        kinds = ", ".join(f"count(*) FILTER (WHERE kind = '{kind}')" for kind in _LINK_KINDS)
        ((facts, current, *by_type),) = self._of_bank(
            f"SELECT count(*), count(*) FILTER (WHERE {_OPEN}), {types} FROM fact WHERE bank = ?"
        )
        (by_kind,) = self._of_bank(f"SELECT {kinds} FROM link WHERE bank = ?")
        documents, chunks, entities = (
            self._of_bank(f"SELECT count(*) FROM {table} WHERE bank = ?")[0][0]
            for table in ("document", "chunk", "entity")
        )
        return BankStats(
            facts=facts,
            current_facts=current,
            facts_by_type=_counts(_FACT_TYPES, by_type),
            documents=documents,
            chunks=chunks,
            entities=entities,
            links_by_kind=_counts(_LINK_KINDS, by_kind),
            tags=dict(self._of_bank("SELECT tag, count(*) FROM fact_tag WHERE bank = ? GROUP BY tag")),
            bytes_on_disk=self._bytes_on_disk() if self.bank_no else None,
        )


def _numbered_terms(row: Values) -> tuple[int, dict[str, float]]:
    return row[1], columns.mapping(row[2])


_TABLE = re.compile(r" FROM (\w+)")


def _named(query: str, column: str, value: object) -> tuple[str, str]:
    """Return the kind and the name of what a query asks for."""
    match = _TABLE.search(query)
    assert match is not None
    return match[1], str(value) if column == "id" else f"{column} {value}"


def _counts(names: Iterable[str], totals: Iterable[int]) -> dict[str, int]:
    return {name: total for name, total in zip(names, totals, strict=True) if total}


def _proofs_by_fact(rows: Iterable[Values]) -> dict[str, list[Proof]]:
    """Return the proofs of rows of _PROOF, by number of the fact and ordinal."""
    proofs: defaultdict[str, list[Proof]] = defaultdict(list)
    for _, _, fact_id, *row in sorted(rows, key=lambda row: row[:2]):
        proofs[fact_id].append(Proof(fact_id, **columns.fields(columns.PROOF, row)))
    return dict(proofs)


def _grouped(rows: Iterable[Values]) -> defaultdict[object, list[Values]]:
    """Return first column -> the other columns of its rows; an empty list for others."""
    groups: defaultdict[object, list[Values]] = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row[1:])
    return groups


def _in_order(keys: Iterable[T], values: Mapping[T, U]) -> dict[T, U]:
    """Return the values in the order of the keys, without those that are missing."""
    return {key: values[key] for key in keys if key in values}
