"""Embedding ahead: facts are embedded while the extractor still reads the turns behind them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

import numpy as np

from perdure.ports.embedder import Embedder, LateInteraction, Matrix, Vector
from perdure.retain.embed import embed_texts

Embedded = tuple[Matrix | None, Sequence[bytes]]


class EmbedAhead:
    """Texts given to `start` are embedded on a thread of its own; `finish` waits for them and embeds the rest.

    What comes out is what `embed_texts` gives for the texts: when a text was embedded plays no part.
    """

    def __init__(self, embedder: Embedder | None, late: LateInteraction | None) -> None:
        self._embedder, self._late = embedder, late
        self._thread: ThreadPoolExecutor | None = None
        self._running: list[tuple[list[str], Future[Embedded]]] = []
        self._given: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=True, cancel_futures=True)

    def start(self, texts: Sequence[str]) -> None:
        """Begin with these texts; ones given before are left out."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._given]
        if not fresh or (self._embedder is None and self._late is None):
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="perdure-embed")
        self._given.update(fresh)
        self._running.append((fresh, self._thread.submit(embed_texts, fresh, self._embedder, self._late)))

    def finish(self, texts: Sequence[str]) -> Embedded:
        """Vectors and token vectors of the texts, in their order; each distinct text is embedded once."""
        self.start(texts)
        vectors: dict[str, Vector] = {}
        tokens: dict[str, bytes] = {}
        for given, running in self._running:
            made, packed = running.result()
            tokens.update(zip(given, packed, strict=True))
            if made is not None:
                vectors.update(zip(given, made, strict=True))
        if not texts or not vectors:
            return None, [tokens.get(text, b"") for text in texts]
        return np.stack([vectors[text] for text in texts]), [tokens[text] for text in texts]
