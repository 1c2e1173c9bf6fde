"""Embedding: texts to vectors and token vectors, on other threads while the extractor still reads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import numpy as np

from perdure.domain.work import check_work
from perdure.ports.embedder import (
    Embedder,
    JointEmbedder,
    LateInteraction,
    Matrix,
    PendingEmbeddings,
    ThreadedEmbedder,
    Vector,
)

Embedded = tuple[Matrix | None, Sequence[bytes]]
"""Vectors (None without an embedder) and packed token vectors of some texts."""


def embed_texts(texts: Sequence[str], embedder: Embedder | None, late: LateInteraction | None) -> Embedded:
    """Vectors and token vectors, in one pass where one model gives both."""
    nothing = [b""] * len(texts)
    if not texts:
        return None, nothing
    both: object = late
    if both is embedder and isinstance(both, JointEmbedder):
        return both.embed_and_encode(texts)
    vectors = embedder.embed_passages(texts) if embedder is not None else None
    return vectors, late.encode_passages(texts) if late is not None else nothing


class BackgroundEmbedder:
    """Texts given to `start` are embedded on other threads; `finish` waits for them and embeds the rest.

    The result is that of `embed_texts`: when a text was embedded plays no part.
    """

    def __init__(self, embedder: Embedder | None, late: LateInteraction | None) -> None:
        self._embedder, self._late = embedder, late
        self._thread: ThreadPoolExecutor | None = None
        self._pending: list[tuple[list[str], PendingEmbeddings]] = []
        self._started: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, pending in self._pending:
            pending.cancel()
        if self._thread is not None:
            self._thread.shutdown(wait=True)

    def start(self, texts: Sequence[str]) -> None:
        """Begin with these texts; ones begun before are left out."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._started]
        if fresh and not (self._embedder is None and self._late is None):
            self._started.update(fresh)
            self._pending.append((fresh, self._begin(fresh)))
        for _, pending in self._pending:
            pending.settle()

    def finish(self, texts: Sequence[str]) -> Embedded:
        """Vectors and token vectors of the texts, in their order; each distinct text is embedded once."""
        self.start(texts)
        vectors: dict[str, Vector] = {}
        tokens: dict[str, bytes] = {}
        for started, pending in self._pending:
            check_work()
            for text, (vector, packed) in zip(started, pending.result(), strict=True):
                tokens[text] = packed
                if vector is not None:
                    vectors[text] = vector
        if not texts or not vectors:
            return None, [tokens.get(text, b"") for text in texts]
        return np.stack([vectors[text] for text in texts]), [tokens[text] for text in texts]

    def _begin(self, texts: list[str]) -> PendingEmbeddings:
        both: object = self._late
        if both is self._embedder and isinstance(both, ThreadedEmbedder):
            return both.begin(texts)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="perdure-embed")
        return _OnThread(self._thread.submit(embed_texts, texts, self._embedder, self._late))


class _OnThread:
    """A whole call of an embedder that answers when all is done."""

    def __init__(self, running: Future[Embedded]) -> None:
        self._running = running

    def settle(self) -> None:
        pass

    def result(self) -> Sequence[tuple[Vector | None, bytes]]:
        vectors, tokens = self._running.result()
        rows: Sequence[Vector | None] = [None] * len(tokens) if vectors is None else list(vectors)
        return list(zip(rows, tokens, strict=True))

    def cancel(self) -> None:
        self._running.cancel()
