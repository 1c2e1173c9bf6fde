"""Embedding: texts to vectors, on other threads while the extractor still reads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import numpy as np

from perdure.domain.work import check_work
from perdure.ports.embedder import Embedder, Matrix, PendingEmbeddings, ThreadedEmbedder, Vector


def embed_texts(texts: Sequence[str], embedder: Embedder | None) -> Matrix | None:
    """One vector per row, in the order of the texts; None without texts or embedder."""
    return embedder.embed_passages(texts) if texts and embedder is not None else None


class BackgroundEmbedder:
    """Texts given to `start` are embedded on other threads; `finish` waits for them and embeds the rest.

    The result is that of `embed_texts`: when a text was embedded plays no part.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
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
        if fresh and self._embedder is not None:
            self._started.update(fresh)
            self._pending.append((fresh, self._begin(fresh, self._embedder)))
        for _, pending in self._pending:
            pending.settle()

    def finish(self, texts: Sequence[str]) -> Matrix | None:
        """One vector per row, in the order of the texts; each distinct text is embedded once."""
        self.start(texts)
        vectors: dict[str, Vector] = {}
        for started, pending in self._pending:
            check_work()
            vectors.update(zip(started, pending.result(), strict=True))
        return np.stack([vectors[text] for text in texts]) if texts and vectors else None

    def _begin(self, texts: list[str], embedder: Embedder) -> PendingEmbeddings:
        if isinstance(embedder, ThreadedEmbedder):
            return embedder.begin(texts)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="perdure-embed")
        return _OnThread(self._thread.submit(embedder.embed_passages, texts))


class _OnThread:
    """A whole call of an embedder that answers when all is done."""

    def __init__(self, running: Future[Matrix]) -> None:
        self._running = running

    def settle(self) -> None:
        pass

    def result(self) -> Sequence[Vector]:
        return list(self._running.result())

    def cancel(self) -> None:
        self._running.cancel()
