"""Embedding: texts to vectors and token vectors."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.ports.embedder import Embedder, JointEmbedder, LateInteraction, Matrix


def embed_texts(
    texts: Sequence[str], embedder: Embedder | None, late: LateInteraction | None
) -> tuple[Matrix | None, Sequence[bytes]]:
    """Vectors and token vectors, in one pass where one model gives both."""
    nothing = [b""] * len(texts)
    if not texts:
        return None, nothing
    both: object = late
    if both is embedder and isinstance(both, JointEmbedder):
        return both.embed_and_encode(texts)
    vectors = embedder.embed_passages(texts) if embedder is not None else None
    return vectors, late.encode_passages(texts) if late is not None else nothing
