"""A 256-bit locality-sensitive signature of a text (SimHash), made without a model.

The votes of all bits are counted in one integer with a lane of 32 bits for each: many times as quick as adding arrays of this size.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np

from perdure.text.terms import index_terms

BITS = 256
_LANE = np.dtype("<u4")


def signature(text: str) -> bytes:
    """32 bytes; texts that share words and parts of words share bits."""
    total = voters = 0
    for term, count in index_terms(text).items():
        votes, size = _votes(term)
        total += votes * min(count, 3)
        voters += size * min(count, 3)
    lanes = np.frombuffer(total.to_bytes(BITS * _LANE.itemsize, "little"), dtype=_LANE)
    return np.packbits(lanes > voters // 2).tobytes()


@lru_cache(maxsize=65536)
def _votes(term: str) -> tuple[int, int]:
    """Return how many of a term's voters are for each bit, and how many they are: the term twice, and its parts."""
    padded = f"^{term}$"
    grams = {padded[i : i + 3] for i in range(len(padded) - 2)} or {padded}
    return 2 * _lanes(term) + sum(map(_lanes, grams)), 2 + len(grams)


@lru_cache(maxsize=4096)
def _lanes(text: str) -> int:
    """Return the bits of the text's hash, each in its lane."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BITS // 8).digest()
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8))
    return int.from_bytes(bits.astype(_LANE).tobytes(), "little")
