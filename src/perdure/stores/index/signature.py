"""The signature channel: share of equal bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit
from perdure.ports.probe import SignatureProbe
from perdure.stores.index.arrays import AppendOnlyArray, Mask, Rows, mask_of, rows_of
from perdure.stores.index.feed import Feed
from perdure.stores.index.rank import best, hits
from perdure.stores.index.table import FactTable

SIGNATURE_BYTES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """The signatures of a bank at one state."""

    rows: Rows
    """Row per signature."""
    words: NDArray[np.uint64]
    """Shape (signatures, 4)."""


def search_signature(
    table: FactTable, probe: SignatureProbe, signatures: Signatures, mask: Mask, limit: int
) -> list[Hit]:
    """Share of equal bits among facts that carry a signature."""
    if len(probe.signature) != SIGNATURE_BYTES:
        return []
    positions = np.flatnonzero(mask_of(signatures.rows, mask))
    differing = np.bitwise_count(
        signatures.words.take(positions, axis=0) ^ np.frombuffer(probe.signature, "<u8")
    )
    shares = 1.0 - differing.sum(axis=1, dtype=np.int64) / (8.0 * SIGNATURE_BYTES)
    rows = signatures.rows.take(positions)
    return hits(table, best(table, rows, shares, limit, min_score=probe.min_score))


class SignatureBuilder:
    """Grows the signatures and hands out their states."""

    key = "signatures"

    def __init__(self) -> None:
        self._rows = AppendOnlyArray(np.empty(0, np.int64))
        self._words = AppendOnlyArray(np.empty((0, SIGNATURE_BYTES // 8), np.uint64))

    @property
    def nbytes(self) -> int:
        """Return memory in use."""
        return self._rows.nbytes + self._words.nbytes

    def read(self, feed: Feed, row_of: Rows, numbers: Sequence[int] | None = None) -> None:
        """Add the signatures of all facts, or of those of some numbers; `row_of` tells the row per number."""
        facts = [(no, bits) for no, bits in feed.signatures(numbers) if len(bits) == SIGNATURE_BYTES]
        rows = rows_of(row_of, np.array([no for no, _ in facts], np.int64))
        words = np.frombuffer(b"".join(bits for _, bits in facts), "<u8").reshape(-1, SIGNATURE_BYTES // 8)
        self._rows.append(rows[rows >= 0])
        self._words.append(words[rows >= 0])

    def state(self) -> Signatures:
        """Return the present state."""
        return Signatures(self._rows.view, self._words.view)
