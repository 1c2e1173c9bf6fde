"""Transfer: a bank as JSON lines, and back again, equal in every respect."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import numpy as np

from perdure.domain.bank import Bank, Disposition, EmbeddingModel, check_bank_id
from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier, TurnSpan
from perdure.domain.filter import Filter
from perdure.domain.item import UNFINISHED_DOCUMENT
from perdure.domain.record import Record
from perdure.domain.time import parse_instant
from perdure.errors import Conflict, InvalidInput
from perdure.manage.validation import validate_fields
from perdure.ports.store import Features, KeyedEntity, NewFact, Order, Proof, Reading, Selection, Store

FORMAT = "perdure-bank"
VERSION = 2
"""Version 1 kept both passages in one text, and a reason why a fact is wrong among its flags; it can be read."""
PAGE = 500
PARTS = ("document", "unfinished", "chunk", "entity", "fact", "link", "proof")
_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that JSON allows in text and at which many readers would end the line."""
_PASSAGES_JOINED = "\x1f"
_INVALIDATED_FLAG = "invalidated: "


def export_bank(store: Store, bank: str, now: datetime) -> Iterator[str]:
    """One JSON object per line: the bank first, then documents, chunks, entities, and facts with links and proofs.

    A document whose facts a model could not make yet is named as unfinished, so that they are made there later.
    """
    with store.reading(bank) as reading:
        stored = reading.bank()
        if stored is None:
            return
        documents = reading.documents()
        unfinished = reading.records(UNFINISHED_DOCUMENT)
        entities = reading.entities()
    yield _line("bank", {**_plain(stored), "format": FORMAT, "version": VERSION})
    for document in documents:
        yield _line("document", _plain(document))
    for record in unfinished:
        yield _line("unfinished", {"id": record.id, **_plain(record.body)})
    for document in documents:
        with store.reading(bank) as reading:
            chunks = reading.chunks(document_id=document.id)
        for chunk in chunks:
            yield _line("chunk", _plain(chunk))
    for keyed in entities:
        yield _line("entity", {**_plain(keyed.entity), "keys": list(keyed.keys)})
    exported: set[str] = set()
    for page in _pages(store, bank, now):
        with store.reading(bank) as reading:
            lines = _fact_lines(reading, [fact for fact in page if fact.id not in exported])
        exported |= {fact.id for fact in page}
        yield from lines


def _fact_lines(reading: Reading, page: Sequence[Fact]) -> list[str]:
    """The facts that are still there, the links that start at them, and their proofs."""
    features = reading.features([fact.id for fact in page])
    facts = [fact for fact in page if fact.id in features]
    ids = [fact.id for fact in facts]
    links = [link for link in reading.links(ids) if link.source in features]
    proofs = [proof for of_fact in reading.proofs(ids).values() for proof in of_fact]
    return [
        *(_line("fact", {**_plain(fact), "features": _encode_features(features[fact.id])}) for fact in facts),
        *(_line("link", _encode_link(link)) for link in links),
        *(_line("proof", _plain(proof)) for proof in proofs),
    ]


def _pages(store: Store, bank: str, now: datetime) -> Iterator[Sequence[Fact]]:
    """All facts as recorded; from the first page again when facts were erased before what was read last."""
    everything = Filter(include_closed=True, include_expired=True).at(now)
    offset, last = 0, ""
    while True:
        start = max(offset - 1, 0)
        selection = Selection(
            where=everything, order=Order.OLDEST_RECORDED, offset=start, limit=PAGE + offset - start
        )
        with store.reading(bank) as reading:
            page = reading.browse(selection).facts
        if last and (not page or page[0].id != last):
            offset, last = 0, ""
            continue
        fresh = page[offset - start :]
        if not fresh:
            return
        yield fresh
        offset, last = offset + len(fresh), fresh[-1].id


def import_bank(store: Store, bank: str, lines: Iterable[str]) -> int:
    """Write an exported bank under `bank`, which must not hold facts; returns how many facts came."""
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
    imported, model = _decoded(1, "bank", bank, head), _decoded(1, "model", bank, head)
    parts: dict[str, list[Any]] = {name: [] for name in PARTS}
    ids: set[str] = set()
    for number, kind, body in bodies:
        if kind not in parts:
            raise InvalidInput(f"line {number}", "one of " + ", ".join(PARTS), kind)
        part = _decoded(number, kind, bank, body)
        if kind == "fact":
            if part.fact.id in ids:
                raise InvalidInput(f"line {number}", "a fact that no line before holds", part.fact.id)
            ids.add(part.fact.id)
            _check_vectors(number, part.features, model)
        parts[kind].append(part)
    with store.transaction(bank) as tx:
        tx.put_bank(imported)
        if model is not None:
            tx.set_model(model)
        tx.put_documents(parts["document"])
        tx.put_chunks(parts["chunk"])
        tx.put_entities(parts["entity"])
        tx.insert_facts(parts["fact"])
        tx.put_links(parts["link"])
        tx.add_proofs(parts["proof"])
        tx.put_records(parts["unfinished"])
    return len(parts["fact"])


def _check_vectors(number: int, features: Features, model: EmbeddingModel | None) -> None:
    for vector in features.vectors.values():
        if model is None or vector.shape != (model.dimensions,):
            expected = f"vectors of {model}" if model is not None else "no vectors, as the bank has no model"
            raise InvalidInput(f"line {number}", expected)


def _decoded(number: int, kind: str, bank: str, body: dict[str, Any]) -> Any:
    try:
        return _DECODERS[kind](bank, body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"line {number}", f"a {kind} as an export writes it") from error


