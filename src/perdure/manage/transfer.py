"""Transfer: a bank as JSON lines, and back again, equal in every respect."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, TypeVar

from perdure.domain.bank import Bank, EmbeddingModel, check_bank_id
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.item import UNFINISHED_DOCUMENT
from perdure.domain.knowledge import KNOWLEDGE_NODE
from perdure.domain.record import Record
from perdure.errors import Conflict, InvalidInput
from perdure.history import CLOSINGS, read_closings
from perdure.manage.fields import field_types, from_plain, plain_fields
from perdure.ports.store import (
    Features,
    KeyedEntity,
    NewFact,
    Order,
    Proof,
    Reading,
    Selection,
    Store,
    Transaction,
)
from perdure.recall.beliefs import EVIDENCE, OPINION, evidence_record, read_evidence, read_opinion
from perdure.reflect.directives import DIRECTIVE, read_directive, read_earlier
from perdure.reflect.directives import HISTORY as DIRECTIVE_HISTORY
from perdure.reflect.knowledge import read_node
from perdure.reflect.mental_models.record import HISTORY, MENTAL_MODEL, read_model, read_versions

log = logging.getLogger(__name__)

FORMAT = "perdure-bank"
VERSION = 4
"""Older ones can be read. Version 1 kept both passages in one text, and a reason why a fact is wrong among its flags.
Up to version 2 a fact that another superseded was retired, whether it had been true or not. Up to version 3 there were no
thoughts.
"""
PAGE = 500
LONGEST_LINE = 16_000_000
"""Characters of one line; a fact with its vectors takes some 20,000."""
PARTS = ("document", "unfinished", "chunk", "entity", "closings", "fact", "link", "proof", "record")
KEPT_RECORDS: Mapping[str, Callable[[Record], object]] = {
    OPINION: read_opinion,
    EVIDENCE: read_evidence,
    DIRECTIVE: read_directive,
    DIRECTIVE_HISTORY: read_earlier,
    MENTAL_MODEL: read_model,
    HISTORY: read_versions,
    KNOWLEDGE_NODE: lambda record: read_node(record, {}),
}
"""Kinds of records that go with a bank, each with what reads it, so that none comes in that could not be read later."""
_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that JSON allows in text and at which many readers would end the line."""
_SINCE_VERSION_1 = frozenset({"passage_in_context", "invalidated_at", "invalid_reason", "end_recorded_at"})
_PASSAGES_JOINED = "\x1f"
_INVALIDATED_FLAG = "invalidated: "
T = TypeVar("T")


def export_bank(store: Store, bank: str, now: datetime) -> Iterator[str]:
    """One JSON object per line: the bank first, then documents, chunks, entities, facts with links and proofs, and what was thought.

    A document whose facts a model could not make yet is named as unfinished, so that they are made there later.
    """
    with store.reading(bank) as reading:
        stored = reading.bank()
        if stored is None:
            return
        documents = reading.documents()
        unfinished = reading.records(UNFINISHED_DOCUMENT)
        entities = reading.entities()
        closings = reading.records(CLOSINGS)
    yield _line("bank", {**plain_fields(stored), "format": FORMAT, "version": VERSION})
    for document in documents:
        yield _line("document", plain_fields(document))
    for record in unfinished:
        yield _line("unfinished", {"id": record.id, **record.body})
    for document in documents:
        with store.reading(bank) as reading:
            chunks = reading.chunks(document_id=document.id)
        for chunk in chunks:
            yield _line("chunk", plain_fields(chunk))
    for keyed in entities:
        yield _line("entity", {**plain_fields(keyed.entity), "keys": list(keyed.keys)})
    for record in closings:
        yield _line("closings", {"id": record.id, **record.body})
    exported: set[str] = set()
    for page in fact_pages(store, bank, now):
        with store.reading(bank) as reading:
            lines = _fact_lines(reading, [fact for fact in page if fact.id not in exported])
        exported |= {fact.id for fact in page}
        yield from lines
    for kind in KEPT_RECORDS:
        with store.reading(bank) as reading:
            records = reading.records(kind)
        for record in records:
            created_at = None if record.created_at is None else record.created_at.isoformat()
            yield _line(
                "record", {"record": kind, "id": record.id, "created_at": created_at, "body": record.body}
            )


def _fact_lines(reading: Reading, page: Sequence[Fact]) -> list[str]:
    """The facts that are still there, the links that start at them, and their proofs."""
    features = reading.features([fact.id for fact in page])
    facts = [fact for fact in page if fact.id in features]
    ids = [fact.id for fact in facts]
    links = [link for link in reading.links(ids) if link.source in features]
    proofs = [proof for of_fact in reading.proofs(ids).values() for proof in of_fact]
    return [
        *(
            _line("fact", {**plain_fields(fact), "features": plain_fields(features[fact.id])})
            for fact in facts
        ),
        *(_line("link", {"link": link.kind, **_without(plain_fields(link), "kind")}) for link in links),
        *(_line("proof", plain_fields(proof)) for proof in proofs),
    ]


