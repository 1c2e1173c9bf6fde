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
        for _ in range(min(count, 3)):
            total += _votes(term)
    return np.packbits(total > 0).tobytes()


@lru_cache(maxsize=65536)
def _votes(term: str) -> NDArray[np.int32]:
    padded = f"^{term}$"
    grams = {padded[i : i + 3] for i in range(len(padded) - 2)} or {padded}
    own = _digest(term)
    digests = np.frombuffer(b"".join([own, own, *map(_digest, grams)]), dtype=np.uint8)
    bits = np.unpackbits(digests).reshape(-1, BITS)
    votes: NDArray[np.int32] = bits.sum(axis=0, dtype=np.int32)
    votes *= 2
    votes -= len(bits)
    return votes


@lru_cache(maxsize=32768)
def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BITS // 8).digest()
