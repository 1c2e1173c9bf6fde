"""Transfer: a bank as JSON lines, and back again, equal in every respect."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import numpy as np

from perdure.domain.bank import Bank, Disposition, EmbeddingModel, check_bank_id
from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier, TurnSpan
from perdure.domain.filter import Filter
from perdure.domain.record import Record
from perdure.domain.time import parse_instant
from perdure.errors import Conflict, InvalidInput
from perdure.manage.validation import checked
from perdure.ports.store import Features, KeyedEntity, NewFact, Proof, Selection, Store, Target, WriteBatch
from perdure.retain.safekeeping import KIND as UNFINISHED

FORMAT = "perdure-bank"
VERSION = 1
PAGE = 500
PARTS = ("document", "unfinished", "chunk", "entity", "fact", "link", "proof")
_BREAKS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that JSON allows in text and at which many readers would end the line."""


def export_bank(store: Store, bank: str, now: datetime) -> Iterator[str]:
    """One JSON object a line: the bank first, then documents, chunks, entities, and facts with links and proofs.

    A document whose facts a model could not make yet is named as unfinished, so that they are made there later.
    """
    found = store.banks([bank])
    if not found:
        return
    yield _line("bank", {**_plain(found[0]), "format": FORMAT, "version": VERSION})
    documents = store.documents(bank)
    for document in documents:
        yield _line("document", _plain(document))
    for record in store.records(UNFINISHED, bank=bank):
        yield _line("unfinished", {"id": record.id, **_plain(record.body)})
    for document in documents:
        for chunk in store.chunks(bank, document_id=document.id):
            yield _line("chunk", _plain(chunk))
    for keyed in store.entities(bank):
        yield _line("entity", {**_plain(keyed.entity), "keys": list(keyed.keys)})
    yield from _facts(store, bank, now)


def _facts(store: Store, bank: str, now: datetime) -> Iterator[str]:
    everything = Filter(now=now, any_time=True, include_expired=True)
    told: set[str] = set()
    for listed in _pages(store, bank, Selection(wanted=everything, limit=PAGE, oldest_first=True)):
        features = store.features(bank, [fact.id for fact in listed if fact.id not in told])
        page = [fact for fact in listed if fact.id in features]
        told |= features.keys()
        for fact in page:
            yield _line("fact", {**_plain(fact), "features": _encode_features(features[fact.id])})
        for link in store.links(bank, [fact.id for fact in page]):
            if link.source in features:
                yield _line(
                    "link",
                    {
                        "source": link.source,
                        "target": link.target,
                        "link": link.kind.value,
                        "weight": link.weight,
                    },
                )
        for proof in store.proofs(bank, [fact.id for fact in page]):
            yield _line("proof", _plain(proof))


def _pages(store: Store, bank: str, chosen: Selection) -> Iterator[Sequence[Fact]]:
    """All pages of a listing; from the first again when facts were erased or put in before what was read last."""
    offset, last = 0, ""
    while True:
        start = max(offset - 1, 0)
        page = store.browse(bank, replace(chosen, offset=start, limit=chosen.limit + offset - start)).facts
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
    if store.stats(bank).facts:
        raise Conflict(f"bank {bank!r} already holds facts; import into a new one")
    records = (_read(number, line) for number, line in enumerate(lines, start=1) if line.strip())
    _, kind, head = next(records, (1, "", {}))
    if kind != "bank" or head.get("format") != FORMAT:
        raise InvalidInput("line 1", f"the first line of a {FORMAT} export")
    if head.get("version") not in range(1, VERSION + 1):
        raise InvalidInput("version", f"at most {VERSION}", head.get("version"))
    made, model = _decoded(1, "bank", bank, head), _decoded(1, "model", bank, head)
    batches: dict[str, list[Any]] = {name: [] for name in PARTS}
    known: set[str] = set()
    for number, kind, body in records:
        if kind not in batches:
            raise InvalidInput(f"line {number}", "one of " + ", ".join(PARTS), kind)
        batches[kind].append(_decoded(number, kind, bank, body))
        if kind == "fact":
            if body["id"] in known:
                raise InvalidInput(f"line {number}", "a fact that no line before holds", body["id"])
            known.add(body["id"])
    with _made(store, made):
        store.write(
            WriteBatch(
                bank=bank,
                model=model,
                documents=batches["document"],
                chunks=batches["chunk"],
                entities=batches["entity"],
                facts=_without(batches["fact"], batches["proof"]),
                links=batches["link"],
                proofs=batches["proof"],
                records=batches["unfinished"],
            )
        )
    return len(batches["fact"])


