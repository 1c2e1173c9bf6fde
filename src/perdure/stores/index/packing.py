"""The bytes of one fact in the index cache, and the arrays that an index makes of the bytes of many.

A body is a sequence of 8-byte words, little-endian, so that the bodies of a bank can be read as one array:

    bytes      type     what
    0          u8       version of the format, 4
    1          u8       type: 0 world, 1 experience, 2 opinion, 3 observation
    2          u8       tier: 0 core, 1 general
    3          u8       classification
    4          u8       1 when its date is unsure
    5          u8       1 when it is a question to the agent
    6, 7                zero
    8..79      9 x i64  recorded, retired, valid_from, valid_to, end_recorded, expires, first, last, dated
    80..127    6 x u64  document, topic, subject, relation, object, speaker
    128..135   i64      ordinal
    136..143   f64      length: the sum of the fact's weighted term frequencies
    144..163   5 x u32  how many of each follow: words of tags, metadata pairs, entities, terms, links
    164..167   u32      CRC-32 of the fact's id and of all other bytes of the body
    168..      text     the tags as a sorted JSON array, filled up with blanks to whole words; nothing without tags
               u64      per metadata pair: its hash; the same for the origin
               u64      per entity: the hash of its id
               u32 f32  per term: its CRC-32 and its weighted frequency
               i64 f32 u8 u8 u16
                        per link: number of the other fact, weight, kind (0 temporal, 1 semantic, 2 causal),
                        1 when the link leads from this fact to the other, zero

Times are microseconds since 1970. Where a beginning is not known it is -2**63, where an end is not known
2**63 - 1. `first` and `last` bound when the fact happened (undated: was said) and are 2**63 - 1 and -2**63
where that is not known; `dated` is its one date, 2**63 - 1 without any; where the date is unsure, `first` and
`last` have it and `dated` is when it was said. `end_recorded` is when its end became known by another fact,
2**63 - 1 where that is not so. Ids and names are hashed by `digest`, names after case folding; 0 stands for
none. A link stands in the body of the one of its two facts that has the higher number.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import Fact, FactType, LinkKind, Origin, Tier
from perdure.errors import StoreCorrupt
from perdure.ports.store import Features
from perdure.stores.index.arrays import Array, Positions, spans

VERSION = 4
NEVER = 2**63 - 1
"""Stands for an end that is not known."""
ALWAYS = -(2**63)
"""Stands for a beginning that is not known."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

TYPE_CODES = {kind: code for code, kind in enumerate(FactType)}
TIER_CODES = {tier: code for code, tier in enumerate(Tier)}
LINK_CODES = {kind: code for code, kind in enumerate(LinkKind)}

_SMALL = ("version", "type", "tier", "classification", "unsure", "question")
_TIMES = (
    "recorded",
    "retired",
    "valid_from",
    "valid_to",
    "end_recorded",
    "expires",
    "first",
    "last",
    "dated",
)
_HASHES = ("document", "topic", "subject", "relation", "object", "speaker")

_COLUMNS = struct.Struct("<6B2x9q6Qq")
_FEATURES = struct.Struct("<d5I4x")
_CHECKSUM = struct.Struct("<I")
_AT_CHECKSUM = 164
_LINK = struct.Struct("<qfBB2x")
_FIXED = _COLUMNS.size + _FEATURES.size
_FIXED_WORDS = _FIXED // 8


class LinkEnd(NamedTuple):
    """A link as one of its two facts sees it; `other` is the number of the other, lower than its own."""

    other: int
    kind: LinkKind
    outgoing: bool
    weight: float