def fact_pages(store: Store, bank: str, now: datetime) -> Iterator[Sequence[Fact]]:
    """All facts as recorded; from the first page again when facts were erased before what was read last."""
    everything = Filter(include_closed=True, include_expired=True).at(now)
    offset, last = 0, ""
    while True:
        start = max(offset - 1, 0)
        selection = Selection(
            where=everything, order=Order.OLDEST_RECORDED, offset=start, limit=PAGE + offset - start
        )
        with store.reading(bank) as reading:
            page = reading.browse(selection)
        for damage in page.damaged:
            log.error("left out of the export of bank %s: %s", bank, damage)
        facts = page.facts
        if last and not page.damaged and (not facts or facts[0].id != last):
            offset, last = 0, ""
            continue
        fresh = [fact for fact in facts if fact.id != last]
        yield fresh
        offset, last = offset + PAGE, fresh[-1].id if fresh and not page.damaged else ""
        if offset >= page.total:
            return


def import_bank(store: Store, bank: str, lines: Iterable[str]) -> int:
    """Write an exported bank under `bank`, which must not hold facts; returns how many facts came.

    All or nothing, whatever the size: lines are checked one by one and set aside in a temporary file, and written from
    there in one transaction, so that memory holds a batch of them at a time.
    """
    check_bank_id(bank)
    with store.reading(bank) as reading:
        if reading.stats().facts:
            raise Conflict(f"bank {bank!r} already holds facts; import into a new one")
    bodies = (_read(number, line) for number, line in enumerate(lines, start=1) if line.strip())
    _, kind, head = next(bodies, (1, "", {}))
    if kind != "bank" or head.get("format") != FORMAT:
        raise InvalidInput("line 1", f"the first line of a {FORMAT} export")
    if head.get("version") not in range(1, VERSION + 1):
        raise InvalidInput("version", f"at most {VERSION}", head.get("version"))
    with _named_by_line(1, "bank"):
        described = {"disposition": head["disposition"], **_without(head, "format", "version")}
        imported = from_plain(Bank, described, id=bank)
    with TemporaryFile() as rows, TemporaryFile() as ties:
        facts = _set_aside(imported, bodies, rows, ties)
        with store.transaction(bank) as tx:
            tx.put_bank(imported)
            if imported.model is not None:
                tx.set_model(imported.model)
            for file in (rows, ties):
                for parts in _read_back(file):
                    parts.write(tx, facts)
    return len(facts)


def _set_aside(
    bank: Bank, bodies: Iterable[tuple[int, str, dict[str, object]]], rows: IO[bytes], ties: IO[bytes]
) -> frozenset[str]:
    """Check each line and keep what it says in a file, links and proofs in another, since they need all facts; returns the facts' ids."""
    facts: set[str] = set()
    batches = {False: (_Parts(bank), rows), True: (_Parts(bank), ties)}
    for number, kind, body in bodies:
        if kind not in PARTS:
            raise InvalidInput(f"line {number}", "one of " + ", ".join(PARTS), kind)
        is_tie = kind in ("link", "proof")
        parts, file = batches[is_tie]
        with _named_by_line(number, kind):
            added = parts.add(kind, body)
            if kind == "fact":
                if added in facts:
                    raise ValueError(f"fact {added!r} stands on a line before")
                facts.add(added)
        if parts.size >= PAGE:
            pickle.dump(parts, file)
            batches[is_tie] = _Parts(bank), file
    for parts, file in batches.values():
        pickle.dump(parts, file)
    return frozenset(facts)


def _read_back(file: IO[bytes]) -> Iterator[_Parts]:
    """What this process itself has just set aside."""
    file.seek(0)
    while True:
        try:
            parts = pickle.load(file)
        except EOFError:
            return
        assert isinstance(parts, _Parts)
        yield parts


