"""How domain objects become rows and rows become domain objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from json import encoder as json_encoder
from struct import Struct, pack
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from perdure.domain.bank import Bank, Disposition, EmbeddingModel
from perdure.domain.fact import Chunk, Document, Entity, Fact, FactType, LinkKind, Tier, TurnSpan
from perdure.domain.record import Record
from perdure.domain.revise import made
from perdure.ports.embedder import Matrix, Vector

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = np.iinfo(np.int64).max
"""Stands for an end that is not known."""
ALWAYS = np.iinfo(np.int64).min
"""Stands for a beginning that is not known."""

TYPES = {kind: code for code, kind in enumerate(FactType)}
TIERS = {tier: code for code, tier in enumerate(Tier)}
KINDS = {kind: code for code, kind in enumerate(LinkKind)}
KIND_OF = tuple(LinkKind)

MOMENTS = ("recorded", "retired", "valid_from", "valid_to", "expires", "first", "last", "dated")
HASHES = ("document", "topic", "subject", "relation", "object", "speaker")
SMALL = ("type", "tier", "classification", "superseded")
COUNTS = ("terms", "entities", "metadata")
COLUMNS = np.dtype(
    [(name, "<i8") for name in MOMENTS]
    + [(name, "<u8") for name in HASHES]
    + [("length", "<f8")]
    + [(name, "u1") for name in SMALL]
    + [(name, "<u4") for name in COUNTS]
)
"""What the index keeps of each fact; `first` and `last` bound when it happened (or was said)."""
ORIGINAL = np.dtype("<f2")
"""A vector's values as they are stored."""
TERM = np.dtype([("hash", "<u4"), ("tf", "<f4")])
EDGE = np.dtype([("other", "<i8"), ("kind", "u1"), ("outgoing", "u1"), ("weight", "<f4")])

_COLUMNS = Struct("<8q6Qd4B3I")
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime | None, absent: int) -> int:
    """Microseconds since 1970."""
    return absent if moment is None else (moment - EPOCH) // _MICROSECOND


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 text that `datetime.fromisoformat` reads back."""
    return None if moment is None else moment.isoformat()


def instant(text: str | None) -> datetime | None:
    """The datetime of ISO 8601 text."""
    return None if text is None else datetime.fromisoformat(text)


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)
_make = getattr(json_encoder, "c_make_encoder", None)
_pieces = _make and _make(
    None, _encoder.default, json_encoder.encode_basestring, None, ":", ",", False, False, True
)


def compact(value: object) -> str:
    """JSON without blanks; `encode` would build the encoder anew for each value, which takes most of its time."""
    return "".join(_pieces(value, 0)) if _pieces else _encoder.encode(value)


@lru_cache(maxsize=1 << 16)
def digest(text: str) -> int:
    """A 64-bit hash that no one can steer two texts into."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=1 << 16)
def term_hash(term: str) -> int:
    """The 32-bit hash under which a term is indexed."""
    return crc32(term.encode())


def name_hash(name: str | None) -> int:
    """Hash of a name in any case; 0 for none."""
    return 0 if name is None else digest(name.casefold())


def pair_hash(key: str, value: str) -> int:
    """Hash of a metadata pair."""
    return digest(f"{key}\x00{value}")


def pack_hashes(hashes: Iterable[int]) -> bytes:
    """64-bit hashes as bytes."""
    values = tuple(hashes)
    return pack(f"<{len(values)}Q", *values)


def columns_of(fact: Fact, length: float, terms: int) -> bytes:
    """The packed columns of a fact."""
    occurred = fact.occurred_start is not None or fact.occurred_end is not None
    first = (fact.occurred_start or fact.occurred_end) if occurred else fact.mentioned_at
    last = (fact.occurred_end or fact.occurred_start) if occurred else fact.mentioned_at
    return _COLUMNS.pack(
        micros(fact.recorded_at, ALWAYS),
        micros(fact.retired_at, NEVER),
        micros(fact.valid_from, ALWAYS),
        micros(fact.valid_to, NEVER),
        micros(fact.expires_at, NEVER),
        micros(first, NEVER),
        micros(last, ALWAYS),
        micros(fact.dated, NEVER),
        0 if fact.document_id is None else digest(fact.document_id),
        0 if fact.topic is None else digest(fact.topic),
        name_hash(fact.subject),
        name_hash(fact.relation),
        name_hash(fact.object),
        name_hash(fact.speaker),
        length,
        TYPES[fact.type],
        TIERS[fact.tier],
        fact.classification,
        fact.superseded_by is not None,
        terms,
        len(set(fact.entity_ids)),
        len(fact.metadata),
    )


def entity_hashes(fact: Fact) -> bytes:
    """The packed memberships of a fact."""
    return pack_hashes(sorted({digest(entity) for entity in fact.entity_ids}))


def metadata_hashes(fact: Fact) -> bytes:
    """The packed metadata of a fact."""
    return pack_hashes(pair_hash(key, value) for key, value in fact.metadata.items())


def tags_text(fact: Fact) -> str | None:
    """The tags as the index interns them."""
    return compact(sorted(fact.tags)) if fact.tags else None


