"""Transfer: a bank as JSON lines and back, equal in every respect."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar
from uuid import uuid4

import numpy as np
from pydantic import Base64Bytes, ConfigDict
from typing_extensions import TypedDict

from perdure.domain.audit import AUDIT
from perdure.domain.bank import Bank, Disposition, EmbeddingModel, check_bank_id
from perdure.domain.fact import Chunk, Document, Entity, Fact, Link
from perdure.domain.filter import Filter
from perdure.domain.item import UNFINISHED_DOCUMENT
from perdure.domain.knowledge import KNOWLEDGE_NODE
from perdure.domain.llm_call import LLM_CALL
from perdure.domain.plain import from_plain, to_plain
from perdure.domain.record import Record
from perdure.domain.webhook import WEBHOOK
from perdure.errors import Conflict, DamagedRow, InvalidInput, NotFound
from perdure.history import CLOSINGS, read_closings
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
VERSION = 1
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
"""Kinds of records that are exported, each with its reader: only readable ones are imported."""
_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that JSON allows in text and at which many readers end a line."""
T = TypeVar("T")


def export_bank(store: Store, bank: str, now: datetime) -> Iterator[str]:
    """Yield one JSON object per line: bank, documents, chunks, entities, facts, and what was made of them.

    A document whose facts are not extracted yet is marked, so that the importing memory extracts them.
    """
    with store.reading(bank) as reading:
        stored = reading.bank()
        if stored is None:
            return
        documents = reading.documents()
        unfinished = reading.records(UNFINISHED_DOCUMENT)
        entities = reading.entities()
        closings = reading.records(CLOSINGS)
    yield _line("bank", {**to_plain(stored), "format": FORMAT, "version": VERSION})
    for document in documents:
        yield _line("document", to_plain(document))
    for record in unfinished:
        yield _line("unfinished", {"id": record.id, **record.body})
    for document in documents:
        with store.reading(bank) as reading:
            chunks = reading.chunks(document_id=document.id)
        for chunk in chunks:
            yield _line("chunk", to_plain(chunk))
    for keyed in entities:
        yield _line("entity", {**to_plain(keyed.entity), "keys": list(keyed.keys)})
    for record in closings:
        yield _line("closings", {"id": record.id, **record.body})
    for page in fact_pages(store, bank, now):
        with store.reading(bank) as reading:
            lines = _fact_lines(reading, page)
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
    """Return the facts that still exist, the links that start at them, and their proofs."""
    features = reading.features([fact.id for fact in page])
    facts = [fact for fact in page if fact.id in features]
    ids = [fact.id for fact in facts]
    links = [link for link in reading.links(ids) if link.source in features]
    proofs = [proof for of_fact in reading.proofs(ids).values() for proof in of_fact]
    return [
        *(
            _line("fact", {**to_plain(fact), "features": _plain_features(features[fact.id])})
            for fact in facts
        ),
        *(_line("link", {"link": link.kind, **_without(to_plain(link), "kind")}) for link in links),
        *(_line("proof", to_plain(proof)) for proof in proofs),
    ]


def fact_pages(store: Store, bank: str, now: datetime) -> Iterator[Sequence[Fact]]:
    """Yield all facts as recorded, each once, from the first page again if facts were erased meanwhile."""
    everything = Filter(include_closed=True, include_expired=True).at(now)
    seen: set[str] = set()
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
        yield [fact for fact in facts if fact.id not in seen]
        seen |= {fact.id for fact in facts}
        offset, last = offset + PAGE, facts[-1].id if facts and not page.damaged else ""
        if offset >= page.total:
            return


def import_bank(store: Store, bank: str, lines: Iterable[str]) -> int:
    """Write an exported bank under `bank`, which must not contain facts, and return the number of facts.

    All or nothing, whatever the size: lines are checked one by one, set aside in a temporary file, and
    written from there in one transaction, so that memory holds one batch at a time.
    """
    check_bank_id(bank)
    with store.reading(bank) as reading:
        if reading.stats().facts:
            raise Conflict(f"bank {bank!r} already holds facts; import into a new one")
    bodies = (_read(number, line) for number, line in enumerate(lines, start=1) if line.strip())
    _, kind, head = next(bodies, (1, "", {}))
    if kind != "bank" or head.get("format") != FORMAT:
        raise InvalidInput("line 1", f"the first line of a {FORMAT} export")
    if head.get("version") != VERSION:
        raise InvalidInput("version", str(VERSION), head.get("version"))
    with _named_by_line(1, "bank"):
        imported = _whole(Bank, {**_without(head, "format", "version"), "id": bank})
    with TemporaryFile() as rows, TemporaryFile() as ties:
        facts = _set_aside(imported, bodies, rows, ties)
        with store.transaction(bank) as tx:
            tx.put_bank(imported)
            if imported.model is not None:
                tx.set_model(imported.model)
            for file in (rows, ties):
                for parts in _read_back(file):
                    _write(tx, parts, facts)
    return len(facts)


