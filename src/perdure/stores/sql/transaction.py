"""Writes of one bank within one transaction. Rows only: what follows from what is decided above the store."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.bank import Bank, EmbeddingModel
from perdure.domain.fact import Chunk, Document, Fact, Link
from perdure.domain.record import Record
from perdure.errors import Conflict, InvalidInput
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, StagedVectors
from perdure.stores.index.feed import BankState, Change, PackedFact
from perdure.stores.index.packing import pack_fact
from perdure.stores.sql import checksums, columns
from perdure.stores.sql.columns import FACT, RECALLS, Values, batches, placeholders
from perdure.stores.sql.feed import pack_facts, read_state
from perdure.stores.sql.queries import BankRows

CHANGES_KEPT = 100_000
"""Rows of `change` per bank; above it all are dropped, and stale indexes load the bank anew."""
_NEW_IN_MEMORY = 5_000
"""Facts that a transaction keeps in memory until they are packed for the index."""
RECALLS_KEPT = 20
"""Times of recall per fact."""
_FACT_TABLES = ("fact_features", "fact_entity", "fact_tag", "fact_source", "proof", "index_cache")
"""Tables whose key begins with (bank, fact)."""
BANK_TABLES = (
    *_FACT_TABLES, "fact", "link", "vector", "staged", "staged_vector", "document", "document_tag", "chunk", "chunk_turn",
    "entity", "entity_key", "record", "change",
)  # fmt: skip
_TIMES = ("created_at", "updated_at")


def upsert(table: str, key: Sequence[str], row: Mapping[str, object], now: str) -> tuple[str, Values]:
    """Return the statement, and its values, that inserts a row or replaces the one with its key.

    A time of creation that is not given stays as it was stored; other times that are not given are `now`.
    """
    values = {name: now if value is None and name in _TIMES else value for name, value in row.items()}
    changes = [f"{name} = excluded.{name}" for name in row if name not in (*key, "created_at")]
    changes.append(f"created_at = coalesce(?, {table}.created_at)")
    statement = (
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({placeholders(list(values))})"
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {', '.join(changes)}"
    )
    return statement, (*values.values(), row["created_at"])


class BankTransaction(BankRows):
    """The Transaction protocol; `finish` writes what indexes need, before the transaction is committed."""

    def __init__(self, bank_id: str, state: BankState | None, now: datetime) -> None:
        super().__init__(bank_id, state.key if state else 0)
        self._now = now.isoformat()
        self._dimensions = state.dimensions if state else None
        self._begin()

    @abstractmethod
    def _execute(self, statement: str, *parameters: object) -> None:
        """Run a statement."""

    @abstractmethod
    def _execute_many(self, statement: str, rows: Sequence[Values]) -> None:
        """Run a statement once per row of values."""

    @abstractmethod
    def _insert_rows(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> None:
        """Insert rows that are new, by the fastest means that there are."""

    def _begin(self) -> None:
        self._touched = False
        """Whether indexes must look at the bank again."""
        self._new: dict[int, NewFact] = {}
        """Facts that this transaction inserted, by number."""
        self._changes: list[tuple[int, Change]] = []
        """Other facts that it changed, by number."""
        self._repack: set[int] = set()
        """Other facts whose packed form is out of date."""

    def put_bank(self, bank: Bank) -> None:
        self._check_banks([bank.id])
        self._upsert("bank", ("id",), columns.bank_row(bank))
        state = read_state(self._select, self.bank_id)
        assert state is not None
        self.bank_no = state.key

    def set_model(self, model: EmbeddingModel) -> None:
        self._ensure_bank()
        (stored,) = self._of_bank("SELECT model, dimensions FROM bank WHERE no = ?")
        if stored != (model.name, model.dimensions):
            statement = "UPDATE bank SET model = ?, dimensions = ? WHERE no = ?"
            self._execute(statement, model.name, model.dimensions, self.bank_no)
            self._touched = True
        self._dimensions = model.dimensions

    def put_documents(self, documents: Sequence[Document]) -> None:
        self._ensure_bank(document.bank for document in documents)
        for document in documents:
            row = self._row(document, columns.DOCUMENT)
            stored = tuple(row[name] for name in columns.DOCUMENT)
            row["checksum"] = checksums.document_checksum(stored, [(tag,) for tag in sorted(document.tags)])
            self._upsert("document", ("bank", "id"), row)
        tags = {document.id: document.tags for document in documents}
        self._delete("document_tag", "document_id", tags)
        rows = [(document_id, tag) for document_id, group in tags.items() for tag in sorted(group)]
        self._insert("document_tag", ("document_id", "tag"), rows)

    def delete_documents(self, ids: Sequence[str]) -> None:
        self._delete("document", "id", ids)
        self._delete("document_tag", "document_id", ids)

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        self._ensure_bank(chunk.bank for chunk in chunks)
        chunks = list({chunk.id: chunk for chunk in chunks}.values())
        self.delete_chunks([chunk.id for chunk in chunks])
        turns = {
            chunk.id: [
                (ordinal, *columns.values(turn, columns.TURN)) for ordinal, turn in enumerate(chunk.spans)
            ]
            for chunk in chunks
        }
        rows = [columns.values(chunk, columns.CHUNK) for chunk in chunks]
        self._insert(
            "chunk",
            (*columns.CHUNK, "checksum"),
            [(*row, checksums.chunk_checksum(row, turns[row[0]])) for row in rows],
        )
        self._insert(
            "chunk_turn",
            ("chunk_id", "ordinal", *columns.TURN),
            [(chunk_id, *turn) for chunk_id, group in turns.items() for turn in group],
        )

    def delete_chunks(self, ids: Sequence[str]) -> None:
        self._delete("chunk", "id", ids)
        self._delete("chunk_turn", "chunk_id", ids)

    def insert_facts(self, facts: Sequence[NewFact]) -> None:
        if not facts:
            return
        self._ensure_bank(new.fact.bank for new in facts)
        self._check_new_ids([new.fact.id for new in facts])
        self._check_vectors(new.features for new in facts)
        new = dict(zip(self._next_numbers(len(facts)), facts, strict=True))
        self._insert(
            "fact",
            ("no", *columns.FACT_ROW, "checksum"),
            [(no, *_checked_row(one.fact)) for no, one in new.items()],
        )
        self._insert_lists({no: one.fact for no, one in new.items()})
        self._insert_features({no: one.features for no, one in new.items()})
        self._new |= new
        self._touched = True
        if len(self._new) > _NEW_IN_MEMORY:
            self._pack_new()

    def update_facts(self, facts: Sequence[Fact]) -> None:
        if not facts:
            return
        self._check_banks(fact.bank for fact in facts)
        numbers = self.numbers_of(fact.id for fact in facts)
        stored = {fact.id: fact for fact in self.facts(list(numbers))}
        updated: dict[int, Fact] = {}
        relisted: dict[int, Fact] = {}
        for fact in facts:
            no, before = numbers.get(fact.id), stored.get(fact.id)
            if no is None or before is None:
                continue
            after = replace(fact, **{name: getattr(before, name) for name in RECALLS})
            if after == before:
                continue
            updated[no] = after
            if no in relisted or _lists(after) != _lists(before):
                relisted[no] = after
            if no in self._new:
                self._new[no] = NewFact(after, self._new[no].features)
            else:
                same_postings = _postings(after) == _postings(before)
                self._note(no, Change.COLUMNS if same_postings else Change.REPLACED)
            stored[fact.id] = after
        self._update(
            "fact",
            ("no", *FACT, "checksum"),
            [(no, *_without_recalls(_checked_row(fact))) for no, fact in updated.items()],
        )
        for table in ("fact_entity", "fact_tag", "fact_source"):
            self._delete(table, "fact", relisted)
        self._insert_lists(relisted)

    def put_features(self, features: Mapping[str, Features]) -> None:
        self._check_vectors(features.values())
        numbers = self.numbers_of(features)
        self._delete("fact_features", "fact", numbers.values())
        self._delete_vectors(list(numbers.values()))
        self._insert_features({no: features[fact_id] for fact_id, no in numbers.items()})
        for fact_id, no in numbers.items():
            if no in self._new:
                self._new[no] = NewFact(self._new[no].fact, features[fact_id])
            else:
                self._note(no, Change.REPLACED)

    def delete_facts(self, ids: Sequence[str]) -> None:
        self.delete_numbers(list(self.numbers_of(ids).values()))

    def delete_numbers(self, numbers: Sequence[int]) -> None:
        """Delete facts by number, also those whose rows cannot be read."""
        linked = {
            max(source, target)
            for end in ("source", "target")
            for source, target in self._where("SELECT source, target FROM link WHERE bank = ?", end, numbers)
        }
        for table in _FACT_TABLES:
            self._delete(table, "fact", numbers)
        for end in ("source", "target"):
            self._delete("link", end, numbers)
        self._delete_vectors(numbers)
        self._delete("fact", "no", numbers)
        for no in numbers:
            if self._new.pop(no, None) is None:
                self._note(no, Change.GONE)
        self._repack |= linked - self._new.keys()
        self._repack -= set(numbers)

    def put_entities(self, entities: Sequence[KeyedEntity]) -> None:
        self._ensure_bank(keyed.entity.bank for keyed in entities)
        entities = list({keyed.entity.id: keyed for keyed in entities}.values())
        self.delete_entities([keyed.entity.id for keyed in entities])
        self._insert(
            "entity", columns.ENTITY, [columns.values(keyed.entity, columns.ENTITY) for keyed in entities]
        )
        keys = {(key, keyed.entity.id) for keyed in entities for key in keyed.keys}
        self._insert("entity_key", ("key", "entity_id"), sorted(keys))

    def delete_entities(self, ids: Sequence[str]) -> None:
        self._delete("entity", "id", ids)
        self._delete("entity_key", "entity_id", ids)

    def put_links(self, links: Sequence[Link]) -> None:
        numbers = self.numbers_of(end for link in links for end in (link.source, link.target))
        rows = [
            (numbers[link.source], numbers[link.target], link.kind.value, link.weight)
            for link in links
            if link.source in numbers and link.target in numbers and link.source != link.target
        ]
        self._replace("link", ("source", "target", "kind"), ("weight",), rows)
        for no in {max(source, target) for source, target, _, _ in rows} - self._new.keys():
            self._note(no, Change.LINKS)

    def add_proofs(self, proofs: Sequence[Proof]) -> None:
        numbers = self.numbers_of(proof.fact_id for proof in proofs)
        stored = self._where("SELECT fact, ordinal FROM proof WHERE bank = ?", "fact", numbers.values())
        last: dict[int, int] = dict(sorted(stored))
        rows = []
        for proof in proofs:
            no = numbers.get(proof.fact_id)
            if no is not None:
                last[no] = last.get(no, -1) + 1
                rows.append((no, last[no], *columns.values(proof, columns.PROOF)))
        self._insert("proof", ("fact", "ordinal", *columns.PROOF), rows)

    def replace_proofs(self, proofs: Mapping[str, Sequence[Proof]]) -> None:
        self._delete("proof", "fact", self.numbers_of(proofs).values())
        self.add_proofs(
            [replace(proof, fact_id=fact_id) for fact_id, group in proofs.items() for proof in group]
        )

    def put_records(self, records: Sequence[Record]) -> None:
        self._ensure_bank(record.bank or self.bank_id for record in records)
        for record in records:
            row = self._row(record, columns.RECORD)
            self._upsert("record", ("bank", "kind", "id"), row)

    def delete_records(self, kind: str, ids: Sequence[str]) -> None:
        self._delete("record", "id", ids, kind=kind)

    def stage_vectors(self, model: EmbeddingModel, vectors: Sequence[StagedVectors]) -> None:
        _check_shapes({vector.shape for one in vectors for vector in one.vectors.values()}, model.dimensions)
        numbers = self.numbers_of(one.fact_id for one in vectors)
        stored = {numbers[one.fact_id]: one for one in vectors if one.fact_id in numbers}
        for table in ("staged", "staged_vector"):
            self._delete(table, "fact", stored, model=model.name, dimensions=model.dimensions)
        rows = [(no, model.name, model.dimensions) for no in stored]
        self._insert("staged", ("fact", "model", "dimensions"), rows)
        vector_rows = [
            (no, model.name, model.dimensions, view, columns.to_float16(vector))
            for no, one in stored.items()
            for view, vector in one.vectors.items()
        ]
        self._insert("staged_vector", ("fact", "model", "dimensions", "view", "value"), vector_rows)

    def unstaged_facts(self, model: EmbeddingModel) -> list[str]:
        query = (
            "SELECT id FROM fact WHERE bank = ? AND NOT EXISTS (SELECT 1 FROM staged WHERE staged.bank = fact.bank"
            " AND model = ? AND dimensions = ? AND staged.fact = fact.no) ORDER BY no"
        )
        return [fact_id for (fact_id,) in self._of_bank(query, model.name, model.dimensions)]

    def switch_model(self, model: EmbeddingModel) -> None:
        self._ensure_bank()
        staged = "WHERE bank = ? AND model = ? AND dimensions = ?"
        key = (self.bank_no, model.name, model.dimensions)
        self._execute("DELETE FROM vector WHERE bank = ?", self.bank_no)
        self._execute(
            "INSERT INTO vector (bank, view, fact, value)"
            f" SELECT bank, view, fact, value FROM staged_vector {staged} ORDER BY view, fact",
            *key,
        )
        self._execute(f"DELETE FROM staged {staged}", *key)
        self._execute(f"DELETE FROM staged_vector {staged}", *key)
        self._execute("UPDATE bank SET vectors_version = version + 1 WHERE no = ?", self.bank_no)
        self.set_model(model)
        self._touched = True

    def delete_bank(self) -> None:
        for table in BANK_TABLES:
            self._execute(f"DELETE FROM {table} WHERE bank = ?", self.bank_no)
        self._execute("DELETE FROM bank WHERE no = ?", self.bank_no)
        self.bank_no, self._dimensions = 0, None
        self._begin()

    def erased_content(self) -> bool:
        self._execute("INSERT INTO erasure (erased_at) VALUES (?)", self._now)
        return False

    def add_recalls(self, recalls: Iterable[tuple[str, datetime]]) -> None:
        """Count recalls of facts; indexes need not know."""
        moments: defaultdict[str, list[str]] = defaultdict(list)
        for fact_id, moment in recalls:
            moments[fact_id].append(moment.isoformat())
        query = "SELECT id, recall_times FROM fact WHERE bank = ?"
        rows = [
            (fact_id, (*columns.strings(times), *moments[fact_id]))
            for fact_id, times in self._where(query, "id", moments)
        ]
        self._execute_many(
            "UPDATE fact SET recall_count = recall_count + ?, last_recalled_at = ?, recall_times = ?"
            " WHERE bank = ? AND id = ?",
            [
                (
                    len(moments[fact_id]),
                    times[-1],
                    columns.to_json("recall_times", times[-RECALLS_KEPT:]),
                    self.bank_no,
                    fact_id,
                )
                for fact_id, times in rows
            ],
        )

    def finish(self) -> None:
        """Pack what changed, list the changes, and make indexes look at the bank again."""
        if not self._touched:
            return
        self._pack_new()
        for block in batches(sorted(self._repack)):
            self._replace("index_cache", ("fact",), ("id", "body"), pack_facts(self, block))
        ((last, dropped),) = self._of_bank("SELECT last_change, changes_dropped FROM bank WHERE no = ?")
        self._insert(
            "change",
            ("no", "fact", "kind"),
            [(last + 1 + place, no, int(kind)) for place, (no, kind) in enumerate(self._changes)],
        )
        last += len(self._changes)
        if last - dropped > CHANGES_KEPT:
            dropped = last
            self._execute("DELETE FROM change WHERE bank = ?", self.bank_no)
        self._execute(
            "UPDATE bank SET version = version + 1, last_change = ?, changes_dropped = ? WHERE no = ?",
            last,
            dropped,
            self.bank_no,
        )

    def _pack_new(self) -> None:
        """Pack the new facts; from then on they count as facts that were there before."""
        links = self.earlier_links(list(self._new))
        packed = [
            PackedFact(no, new.fact.id, pack_fact(new.fact, new.features, links.get(no, ())))
            for no, new in self._new.items()
        ]
        self._insert("index_cache", ("fact", "id", "body"), packed)
        self._new.clear()

    def _note(self, no: int, change: Change) -> None:
        """Note that a fact which was there before has changed."""
        self._changes.append((no, change))
        if change is not Change.GONE:
            self._repack.add(no)
        self._touched = True

    def _ensure_bank(self, banks: Iterable[str] | None = None) -> None:
        """Create a missing bank if there is something to write. Refuse what belongs to another bank."""
        owners = {self.bank_id} if banks is None else set(banks)
        self._check_banks(owners)
        if owners and not self.bank_no:
            self.put_bank(Bank(id=self.bank_id))

    def _check_banks(self, banks: Iterable[str]) -> None:
        others = set(banks) - {self.bank_id}
        if others:
            raise InvalidInput("bank", f"the transaction's bank {self.bank_id!r}", min(others))

    def _check_new_ids(self, ids: Sequence[str]) -> None:
        existing = self.numbers_of(ids)
        if existing:
            raise Conflict(f"fact {min(existing)!r} exists already")
        repeated = [fact_id for fact_id, count in Counter(ids).items() if count > 1]
        if repeated:
            raise Conflict(f"fact {min(repeated)!r} is to be inserted twice")

    def _check_vectors(self, features: Iterable[Features]) -> None:
        shapes = {vector.shape for one in features for vector in one.vectors.values()}
        if shapes and self._dimensions is None:
            raise InvalidInput("model", "the model that made the vectors")
        _check_shapes(shapes, self._dimensions)

    def _next_numbers(self, count: int) -> range:
        ((last,),) = self._of_bank("SELECT last_fact FROM bank WHERE no = ?")
        self._execute("UPDATE bank SET last_fact = ? WHERE no = ?", last + count, self.bank_no)
        return range(last + 1, last + count + 1)

    def _row(self, item: Document | Record, names: Sequence[str]) -> dict[str, object]:
        return {"bank": self.bank_no} | dict(zip(names, columns.values(item, names), strict=True))

    def _insert_lists(self, facts: Mapping[int, Fact]) -> None:
        """Insert memberships, tags and sources of facts."""
        mentions = [(no, *mention) for no, fact in facts.items() for mention in columns.mentions(fact)]
        tags = [(no, tag) for no, fact in facts.items() for tag in sorted(fact.tags)]
        sources = [
            (no, ordinal, source)
            for no, fact in facts.items()
            for ordinal, source in enumerate(fact.source_fact_ids)
        ]
        self._insert("fact_entity", ("fact", "ordinal", "entity_id", "name"), mentions)
        self._insert("fact_tag", ("fact", "tag"), tags)
        self._insert("fact_source", ("fact", "ordinal", "source_id"), sources)

    def _insert_features(self, features: Mapping[int, Features]) -> None:
        vectors = [
            (view, no, columns.to_float16(vector))
            for no, one in features.items()
            for view, vector in one.vectors.items()
        ]
        rows = [(no, *columns.values(one, columns.FEATURES)) for no, one in features.items()]
        self._insert("fact_features", ("fact", *columns.FEATURES), rows)
        self._insert("vector", ("view", "fact", "value"), sorted(vectors))

    def _delete_vectors(self, numbers: Sequence[int]) -> None:
        """Delete all vectors of facts, those of another model that are kept aside too."""
        for view in self.views() if numbers else ():
            self._delete("vector", "fact", numbers, view=view)
        for table in ("staged", "staged_vector"):
            self._delete(table, "fact", numbers)

    def _upsert(self, table: str, key: Sequence[str], row: Mapping[str, object]) -> None:
        statement, parameters = upsert(table, key, row, self._now)
        self._execute(statement, *parameters)

    def _insert(self, table: str, names: Sequence[str], rows: Iterable[Values]) -> None:
        """Insert new rows of the bank."""
        if of_bank := [(self.bank_no, *row) for row in rows]:
            self._insert_rows(table, ("bank", *names), of_bank)

    def _update(self, table: str, names: Sequence[str], rows: Sequence[Values]) -> None:
        """Overwrite columns of rows of the bank; the first of them tells the rows apart."""
        assignments = ", ".join(f"{name} = ?" for name in names[1:])
        self._execute_many(
            f"UPDATE {table} SET {assignments} WHERE bank = ? AND {names[0]} = ?",
            [(*row[1:], self.bank_no, row[0]) for row in rows],
        )

    # What a check of the database mends

    def delete_vector(self, no: int, view: str) -> None:
        """Delete one vector of a fact."""
        self._execute("DELETE FROM vector WHERE bank = ? AND fact = ? AND view = ?", self.bank_no, no, view)

    def delete_link(self, source: int, target: int, kind: str) -> None:
        """Delete a link, and pack the fact anew under which the index has it."""
        statement = "DELETE FROM link WHERE bank = ? AND source = ? AND target = ? AND kind = ?"
        self._execute(statement, self.bank_no, source, target, kind)
        self.pack_anew(max(source, target))

    def pack_anew(self, no: int) -> None:
        """Pack a fact for the index from its rows."""
        self._replace("index_cache", ("fact",), ("id", "body"), pack_facts(self, [no]))

    def _replace(self, table: str, key: Sequence[str], names: Sequence[str], rows: Sequence[Values]) -> None:
        """Insert rows of the bank, or replace those with the same key, which comes first."""
        changes = ", ".join(f"{name} = excluded.{name}" for name in names)
        columns_of_row = ("bank", *key, *names)
        self._execute_many(
            f"INSERT INTO {table} ({', '.join(columns_of_row)}) VALUES ({placeholders(columns_of_row)})"
            f" ON CONFLICT (bank, {', '.join(key)}) DO UPDATE SET {changes}",
            [(self.bank_no, *row) for row in rows],
        )

    def _delete(self, table: str, column: str, values: Iterable[object], **where: object) -> None:
        """Delete the rows of the bank with one of these values, and with those of `where`."""
        fixed = "".join(f" AND {name} = ?" for name in where)
        for batch in batches(values):
            condition, parameters = self._any(column, batch)
            statement = f"DELETE FROM {table} WHERE bank = ?{fixed} AND {condition}"
            self._execute(statement, self.bank_no, *where.values(), *parameters)


def _check_shapes(shapes: Iterable[tuple[int, ...]], dimensions: int | None) -> None:
    for shape in shapes:
        if shape != (dimensions,):
            raise InvalidInput("vectors", f"{dimensions} dimensions", shape)


def _checked_row(fact: Fact) -> Values:
    """Return the values of FACT_ROW and their checksum."""
    row = columns.values(fact, columns.FACT_ROW)
    tags = [(tag,) for tag in sorted(fact.tags)]
    sources = list(enumerate(fact.source_fact_ids))
    return (*row, checksums.fact_checksum(row, columns.mentions(fact), tags, sources))


def _without_recalls(row: Values) -> Values:
    """Return the values of FACT and the checksum, which does not depend on recalls."""
    return (*row[: len(FACT)], row[-1])


def _lists(fact: Fact) -> tuple[object, ...]:
    """Return what is kept in rows of its own."""
    return fact.entities, fact.entity_ids, fact.tags, fact.source_fact_ids


def _postings(fact: Fact) -> tuple[object, ...]:
    """Return what an index finds a fact by, beside its terms and vectors."""
    return fact.entity_ids, fact.tags, fact.metadata