def pack_terms(terms: Mapping[str, float]) -> bytes:
    """Terms as (hash, weighted frequency)."""
    flat = [value for term, tf in terms.items() if tf > 0 for value in (term_hash(term), tf)]
    return pack("<" + "If" * (len(flat) // 2), *flat)


def pack_edges(edges: Mapping[tuple[int, int, int], float]) -> bytes:
    """Links as (other fact's number, kind, outgoing) -> weight."""
    flat = [value for key, weight in edges.items() for value in (*key, weight)]
    return pack("<" + "qBBf" * len(edges), *flat)


def encode_originals(vectors: Sequence[Vector]) -> list[bytes]:
    """Vectors as they are stored: float16."""
    return [row.tobytes() for row in np.asarray(vectors, ORIGINAL)]


def encode_vectors(matrix: Matrix) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """(scales, values): int8 codes of vectors."""
    scales = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / 127.0
    return scales.astype(np.float32), np.rint(matrix / scales[:, None]).astype(np.int8)


def decode_original(value: bytes) -> Vector:
    """A stored vector."""
    return np.frombuffer(value, ORIGINAL).astype(np.float32)


def decode_originals(values: Sequence[bytes]) -> Matrix:
    """Stored vectors as a matrix."""
    return np.frombuffer(b"".join(values), ORIGINAL).reshape(len(values), -1).astype(np.float32)


def encode_document(document: Document) -> str:
    """All fields but id and bank."""
    return compact(
        [
            document.title,
            document.context,
            sorted(document.tags),
            dict(document.metadata),
            document.content_hash,
            document.characters,
            iso(document.created_at),
            iso(document.updated_at),
        ]
    )


def decode_documents(bank: str, rows: Sequence[tuple[str, str]]) -> list[Document]:
    """The documents of rows; recall reads a hundred at once to see their titles."""
    if not rows:
        return []
    ids, bodies = zip(*rows, strict=True)
    title, context, tags, metadata, content_hash, characters, created, updated = zip(
        *json.loads(f"[{','.join(bodies)}]"), strict=True
    )
    return made(
        Document,
        id=ids,
        bank=repeat(bank),
        title=title,
        context=context,
        tags=map(frozenset, tags),
        metadata=metadata,
        content_hash=content_hash,
        characters=characters,
        created_at=map(instant, created),
        updated_at=map(instant, updated),
    )


def decode_document(bank: str, ident: str, body: str) -> Document:
    """The document of a row."""
    (document,) = decode_documents(bank, [(ident, body)])
    return document


CHUNK_COLUMNS = "id, document_id, ordinal, content_hash, text, spans"


def encode_chunk(chunk: Chunk) -> tuple[str, str, int, str, str, str | None]:
    """The row of CHUNK_COLUMNS."""
    spans = [[one.start, one.end, one.speaker, one.is_agent, iso(one.said_at)] for one in chunk.spans]
    packed = compact(spans) if spans else None
    return chunk.id, chunk.document_id, chunk.ordinal, chunk.content_hash, chunk.text, packed


def decode_chunk(bank: str, row: tuple[str, str, int, str, str, str | None]) -> Chunk:
    """The chunk of a row of CHUNK_COLUMNS."""
    ident, document_id, ordinal, content_hash, text, packed = row
    spans = tuple(
        TurnSpan(start=start, end=end, speaker=speaker, is_agent=is_agent, said_at=instant(said_at))
        for start, end, speaker, is_agent, said_at in (json.loads(packed) if packed else ())
    )
    return Chunk(
        id=ident,
        bank=bank,
        document_id=document_id,
        ordinal=ordinal,
        text=text,
        content_hash=content_hash,
        spans=spans,
    )


def encode_entity(entity: Entity) -> str:
    """All fields but id, bank and mentions."""
    return compact(
        [entity.name, entity.type, list(entity.aliases), iso(entity.first_seen), iso(entity.last_seen)]
    )


def decode_entity(bank: str, ident: str, mentions: int, body: str) -> Entity:
    """The entity of a row."""
    name, kind, aliases, first_seen, last_seen = json.loads(body)
    return Entity(
        id=ident,
        bank=bank,
        name=name,
        type=kind,
        aliases=tuple(aliases),
        mentions=mentions,
        first_seen=instant(first_seen),
        last_seen=instant(last_seen),
    )


BANK_COLUMNS = "id, name, mission, disposition, settings, model, dimensions, created_at, updated_at"


def decode_bank(row: tuple[str, str, str, str, str, str | None, int | None, str | None, str | None]) -> Bank:
    """The bank of a row of BANK_COLUMNS."""
    ident, name, mission, disposition, settings, model, dimensions, created, updated = row
    return Bank(
        id=ident,
        name=name,
        mission=mission,
        disposition=Disposition(**json.loads(disposition)),
        settings=json.loads(settings),
        model=None if model is None else EmbeddingModel(model, dimensions or 0),
        created_at=instant(created),
        updated_at=instant(updated),
    )


def encode_record(record: Record) -> str:
    """Body and times."""
    return compact([record.body, iso(record.created_at), iso(record.updated_at)])


def decode_record(kind: str, bank: str, ident: str, body: str) -> Record:
    """The record of a row."""
    held, created, updated = json.loads(body)
    return Record(
        kind=kind, bank=bank, id=ident, body=held, created_at=instant(created), updated_at=instant(updated)
    )


def pack_views(views: Mapping[str, Vector]) -> bytes:
    """Names and float16 vectors in one value."""
    names = compact(list(views)).encode()
    values = b"".join(np.asarray(vector, "<f2").tobytes() for vector in views.values())
    return len(names).to_bytes(4, "little") + names + values


def unpack_views(packed: bytes) -> dict[str, Vector]:
    """What `pack_views` packed."""
    end = 4 + int.from_bytes(packed[:4], "little")
    names = json.loads(packed[4:end])
    values = np.frombuffer(packed[end:], "<f2").astype(np.float32)
    return dict(zip(names, values.reshape(len(names), -1), strict=True)) if names else {}