@contextmanager
def _made(store: Store, bank: Bank) -> Iterator[None]:
    """The bank is there in the block, and as it was before when the block fails."""
    before = store.banks([bank.id])
    store.save_bank(bank)
    try:
        yield
    except BaseException:
        if before:
            store.save_bank(before[0])
        else:
            store.forget(bank.id, Target(bank=True))
        raise


def _without(facts: Sequence[NewFact], proofs: Sequence[Proof]) -> list[NewFact]:
    """The facts as they were before the proofs, which count again when they are written."""
    again = Counter(proof.fact_id for proof in proofs)
    return [
        replace(new, fact=replace(new.fact, proof_count=max(1, new.fact.proof_count - again[new.fact.id])))
        if again[new.fact.id]
        else new
        for new in facts
    ]


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
    }


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
    )


def _bank(bank: str, head: Mapping[str, Any]) -> Bank:
    made = Bank(
        id=bank,
        name=head.get("name", ""),
        mission=head.get("mission", ""),
        disposition=Disposition(**head["disposition"]),
        settings=head.get("settings", {}),
        created_at=parse_instant(head.get("created_at"), "created_at"),
        updated_at=parse_instant(head.get("updated_at"), "updated_at"),
    )
    return checked(made)


def _model(_: str, head: Mapping[str, Any]) -> EmbeddingModel | None:
    model = head.get("model")
    return EmbeddingModel(model["name"], int(model["dimensions"])) if model else None


def _typed(body: Mapping[str, Any], times: Sequence[str]) -> dict[str, Any]:
    return {**body, **{name: parse_instant(body.get(name), name) for name in times}}


def _document(bank: str, body: Mapping[str, Any]) -> Document:
    given = _typed(body, ("created_at", "updated_at"))
    return checked(Document(**{**given, "bank": bank, "tags": frozenset(body["tags"])}))


def _chunk(bank: str, body: Mapping[str, Any]) -> Chunk:
    spans = tuple(checked(TurnSpan(**_typed(span, ("said_at",)))) for span in body["spans"])
    return checked(Chunk(**{**body, "bank": bank, "spans": spans}))


def _entity(bank: str, body: dict[str, Any]) -> KeyedEntity:
    given = _typed(body, ("first_seen", "last_seen"))
    keys = tuple(given.pop("keys"))
    entity = Entity(**{**given, "bank": bank, "aliases": tuple(body["aliases"])})
    return checked(KeyedEntity(checked(entity), keys))


def _fact(bank: str, body: dict[str, Any]) -> NewFact:
    features = _decode_features(body.pop("features"))
    times = [f.name for f in fields(Fact) if f.name.endswith(("_at", "_from", "_to", "_start", "_end"))]
    given = _typed(body, times)
    for name in ("entities", "entity_ids", "emotion_tags", "flags", "source_fact_ids"):
        given[name] = tuple(given[name])
    recalled = tuple(datetime.fromisoformat(moment) for moment in body["recall_times"])
    fact = Fact(
        **{
            **given,
            "bank": bank,
            "type": FactType(body["type"]),
            "tier": Tier(body["tier"]),
            "tags": frozenset(body["tags"]),
            "recall_times": recalled,
        }
    )
    return NewFact(checked(fact), checked(features))


def _link(_: str, body: Mapping[str, Any]) -> Link:
    return checked(Link(body["source"], body["target"], LinkKind(body["link"]), body["weight"]))


def _proof(_: str, body: Mapping[str, Any]) -> Proof:
    return checked(Proof(**_typed(body, ("seen_at",))))


def _unfinished(bank: str, body: Mapping[str, Any]) -> Record:
    return checked(Record(kind=UNFINISHED, bank=bank, id=body["id"], body={"reason": str(body["reason"])}))


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