def micros(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


@lru_cache(maxsize=1 << 16)
def digest(text: str) -> int:
    """Return 64 bits of BLAKE2b.

    Texts that nobody chose for it practically never share a digest, but two that do can be found in about
    2**32 attempts. Two such documents, topics, names, entities or metadata pairs pass for one another in the
    filters, listings and channels of a bank; the facts themselves are still read by number and id.
    """
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def name_hash(name: str | None) -> int:
    """Hash of a name in any case; 0 for none."""
    return 0 if name is None else digest(name.casefold())


def pair_hash(key: str, value: str) -> int:
    """Hash of a metadata pair."""
    return digest(f"{key}\x00{value}")


@lru_cache(maxsize=1 << 16)
def term_hash(term: str) -> int:
    """Return the 32 bits under which a term is indexed."""
    return crc32(term.encode())


def origin_hash(origin: Origin) -> int:
    """Hash under which a fact's origin stands among its metadata pairs; no key of metadata has a NUL."""
    return pair_hash("\x00origin", origin)


def pack_fact(fact: Fact, features: Features, links: Sequence[LinkEnd]) -> bytes:
    """Return the body of a fact; `links` are those with facts of lower number."""
    tags = _tags(fact.tags)
    pairs = [pair_hash(key, value) for key, value in fact.metadata.items()]
    pairs += [] if fact.origin is None else [origin_hash(fact.origin)]
    entities = sorted({digest(entity) for entity in fact.entity_ids})
    terms = [(term_hash(term), tf) for term, tf in features.terms.items() if tf > 0]
    length = sum(features.terms.values())
    body = b"".join(
        (
            _pack_columns(fact),
            _FEATURES.pack(length, len(tags) // 8, len(pairs), len(entities), len(terms), len(links)),
            tags,
            struct.pack(f"<{len(pairs) + len(entities)}Q", *pairs, *entities),
            struct.pack("<" + "If" * len(terms), *(value for term in terms for value in term)),
            _pack_links(links),
        )
    )
    checksum = _CHECKSUM.pack(_checksum(fact.id, body))
    return body[:_AT_CHECKSUM] + checksum + body[_AT_CHECKSUM + _CHECKSUM.size :]


def is_sound(fact_id: str, body: bytes) -> bool:
    """Return whether a body is what was packed, by this version."""
    return (
        isinstance(body, bytes)
        and len(body) >= _FIXED
        and body[0] == VERSION
        and _CHECKSUM.unpack_from(body, _AT_CHECKSUM)[0] == _checksum(fact_id, body)
    )


def _checksum(fact_id: str, body: bytes) -> int:
    view = memoryview(body)
    return crc32(view[_AT_CHECKSUM + _CHECKSUM.size :], crc32(view[:_AT_CHECKSUM], crc32(fact_id.encode())))


def _pack_columns(fact: Fact) -> bytes:
    happened = fact.occurred_start is not None or fact.occurred_end is not None
    first = (fact.occurred_start or fact.occurred_end) if happened else fact.mentioned_at
    last = (fact.occurred_end or fact.occurred_start) if happened else fact.mentioned_at
    return _COLUMNS.pack(
        VERSION,
        TYPE_CODES[fact.type],
        TIER_CODES[fact.tier],
        fact.classification,
        fact.has_unsure_date,
        fact.is_question,
        ALWAYS if fact.recorded_at is None else micros(fact.recorded_at),
        NEVER if fact.retired_at is None else micros(fact.retired_at),
        ALWAYS if fact.valid_from is None else micros(fact.valid_from),
        NEVER if fact.valid_to is None else micros(fact.valid_to),
        NEVER if fact.end_recorded_at is None else micros(fact.end_recorded_at),
        NEVER if fact.expires_at is None else micros(fact.expires_at),
        NEVER if first is None else micros(first),
        ALWAYS if last is None else micros(last),
        NEVER if fact.dated is None else micros(fact.dated),
        0 if fact.document_id is None else digest(fact.document_id),
        0 if fact.topic is None else digest(fact.topic),
        name_hash(fact.subject),
        name_hash(fact.relation),
        name_hash(fact.object),
        name_hash(fact.speaker),
        fact.ordinal,
    )


def _tags(tags: Iterable[str]) -> bytes:
    ordered = sorted(tags)
    text = json.dumps(ordered).encode() if ordered else b""
    return text.ljust(-(-len(text) // 8) * 8)


def _pack_links(links: Sequence[LinkEnd]) -> bytes:
    return b"".join(
        _LINK.pack(link.other, link.weight, LINK_CODES[link.kind], link.outgoing) for link in links
    )


@dataclass(frozen=True, slots=True, eq=False)
class UnpackedFacts:
    """Bodies as arrays. Flat arrays hold the values of the first fact, then of the second, and so on."""

    columns: dict[str, Array]
    """One value per fact; the names are those of the format, without `version`."""
    tags: list[bytes]
    """JSON text per fact, empty without tags."""
    pairs: NDArray[np.uint64]
    pair_counts: Positions
    entities: NDArray[np.uint64]
    entity_counts: Positions
    terms: NDArray[np.uint64]
    frequencies: NDArray[np.float32]
    term_counts: Positions
    link_others: NDArray[np.int64]
    link_kinds: NDArray[np.uint8]
    link_weights: NDArray[np.float32]
    link_counts: Positions


def unpack_facts(bodies: Sequence[bytes]) -> UnpackedFacts:
    """Return arrays of many bodies; raises StoreCorrupt when one is damaged."""
    sizes = np.fromiter(map(len, bodies), np.int64, len(bodies))
    if (sizes < _FIXED).any() or (sizes % 8).any():
        raise StoreCorrupt("a fact of the index cache is cut off")
    # All bodies as 8-byte words, shape (total,), and where each body starts, shape (facts,).
    words = np.frombuffer(b"".join(bodies), "<u8")
    starts = np.cumsum(sizes // 8) - sizes // 8
    # The fixed part, one line per word of it: shape (21, facts).
    fixed = np.stack([words.take(starts + at) for at in range(_FIXED_WORDS)])
    columns = _unpack_columns(fixed)
    # Five 32-bit counts in three words: shape (facts, 6), the last unused.
    counts = np.ascontiguousarray(fixed[18:].T).view("<u4").astype(np.int64)
    tag_words, pairs, entities, terms, links = counts.T[:5]
    if not np.array_equal(_FIXED_WORDS + tag_words + pairs + entities + terms + 2 * links, sizes // 8):
        raise StoreCorrupt("a fact of the index cache has not the length that it states")
    # Where each section of each body starts; the values of a section, gathered from all bodies, are flat arrays.
    at_pairs = starts + _FIXED_WORDS + tag_words
    at_entities = at_pairs + pairs
    at_terms = at_entities + entities
    at_links = at_terms + terms
    packed_terms = words.take(spans(at_terms, terms))
    packed_links = words.take(spans(at_links, 2 * links))
    kinds = packed_links.view("u1")[12::16]
    if (kinds >= len(LINK_CODES)).any():
        raise StoreCorrupt("a link of the index cache has an unknown kind")
    ends = (_FIXED + 8 * tag_words).tolist()
    return UnpackedFacts(
        columns=columns,
        tags=[body[_FIXED:end] for body, end in zip(bodies, ends, strict=True)],
        pairs=words.take(spans(at_pairs, pairs)),
        pair_counts=pairs,
        entities=words.take(spans(at_entities, entities)),
        entity_counts=entities,
        terms=packed_terms.view("<u4")[0::2].astype(np.uint64),
        frequencies=packed_terms.view("<f4")[1::2].copy(),
        term_counts=terms,
        link_others=packed_links.view("<i8")[0::2].copy(),
        link_kinds=kinds.copy(),
        link_weights=packed_links.view("<f4")[2::4].copy(),
        link_counts=links,
    )


def unpack_tags(text: bytes) -> frozenset[str]:
    """Return a set of tags from its JSON text."""
    try:
        return frozenset(json.loads(text)) if text else frozenset()
    except ValueError as error:
        raise StoreCorrupt(f"tags of the index cache cannot be read: {error}") from error


def _unpack_columns(fixed: NDArray[np.uint64]) -> dict[str, Array]:
    """Return columns of the fixed part, one line per word."""
    small = fixed[0].view("u1").reshape(-1, 8)
    columns: dict[str, Array] = {name: small[:, at].copy() for at, name in enumerate(_SMALL)}
    if (columns.pop("version") != VERSION).any():
        raise StoreCorrupt(f"a fact of the index cache is not of version {VERSION}")
    if (columns["type"] >= len(TYPE_CODES)).any() or (columns["tier"] >= len(TIER_CODES)).any():
        raise StoreCorrupt("a fact of the index cache has an unknown type or tier")
    columns |= {name: fixed[1 + at].view("<i8") for at, name in enumerate(_TIMES)}
    columns |= {name: fixed[10 + at] for at, name in enumerate(_HASHES)}
    columns["ordinal"] = fixed[16].view("<i8")
    columns["length"] = fixed[17].view("<f8")
    return columns