def _set_aside(
    bank: Bank, bodies: Iterable[tuple[int, str, dict[str, object]]], rows: IO[bytes], ties: IO[bytes]
) -> frozenset[str]:
    """Check each line and set it aside, links and proofs apart. Return the ids of the facts."""
    facts: set[str] = set()
    for number, kind, body in bodies:
        if kind not in PARTS:
            raise InvalidInput(f"line {number}", "one of " + ", ".join(PARTS), kind)
        with _named_by_line(number, kind):
            part = _read_part(bank, kind, body)
            if isinstance(part, NewFact):
                if part.fact.id in facts:
                    raise ValueError(f"fact {part.fact.id!r} stands on a line before")
                facts.add(part.fact.id)
        pickle.dump((kind, part), ties if kind in ("link", "proof") else rows)
    return frozenset(facts)


def _read_back(file: IO[bytes]) -> Iterator[list[tuple[str, Any]]]:
    """Yield what this process has set aside."""
    file.seek(0)
    batch: list[tuple[str, Any]] = []
    while True:
        try:
            batch.append(pickle.load(file))
        except EOFError:
            yield batch
            return
        if len(batch) >= PAGE:
            yield batch
            batch = []


def bounded_lines(file: IO[str]) -> Iterator[str]:
    """Yield the lines of a file; refuse one of more than LONGEST_LINE characters before it is in memory."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InvalidInput(f"line {number}", f"at most {LONGEST_LINE} characters")
        yield line


@contextmanager
def _named_by_line(number: int, kind: str) -> Iterator[None]:
    """Name the line in errors of the block."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, DamagedRow) as error:
        raise InvalidInput(f"line {number}", f"a {kind} as an export writes it ({error})") from error


def _read_part(bank: Bank, kind: str, body: dict[str, object]) -> object:
    """Return the object of a line."""
    own = {"bank": bank.id}
    match kind:
        case "document":
            return _whole(Document, body | own)
        case "unfinished":
            reason = {"reason": body["reason"]}
            return from_plain(Record, {"kind": UNFINISHED_DOCUMENT, "id": body["id"], "body": reason} | own)
        case "chunk":
            return _whole(Chunk, body | own)
        case "entity":
            entity = _whole(Entity, _without(body, "keys") | own)
            return KeyedEntity(entity, from_plain(tuple[str, ...], body["keys"]))
        case "closings":
            return read_closings(str(body["id"]), bank.id, body["closings"])
        case "fact":
            new = NewFact(_whole(Fact, _without(body, "features") | own), _read_features(body["features"]))
            _check_vectors(new.features, bank.model)
            return new
        case "link":
            return _whole(Link, {**_without(body, "link"), "kind": body["link"]})
        case "proof":
            return _whole(Proof, body)
        case _:
            record = from_plain(Record, {**_without(body, "record"), "kind": body["record"]} | own)
            KEPT_RECORDS[record.kind](record)
            return record


def _write(tx: Transaction, parts: Sequence[tuple[str, Any]], facts: Container[str]) -> None:
    """Write objects by the kinds of their lines; `facts` are the ids of all facts of the export."""
    of_kind: dict[str, list[Any]] = {kind: [] for kind in PARTS}
    for kind, part in parts:
        of_kind[kind].append(part)
    tx.put_documents(of_kind["document"])
    tx.put_chunks(of_kind["chunk"])
    tx.put_entities(of_kind["entity"])
    tx.insert_facts([_without_dangling_fact(new, facts) for new in of_kind["fact"]])
    tx.put_links(of_kind["link"])
    tx.add_proofs(of_kind["proof"])
    records = [_without_dangling_evidence(record, facts) for record in of_kind["record"]]
    tx.put_records([*of_kind["unfinished"], *of_kind["closings"], *records])


