"""The bytes of one fact in the index cache, and the arrays that an index makes of many.

A body is a sequence of little-endian 8-byte words, so that the bodies of a bank are read as one array:

    bytes      type     what
    0          u8       version of the format, 1
    1          u8       type: 0 world, 1 experience, 2 opinion, 3 observation
    2          u8       tier: 0 core, 1 general
    3          u8       classification
    4          u8       1 when another fact superseded it
    5..7       0
    8..71      8 x i64  recorded, retired, valid from, valid to, expires, first, last, dated
    72..119    6 x u64  document, topic, subject, relation, object, speaker
    120..127   i64      ordinal
    128..135   f64      length: the sum of the fact's weighted term frequencies
    136..143   u64      the set of tags, 0 without any
    144..163   5 x u32  how many words of tags, metadata pairs, entities, terms and links follow
    164..167   0
    then       text     the tags as a sorted JSON array, filled up with blanks to whole words; nothing without tags
               u64      one per metadata pair
               u64      one per entity, without repetition
               u32 f32  term and weighted frequency
               i64 f32 u8 u8 u16   other fact's number, weight, kind (0 temporal, 1 semantic, 2 causal),
                        1 when the link leads from this fact to the other, 0

Times are microseconds since 1970. A beginning that is not known is -2**63, an end 2**63 - 1; `first` and `last` bound when
the fact happened (undated: was said), and are 2**63 - 1 and -2**63 where that is not known; `dated` is its one date.
Names, ids, tag sets and metadata pairs are hashed by `digest`, names after case folding, 0 where there is none; terms by
CRC-32. A link stands with the one of its two facts that has the higher number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from struct import Struct, pack
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import Fact, FactType, LinkKind, Tier
from perdure.errors import StoreCorrupt
from perdure.ports.store import Features

VERSION = 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = 2**63 - 1
"""Stands for an end that is not known."""
ALWAYS = -(2**63)
"""Stands for a beginning that is not known."""

TYPE_CODES = {kind: code for code, kind in enumerate(FactType)}
TIER_CODES = {tier: code for code, tier in enumerate(Tier)}
LINK_CODES = {kind: code for code, kind in enumerate(LinkKind)}


class LinkEnd(NamedTuple):
    """A link as one of its two facts sees it; `other` is the other fact's number, lower than its own."""

    other: int
    kind: LinkKind
    outgoing: bool
    weight: float


def pack_fact(fact: Fact, features: Features, links: Sequence[LinkEnd]) -> bytes:
    """The body of a fact."""
    raise NotImplementedError


def with_columns(body: bytes, fact: Fact) -> bytes:
    """The body after the fact's filter columns changed: all but tags, metadata, entities, terms and links."""
    raise NotImplementedError


def with_links(body: bytes, links: Sequence[LinkEnd]) -> bytes:
    """The body with other links: all that join the fact with facts of lower number."""
    raise NotImplementedError