def bounded_lines(file: IO[str]) -> Iterator[str]:
    """The lines of a file; one of more than LONGEST_LINE characters is refused before it is in memory."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InvalidInput(f"line {number}", f"at most {LONGEST_LINE} characters")
        yield line


@contextmanager
def _named_by_line(number: int, kind: str) -> Iterator[None]:
    """Errors of the block say which line they are about, and what is wrong with it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"line {number}", f"a {kind} as an export writes it ({error})") from error


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the lines of an export hold, read."""

    bank: Bank
    documents: list[Document] = field(default_factory=list)
    unfinished: list[Record] = field(default_factory=list)
    closings: list[Record] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    entities: list[KeyedEntity] = field(default_factory=list)
    facts: dict[str, NewFact] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many lines it holds."""
        rows: tuple[Sized, ...] = (
            self.documents, self.unfinished, self.closings, self.chunks, self.entities, self.facts, self.links,
            self.proofs, self.records,
        )  # fmt: skip
        return sum(map(len, rows))

    def add(self, kind: str, body: dict[str, object]) -> str:
        """Read a line; returns the id of the fact that it holds, if it holds one."""
        bank = self.bank.id
        match kind:
            case "document":
                self.documents.append(_whole(Document, body, bank=bank))
            case "unfinished":
                reason = {"reason": str(body["reason"])}
                self.unfinished.append(
                    from_plain(Record, {"id": body["id"]}, kind=UNFINISHED_DOCUMENT, bank=bank, body=reason)
                )
            case "chunk":
                self.chunks.append(_whole(Chunk, body, bank=bank))
            case "entity":
                entity = _whole(Entity, _without(body, "keys"), bank=bank)
                self.entities.append(_whole(KeyedEntity, {"keys": body["keys"]}, entity=entity))
            case "closings":
                self.closings.append(read_closings(str(body["id"]), bank, body["closings"]))
            case "fact":
                return self._add_fact(_without(body, "features"), body["features"])
            case "link":
                self.links.append(_whole(Link, {**_without(body, "link"), "kind": body["link"]}))
            case "proof":
                self.proofs.append(_whole(Proof, body))
            case "record":
                named = {**_without(body, "record"), "kind": body["record"]}
                record = from_plain(Record, named, bank=bank)
                KEPT_RECORDS[record.kind](record)
                self.records.append(record)
        return ""

    def write(self, tx: Transaction, facts: Container[str]) -> None:
        """Write what was added; `facts` are the ids of all facts of the export."""
        self._drop_dangling(facts)
        tx.put_documents(self.documents)
        tx.put_chunks(self.chunks)
        tx.put_entities(self.entities)
        tx.insert_facts(list(self.facts.values()))
        tx.put_links(self.links)
        tx.add_proofs(self.proofs)
        tx.put_records([*self.unfinished, *self.closings, *self.records])

    def _drop_dangling(self, facts: Container[str]) -> None:
        """Leave out what names a fact that the export does not have: as what superseded another, or as evidence."""
        for fact_id, new in self.facts.items():
            if new.fact.superseded_by is not None and new.fact.superseded_by not in facts:
                self.facts[fact_id] = replace(new, fact=replace(new.fact, superseded_by=None))
        for place, record in enumerate(self.records):
            if record.kind == EVIDENCE:
                log = [row for row in read_evidence(record) if row.fact_id in facts]
                scrubbed = evidence_record(self.bank.id, record.id, log)
                self.records[place] = replace(scrubbed, created_at=record.created_at)

    def _add_fact(self, body: dict[str, object], features: object) -> str:
        if not isinstance(features, dict):
            raise TypeError("features")
        fact = _whole(Fact, body, bank=self.bank.id)
        parted = "end_recorded_at" in body
        new = _up_to_date(NewFact(fact if parted else _on_its_axis(fact), _whole(Features, features)))
        _check_vectors(new.features, self.bank.model)
        self.facts[fact.id] = new
        return fact.id


def _check_vectors(features: Features, model: EmbeddingModel | None) -> None:
    for vector in features.vectors.values():
        if model is None or vector.shape != (model.dimensions,):
            expected = f"vectors of {model}" if model is not None else "no vectors, as the bank has no model"
            raise ValueError(expected)


def _whole(kind: type[T], body: Mapping[str, object], /, **own: object) -> T:
    """An object of which an export names every field."""
    lacking = field_types(kind).keys() - body.keys() - own.keys() - _SINCE_VERSION_1
    if lacking:
        raise KeyError(*sorted(lacking))
    return from_plain(kind, body, **own)


def _without(body: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in body.items() if name not in names}


def _up_to_date(new: NewFact) -> NewFact:
    """A fact of any version as this one has it."""
    fact, features = new.fact, new.features
    if _PASSAGES_JOINED in features.passage:
        in_context, _, own = features.passage.rpartition(_PASSAGES_JOINED)
        features = replace(features, passage="" if own == fact.text else own, passage_in_context=in_context)
    reason = next((flag for flag in fact.flags if flag.startswith(_INVALIDATED_FLAG)), None)
    if reason is not None and fact.retired_at is not None and fact.invalidated_at is None:
        fact = replace(
            fact,
            flags=tuple(flag for flag in fact.flags if flag != reason),
            invalidated_at=fact.retired_at,
            invalid_reason=reason.removeprefix(_INVALIDATED_FLAG) or None,
        )
    return NewFact(fact, features)


def _on_its_axis(fact: Fact) -> Fact:
    """A fact of up to version 2; one that another ended was true before, and is believed for its period."""
    if fact.superseded_by is None or fact.valid_to is None or fact.invalidated_at is not None:
        return fact
    return replace(fact, end_recorded_at=fact.retired_at, retired_at=None)


def _line(kind: str, body: Mapping[str, object]) -> str:
    line = json.dumps({"kind": kind, **body}, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _BREAKS.items():
        line = line.replace(character, escape)
    return line


def _read(number: int, line: str) -> tuple[int, str, dict[str, object]]:
    try:
        body = json.loads(line)
        return number, str(body.pop("kind")), body
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"line {number}", "a JSON object with a kind") from error
