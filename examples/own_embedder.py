"""An embedder of your own: any object with `model`, `embed_query` and `embed_passages`.

    python examples/own_embedder.py

This one counts letters, which is a poor embedding and a short program. Rerankers, extractors and stores are passed in
the same way: `Perdure.open(..., reranker=..., extractor=..., store=...)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import TemporaryDirectory

import numpy as np

from perdure import EmbeddingModel, Matrix, Perdure, Vector

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LetterCounts:
    """Satisfies the `Embedder` port."""

    model = EmbeddingModel("letter-counts", len(LETTERS))

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        counts = np.array([[text.lower().count(letter) for letter in LETTERS] for text in texts], np.float32)
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        unit: Matrix = counts / np.maximum(lengths, np.float32(1e-12))
        return unit


def main() -> None:
    with (
        TemporaryDirectory() as folder,
        Perdure.open(f"{folder}/memory.db", embedder=LetterCounts(), reranker="none") as memory,
    ):
        memory.retain("ann", ["I am allergic to walnuts.", "My sister Vera is a vet."], speaker="Ann")
        print(memory.recall("ann", "What is Ann allergic to?"))
        print("embedded by", memory.banks.get("ann").model)


if __name__ == "__main__":
    main()
