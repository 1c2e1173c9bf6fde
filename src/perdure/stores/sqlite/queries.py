"""Reads of one bank's rows, shared by readings, transactions and feeds."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from perdure.domain.bank import Bank
from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, TurnSpan
from perdure.domain.ranking import RankingFields
from perdure.domain.record import Record
from perdure.domain.time import Window
from perdure.ports.embedder import Vector
from perdure.ports.store import BankStats, FactsWhere, Features, KeyedEntity, Passage, Proof
from perdure.stores.index.packing import LinkEnd
from perdure.stores.sqlite import columns
from perdure.stores.sqlite.columns import T, U, Values, batches, moment, placeholders

_FACT = f"SELECT no, {columns.names(columns.FACT_ROW)} FROM fact WHERE bank = ?"
_FEATURES = (
    f"SELECT fact.id, fact.no, {columns.names(columns.FEATURES)} FROM fact JOIN fact_features"
    " ON fact_features.bank = fact.bank AND fact_features.fact = fact.no WHERE fact.bank = ?"
)
_DOCUMENT = f"SELECT {columns.names(columns.DOCUMENT)} FROM document WHERE bank = ?"
_CHUNK = f"SELECT {columns.names(columns.CHUNK)} FROM chunk WHERE bank = ?"
_TURN = f"SELECT chunk_id, {columns.names(columns.TURN)} FROM chunk_turn WHERE bank = ?"
_ENTITY = f"SELECT {columns.names(columns.ENTITY)} FROM entity WHERE bank = ?"
_RECORD = f"SELECT {columns.names(columns.RECORD)} FROM record WHERE bank = ? AND kind = ?"
_SHARED_RECORD = f"SELECT {columns.names(columns.RECORD)} FROM shared_record WHERE kind = ?"
_BANK = f"SELECT {columns.names(columns.BANK + columns.DISPOSITION)}, model, dimensions FROM bank"
_PROOF = (
    f"SELECT fact.no, proof.ordinal, fact.id, {columns.names(columns.PROOF, 'proof')} FROM proof"
    " JOIN fact ON fact.bank = proof.bank AND fact.no = proof.fact WHERE proof.bank = ?"
)
_LINK = (
    "SELECT source.id, target.id, link.kind, link.weight FROM link"
    " JOIN fact AS source ON source.bank = link.bank AND source.no = link.source"
    " JOIN fact AS target ON target.bank = link.bank AND target.no = link.target WHERE link.bank = ?"
)
_LINK_KINDS = {str(kind): kind for kind in LinkKind}
_FACT_TYPES = {str(kind): kind for kind in FactType}


class BankRows(ABC):
    """Reads rows of the bank `bank_no`; a bank that does not exist has the number 0 and no rows."""

    def __init__(self, bank_id: str, bank_no: int) -> None:
        self.bank_id = bank_id
        self.bank_no = bank_no

    @abstractmethod
    def _select(self, query: str, *parameters: object) -> list[Values]:
        """All rows of a query."""

    def _of_bank(self, query: str, *parameters: object) -> list[Values]:
        """Rows of a query whose first parameter is the bank."""
        return self._select(query, self.bank_no, *parameters)

    def _where_in(self, query: str, values: Iterable[object], *before: object) -> Iterator[Values]:
        """Rows of a query that says `IN {}`; its parameters are the bank, `before` and a batch of the values."""
        for batch in batches(values):
            yield from self._of_bank(query.format(f"({placeholders(batch)})"), *before, *batch)

    def bank(self) -> Bank | None:
        rows = self._of_bank(f"{_BANK} WHERE no = ?")
        return columns.read_bank(rows[0]) if rows else None

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        facts = self._facts(f"{_FACT} AND id IN {{}}", ids)
        return _in_order(ids, {fact.id: fact for fact in facts.values()})

    def facts_by_number(self, numbers: Sequence[int]) -> dict[int, Fact]:
        """Number -> fact, in the order of the numbers."""
        return _by_key(numbers, self._facts(f"{_FACT} AND no IN {{}}", numbers))

    def _facts(self, query: str, values: Iterable[object]) -> dict[int, Fact]:
        """Number -> fact, of rows of _FACT."""
        rows = {row[0]: row[1:] for row in self._where_in(query, values)}
        mentions, tags, sources = (
            _grouped(self._where_in(f"{lists} WHERE bank = ? AND fact IN {{}} ORDER BY 1, {order}", rows))
            for lists, order in (
                ("SELECT fact, entity_id, name FROM fact_entity", "ordinal"),
                ("SELECT fact, tag FROM fact_tag", "tag"),
                ("SELECT fact, source_id FROM fact_source", "ordinal"),
            )
        )
        return {
            no: columns.read_fact(
                self.bank_id, row, mentions.get(no, ()), tags.get(no, ()), sources.get(no, ())
            )
            for no, row in rows.items()
        }

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Fact id -> number of those facts that exist."""
        return dict(self._where_in("SELECT id, no FROM fact WHERE bank = ? AND id IN {}", ids))

    def views(self) -> list[str]:
        """The names of the bank's vector views, each found by one step into the key."""
        views = [""]
        while views[-1] is not None:
            query = "SELECT min(view) FROM vector WHERE bank = ? AND view > ?"
            views.append(self._of_bank(query, views[-1])[0][0])
        return views[1:-1]

    def features(self, ids: Sequence[str]) -> dict[str, Features]:
        rows = {row[0]: row[1:] for row in self._where_in(f"{_FEATURES} AND fact.id IN {{}}", ids)}
        vectors: dict[int, dict[str, Vector]] = {no: {} for no, *_ in rows.values()}
        for view in self.views():
            query = "SELECT fact, value FROM vector WHERE bank = ? AND view = ? AND fact IN {}"
            for no, value in self._where_in(query, vectors, view):
                vectors[no][view] = columns.from_float16([value])[0]
        features = {
            fact_id: Features(vectors=vectors[no], **columns.fields(columns.FEATURES, row))
            for fact_id, (no, *row) in rows.items()
        }
        return _by_key(ids, features)

    def ranking_fields(self, ids: Sequence[str]) -> dict[str, RankingFields]:
        """What ranking needs of facts (`perdure.domain.ranking`)."""
        query = (
            "SELECT id, type, document_id, speaker, occurred_start, occurred_end, mentioned_at, proof_count"
            " FROM fact WHERE bank = ? AND id IN {}"
        )
        fields = {}
        for fact_id, kind, document_id, speaker, start, end, mentioned_at, proof_count in self._where_in(
            query, ids
        ):
            undated = start is None and end is None
            fields[fact_id] = RankingFields(
                type=_FACT_TYPES[kind],
                document_id=document_id,
                speaker=speaker,
                event_date=moment(mentioned_at) if undated else Window(moment(start), moment(end)).centre,
                proof_count=proof_count if kind == FactType.OBSERVATION else 1,
            )
        return _by_key(ids, fields)

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """What reranking reads of facts."""
        query = (
            "SELECT fact.id, iif(passage = '', text, passage), passage_in_context, tokens FROM fact JOIN fact_features"
            " ON fact_features.bank = fact.bank AND fact_features.fact = fact.no WHERE fact.bank = ? AND fact.id IN {}"
        )
        passages = {
            fact_id: Passage(own, in_context or own, tokens)
            for fact_id, own, in_context, tokens in self._where_in(query, ids)
        }
        return _by_key(ids, passages)

    def documents(self, ids: Sequence[str] | None = None) -> list[Document]:
        tag_query = "SELECT document_id, tag FROM document_tag WHERE bank = ?"
        if ids is None:
            rows, tag_rows = self._of_bank(_DOCUMENT), self._of_bank(tag_query)
        else:
            rows = list(self._where_in(f"{_DOCUMENT} AND id IN {{}}", ids))
            tag_rows = list(self._where_in(f"{tag_query} AND document_id IN {{}}", ids))
        tags = _grouped(tag_rows)
        documents = {
            row[0]: Document(
                bank=self.bank_id,
                tags=frozenset(tag for (tag,) in tags.get(row[0], ())),
                **columns.fields(columns.DOCUMENT, row),
            )
            for row in rows
        }
        if ids is not None:
            return _in_order(ids, documents)
        by_id = sorted(documents.values(), key=lambda document: document.id)
        return sorted(by_id, key=columns.creation_order, reverse=True)

    def chunks(self, *, ids: Sequence[str] | None = None, document_id: str | None = None) -> list[Chunk]:
        if ids is None:
            rows = self._of_bank(f"{_CHUNK} AND document_id = ? ORDER BY ordinal, id", document_id)
        else:
            rows = list(self._where_in(f"{_CHUNK} AND id IN {{}}", ids))
        turns = _grouped(
            self._where_in(
                f"{_TURN} AND chunk_id IN {{}} ORDER BY chunk_id, ordinal", [row[0] for row in rows]
            )
        )
        chunks = {
            row[0]: Chunk(
                bank=self.bank_id,
                spans=tuple(TurnSpan(**columns.fields(columns.TURN, turn)) for turn in turns.get(row[0], ())),
                **columns.fields(columns.CHUNK, row),
            )
            for row in rows
        }
        return list(chunks.values()) if ids is None else _in_order(ids, chunks)

    def entities(
        self, *, ids: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> list[KeyedEntity]:
        key_query = "SELECT entity_id, key FROM entity_key WHERE bank = ?"
        chosen = ids
        if ids is None and keys is not None:
            chosen = [entity_id for entity_id, _ in self._where_in(f"{key_query} AND key IN {{}}", keys)]
        if chosen is None:
            rows, key_rows = self._of_bank(_ENTITY), self._of_bank(key_query)
        else:
            rows = list(self._where_in(f"{_ENTITY} AND id IN {{}}", chosen))
            key_rows = list(self._where_in(f"{key_query} AND entity_id IN {{}}", chosen))
        keys_of = _grouped(key_rows)
        entities = {
            row[0]: KeyedEntity(
                Entity(bank=self.bank_id, **columns.fields(columns.ENTITY, row)),
                tuple(sorted(key for (key,) in keys_of.get(row[0], ()))),
            )
            for row in rows
        }
        if ids is not None:
            return _in_order(ids, entities)
        return sorted(entities.values(), key=lambda keyed: (-keyed.entity.mentions, keyed.entity.id))

    def links(self, ids: Sequence[str]) -> list[Link]:
        numbers = self.numbers_of(ids).values()
        ends = ("source", "target")
        rows = {row for end in ends for row in self._where_in(f"{_LINK} AND link.{end} IN {{}}", numbers)}
        return [
            Link(source, target, _LINK_KINDS[kind], weight) for source, target, kind, weight in sorted(rows)
        ]

    def earlier_links(self, numbers: Iterable[int]) -> dict[int, list[LinkEnd]]:
        """Fact number -> its links with facts of lower number, as an index packs them."""
        ends: defaultdict[int, list[LinkEnd]] = defaultdict(list)
        near_numbers = list(numbers)
        for near, far in (("source", "target"), ("target", "source")):
            query = (
                f"SELECT {near}, {far}, kind, weight FROM link"
                f" WHERE bank = ? AND {near} IN {{}} AND {far} < {near} ORDER BY {near}, {far}, kind"
            )
            for no, other, kind, weight in self._where_in(query, near_numbers):
                ends[no].append(LinkEnd(other, _LINK_KINDS[kind], near == "source", weight))
        return ends

    def terms(self, numbers: Iterable[int]) -> dict[int, dict[str, float]]:
        """Fact number -> its index terms."""
        query = "SELECT fact, terms FROM fact_features WHERE bank = ? AND fact IN {}"
        return {no: columns.mapping(terms) for no, terms in self._where_in(query, numbers)}

    def proofs(self, ids: Sequence[str]) -> dict[str, list[Proof]]:
        return _proofs_by_fact(self._where_in(f"{_PROOF} AND fact.id IN {{}}", ids))

    def proofs_from(
        self, *, document_ids: Sequence[str] = (), chunk_ids: Sequence[str] = ()
    ) -> dict[str, list[Proof]]:
        """Fact id -> those of its proofs that come from one of the documents or chunks, oldest first."""
        rows = {
            *self._where_in(f"{_PROOF} AND proof.document_id IN {{}}", document_ids),
            *self._where_in(f"{_PROOF} AND proof.chunk_id IN {{}}", chunk_ids),
        }
        return _proofs_by_fact(rows)

    def facts_by_dedupe_key(self, keys: Sequence[str]) -> dict[str, str]:
        query = (
            "SELECT fact.no, dedupe_key, fact.id FROM fact_features"
            " JOIN fact ON fact.bank = fact_features.bank AND fact.no = fact_features.fact"
            " WHERE fact_features.bank = ? AND dedupe_key <> '' AND dedupe_key IN {} AND retired_at IS NULL"
        )
        newest_first = sorted(self._where_in(query, keys), reverse=True)
        return {key: fact_id for _, key, fact_id in newest_first}

    def find_facts(self, where: FactsWhere) -> list[Fact]:
        conditions = (
            ("SELECT no FROM fact WHERE bank = ? AND document_id IN {}", where.document_ids),
            ("SELECT no FROM fact WHERE bank = ? AND chunk_id IN {}", where.chunk_ids),
            ("SELECT no FROM fact WHERE bank = ? AND superseded_by IN {}", where.superseded_by),
            ("SELECT fact FROM fact_entity WHERE bank = ? AND entity_id IN {}", where.entity_ids),
            ("SELECT fact FROM fact_source WHERE bank = ? AND source_id IN {}", where.source_fact_ids),
        )
        numbers = {no for query, values in conditions for (no,) in self._where_in(query, values)}
        return list(self.facts_by_number(sorted(numbers)).values())

    def records(self, kind: str, ids: Sequence[str] | None = None) -> list[Record]:
        rows = (
            self._of_bank(_RECORD, kind)
            if ids is None
            else self._where_in(f"{_RECORD} AND id IN {{}}", ids, kind)
        )
        return columns.oldest_first(
            Record(bank=self.bank_id, **columns.fields(columns.RECORD, row)) for row in rows
        )

    def containing(self, text: str) -> list[int]:
        """Numbers of the facts whose text contains a text, in any case."""
        query = "SELECT no FROM fact WHERE bank = ? AND instr(casefold(text), ?)"
        return [no for (no,) in self._of_bank(query, text.casefold())]

    def stats(self) -> BankStats:
        """Counts of what the bank holds."""
        # Sums of conditions, since GROUP BY sorts all rows first.
        kinds = ", ".join(f"total(kind = '{kind}')" for kind in _LINK_KINDS)
        types = ", ".join(f"total(type = '{kind}')" for kind in _FACT_TYPES)
        ((facts, current, *by_type),) = self._of_bank(
            f"SELECT count(*), total(retired_at IS NULL), {types} FROM fact WHERE bank = ?"
        )
        (by_kind,) = self._of_bank(f"SELECT {kinds} FROM link WHERE bank = ?")
        documents, chunks, entities = (
            self._of_bank(f"SELECT count(*) FROM {table} WHERE bank = ?")[0][0]
            for table in ("document", "chunk", "entity")
        )
        (pages,), (page_size,) = self._select("PRAGMA page_count")[0], self._select("PRAGMA page_size")[0]
        return BankStats(
            facts=facts,
            current_facts=int(current),
            facts_by_type=_counts(_FACT_TYPES, by_type),
            documents=documents,
            chunks=chunks,
            entities=entities,
            links_by_kind=_counts(_LINK_KINDS, by_kind),
            tags=dict(self._of_bank("SELECT tag, count(*) FROM fact_tag WHERE bank = ? GROUP BY tag")),
            bytes_on_disk=pages * page_size if self.bank_no else None,
        )


def banks(db: sqlite3.Connection, ids: Sequence[str] | None) -> list[Bank]:
    """All banks, or those of `ids`, by id."""
    rows = db.execute(_BANK).fetchall() if ids is None else _rows_in(db, f"{_BANK} WHERE id IN {{}}", ids)
    return sorted(map(columns.read_bank, rows), key=lambda bank: bank.id)


def shared_records(db: sqlite3.Connection, kind: str, ids: Sequence[str] | None) -> list[Record]:
    """Records that belong to no bank, oldest first."""
    if ids is None:
        rows = db.execute(_SHARED_RECORD, (kind,)).fetchall()
    else:
        rows = _rows_in(db, f"{_SHARED_RECORD} AND id IN {{}}", ids, kind)
    return columns.oldest_first(Record(**columns.fields(columns.RECORD, row)) for row in rows)


def _rows_in(db: sqlite3.Connection, query: str, values: Iterable[object], *before: object) -> list[Values]:
    return [
        row
        for batch in batches(values)
        for row in db.execute(query.format(f"({placeholders(batch)})"), (*before, *batch))
    ]


def _counts(names: Iterable[str], totals: Iterable[float]) -> dict[str, int]:
    return {name: int(total) for name, total in zip(names, totals, strict=True) if total}


def _proofs_by_fact(rows: Iterable[Values]) -> dict[str, list[Proof]]:
    """The proofs of rows of _PROOF, by number of the fact and ordinal."""
    proofs: defaultdict[str, list[Proof]] = defaultdict(list)
    for _, _, fact_id, *row in sorted(rows, key=lambda row: row[:2]):
        proofs[fact_id].append(Proof(fact_id, **columns.fields(columns.PROOF, row)))
    return dict(proofs)


def _grouped(rows: Iterable[Values]) -> dict[object, list[Values]]:
    """First column -> the other columns of its rows."""
    groups: defaultdict[object, list[Values]] = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row[1:])
    return groups


def _by_key(keys: Iterable[T], values: Mapping[T, U]) -> dict[T, U]:
    """The values in the order of the keys, without those that are missing."""
    return {key: values[key] for key in keys if key in values}


def _in_order(keys: Iterable[T], values: Mapping[T, U]) -> list[U]:
    """One value per key, in the order of the keys, without those that are missing."""
    return [values[key] for key in keys if key in values]