def _without_dangling_fact(new: NewFact, facts: Container[str]) -> NewFact:
    """Drop the reference to a superseding fact that the export lacks."""
    if new.fact.superseded_by is None or new.fact.superseded_by in facts:
        return new
    return replace(new, fact=replace(new.fact, superseded_by=None))


def _without_dangling_evidence(record: Record, facts: Container[str]) -> Record:
    """Drop rows of evidence whose facts the export lacks."""
    if record.kind != EVIDENCE:
        return record
    rows = [row for row in read_evidence(record) if row.fact_id in facts]
    return replace(evidence_record(record.bank, record.id, rows), created_at=record.created_at)


def _check_vectors(features: Features, model: EmbeddingModel | None) -> None:
    for vector in features.vectors.values():
        if model is None or vector.shape != (model.dimensions,):
            expected = f"vectors of {model}" if model is not None else "no vectors, as the bank has no model"
            raise ValueError(expected)


class _PlainFeatures(TypedDict):
    """Features as JSON: vectors and bytes in base64."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    vectors: Mapping[str, Base64Bytes]
    terms: Mapping[str, float]
    words: tuple[str, ...]
    signature: Base64Bytes
    dedupe_key: str
    passage: str
    passage_in_context: str


def _plain_features(features: Features) -> dict[str, object]:
    vectors = {view: vector.astype("<f4").tobytes() for view, vector in features.vectors.items()}
    return {**to_plain(replace(features, vectors={})), "vectors": to_plain(vectors)}


def _read_features(body: object) -> Features:
    read: dict[str, Any] = {**from_plain(_PlainFeatures, body)}
    vectors = {
        view: np.frombuffer(data, dtype="<f4").astype(np.float32) for view, data in read["vectors"].items()
    }
    if not all(np.isfinite(vector).all() for vector in vectors.values()):
        raise ValueError("vectors of finite numbers")
    return Features(**read | {"vectors": vectors})


def _whole(kind: type[T], body: Mapping[str, object]) -> T:
    """Build an object of which the export must name every field."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if names != body.keys():
        raise KeyError(*sorted(names ^ body.keys()))
    return from_plain(kind, body)


def _without(body: Mapping[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in body.items() if name not in names}


def _line(kind: str, body: Mapping[str, object]) -> str:
    return json_line({"kind": kind, **body})


def json_line(body: Mapping[str, object]) -> str:
    """Return an object as JSON without any character at which readers end a line."""
    line = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _BREAKS.items():
        line = line.replace(character, escape)
    return line


def _read(number: int, line: str) -> tuple[int, str, dict[str, object]]:
    try:
        body = json.loads(line, parse_int=_integer)
        return number, str(body.pop("kind")), body
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"line {number}", "a JSON object with a kind") from error


def _integer(digits: str) -> int:
    number = int(digits)
    if abs(number) >= 1 << 63:
        raise ValueError("an integer of 64 bits")
    return number


CONFIGURED = frozenset({"directive", "directive_history"})
"""Kinds of exported records that configure a bank; the others are its memories."""


def clone_bank(
    store: Store,
    bank: str,
    target: str,
    now: datetime,
    *,
    include_data: bool = True,
    include_config: bool = True,
    include_history: bool = False,
) -> int:
    """Copy a bank under an id that no bank has, and return the number of facts."""
    if store.banks([target]):
        raise Conflict(f"bank {target!r} exists already")
    source = next(iter(store.banks([bank])), None)
    if source is None:
        raise NotFound("bank", bank)
    lines = chosen_lines(
        export_bank(store, bank, now), include_data=include_data, include_config=include_config
    )
    facts = import_bank(store, target, lines)
    kinds = (*((WEBHOOK,) if include_config else ()), *((AUDIT, LLM_CALL) if include_history else ()))
    with store.reading(bank) as reading:
        records = [record for kind in kinds for record in reading.records(kind)]
    with store.transaction(target) as tx:
        tx.put_records([replace(one, bank=target, id=str(uuid4()), updated_at=None) for one in records])
    return facts


def chosen_lines(lines: Iterable[str], *, include_data: bool, include_config: bool) -> Iterator[str]:
    """Yield the lines of an export without the memories, or without the configuration."""
    for line in lines:
        part = json.loads(line)
        kind = part["kind"]
        if kind == "bank":
            if not include_config:
                part |= {"name": "", "mission": "", "settings": {}, "disposition": to_plain(Disposition())}
            yield json.dumps(part)
        elif include_config if kind == "record" and part["record"] in CONFIGURED else include_data:
            yield line