def _line(kind: str, body: Mapping[str, Any]) -> str:
    line = json.dumps({"kind": kind, **body}, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _BREAKS.items():
        line = line.replace(character, escape)
    return line


def _read(number: int, line: str) -> tuple[int, str, dict[str, Any]]:
    try:
        body = json.loads(line)
        return number, str(body.pop("kind")), body
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"line {number}", "a JSON object with a kind") from error


def _plain(value: Any) -> Any:
    """Dataclasses, dates and sets as JSON values; defaults are written too, so that files explain themselves."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(value)
    if hasattr(value, "__dataclass_fields__"):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value


def _encode_features(features: Features) -> dict[str, Any]:
    return {
        "vectors": {
            view: base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
            for view, vector in features.vectors.items()
        },
        "terms": dict(features.terms),
        "words": list(features.words),
        "signature": base64.b64encode(features.signature).decode(),
        "tokens": base64.b64encode(features.tokens).decode(),
        "dedupe_key": features.dedupe_key,
        "passage": features.passage,
        "passage_in_context": features.passage_in_context,
    }


def _encode_link(link: Link) -> dict[str, Any]:
    return {"source": link.source, "target": link.target, "link": link.kind.value, "weight": link.weight}


def _decode_features(body: Mapping[str, Any]) -> Features:
    return Features(
        vectors={
            view: np.frombuffer(base64.b64decode(data), dtype="<f4").astype(np.float32)
            for view, data in body["vectors"].items()
        },
        terms=body["terms"],
        words=tuple(body["words"]),
        signature=base64.b64decode(body["signature"]),
        tokens=base64.b64decode(body["tokens"]),
        dedupe_key=body["dedupe_key"],
        passage=body["passage"],
        passage_in_context=body.get("passage_in_context", ""),
    )


def _bank(bank: str, head: Mapping[str, Any]) -> Bank:
    imported = Bank(
        id=bank,
        name=head.get("name", ""),
        mission=head.get("mission", ""),
        disposition=Disposition(**head["disposition"]),
        settings=head.get("settings", {}),
        created_at=parse_instant(head.get("created_at"), "created_at"),
        updated_at=parse_instant(head.get("updated_at"), "updated_at"),
    )
    return validate_fields(imported)


def _model(_: str, head: Mapping[str, Any]) -> EmbeddingModel | None:
    model = head.get("model")
    return EmbeddingModel(model["name"], int(model["dimensions"])) if model else None


def _typed(body: Mapping[str, Any], times: Sequence[str]) -> dict[str, Any]:
    return {**body, **{name: parse_instant(body.get(name), name) for name in times}}


def _document(bank: str, body: Mapping[str, Any]) -> Document:
    typed = _typed(body, ("created_at", "updated_at"))
    return validate_fields(Document(**{**typed, "bank": bank, "tags": frozenset(body["tags"])}))


def _chunk(bank: str, body: Mapping[str, Any]) -> Chunk:
    spans = tuple(validate_fields(TurnSpan(**_typed(span, ("said_at",)))) for span in body["spans"])
    return validate_fields(Chunk(**{**body, "bank": bank, "spans": spans}))


def _entity(bank: str, body: dict[str, Any]) -> KeyedEntity:
    typed = _typed(body, ("first_seen", "last_seen"))
    keys = tuple(typed.pop("keys"))
    entity = Entity(**{**typed, "bank": bank, "aliases": tuple(body["aliases"])})
    return validate_fields(KeyedEntity(validate_fields(entity), keys))


def _fact(bank: str, body: dict[str, Any]) -> NewFact:
    features = _decode_features(body.pop("features"))
    times = [f.name for f in fields(Fact) if f.name.endswith(("_at", "_from", "_to", "_start", "_end"))]
    typed = _typed(body, times)
    for name in ("entities", "entity_ids", "emotion_tags", "flags", "source_fact_ids"):
        typed[name] = tuple(typed[name])
    recalled = tuple(datetime.fromisoformat(moment) for moment in body["recall_times"])
    fact = Fact(
        **{
            **typed,
            "bank": bank,
            "type": FactType(body["type"]),
            "tier": Tier(body["tier"]),
            "tags": frozenset(body["tags"]),
            "recall_times": recalled,
        }
    )
    if _PASSAGES_JOINED in features.passage:
        in_context, _, own = features.passage.rpartition(_PASSAGES_JOINED)
        features = replace(features, passage="" if own == fact.text else own, passage_in_context=in_context)
    return NewFact(validate_fields(_with_reason(fact)), validate_fields(features))


def _with_reason(fact: Fact) -> Fact:
    """A fact of version 1 that was declared wrong by a flag."""
    for flag in fact.flags:
        if flag.startswith(_INVALIDATED_FLAG) and fact.retired_at is not None and not fact.invalidated_at:
            return replace(
                fact,
                flags=tuple(other for other in fact.flags if other != flag),
                invalidated_at=fact.retired_at,
                invalid_reason=flag.removeprefix(_INVALIDATED_FLAG) or None,
            )
    return fact


def _link(_: str, body: Mapping[str, Any]) -> Link:
    return validate_fields(Link(body["source"], body["target"], LinkKind(body["link"]), body["weight"]))


def _proof(_: str, body: Mapping[str, Any]) -> Proof:
    return validate_fields(Proof(**_typed(body, ("seen_at",))))


def _unfinished(bank: str, body: Mapping[str, Any]) -> Record:
    reason = {"reason": str(body["reason"])}
    return validate_fields(Record(kind=UNFINISHED_DOCUMENT, bank=bank, id=body["id"], body=reason))


_DECODERS: Mapping[str, Any] = {
    "bank": _bank,
    "model": _model,
    "document": _document,
    "unfinished": _unfinished,
    "chunk": _chunk,
    "entity": _entity,
    "fact": _fact,
    "link": _link,
    "proof": _proof,
}
