"""A 256-bit locality-sensitive signature of a text (SimHash), made without a model."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from perdure.text.terms import index_terms

BITS = 256


def signature(text: str) -> bytes:
    """32 bytes; texts that share words and parts of words share bits."""
    total = np.zeros(BITS, dtype=np.int32)
    for term, count in index_terms(text).items():
        total += _votes(term) * np.int32(min(count, 3))
    return np.packbits(total > 0).tobytes()


@lru_cache(maxsize=65536)
def _votes(term: str) -> NDArray[np.int32]:
    padded = f"^{term}$"
    grams = {padded[i : i + 3] for i in range(len(padded) - 2)} or {padded}
    votes = 2 * _bits(term).astype(np.int32)
    for gram in grams:
        votes = votes + _bits(gram)
    return votes


def _bits(text: str) -> NDArray[np.int8]:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BITS // 8).digest()
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8)).astype(np.int8)
    return bits * 2 - 1
