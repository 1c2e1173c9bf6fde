"""Context vectors: neighbours of an erased fact mixed its vector into theirs, from which it could be rebuilt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

import numpy as np

from perdure.domain.fact import Chunk, Fact
from perdure.ports.embedder import Vector
from perdure.ports.store import Features
from perdure.text.smoothing import SHARES, is_same_vector, smooth, stands_alone, turn_length


def contexts_without(
    erased: Collection[str],
    facts: Sequence[Fact],
    features: Mapping[str, Features],
    chunks: Mapping[str, Chunk],
) -> dict[str, Vector]:
    """Fact id -> its context vector anew, made from the facts of its document that stay.

    `facts` are documents' facts in recorded order, which is the order in which they were smoothed, the erased ones among
    them. A fact whose context is its own vector stands alone: it mixed nothing in and is mixed into nothing.
    """
    by_document = sorted(facts, key=lambda fact: fact.document_id or "")
    contexts: dict[str, Vector] = {}
    for _, group in groupby(by_document, key=lambda fact: fact.document_id):
        mixed = [fact for fact in group if fact.id in erased or _is_mixed(features.get(fact.id))]
        contexts |= _of_document(erased, mixed, features, chunks)
    return contexts


def _is_mixed(features: Features | None) -> bool:
    if features is None or not {"fact", "context"} <= features.vectors.keys():
        return False
    return not stands_alone(features.vectors)


def _of_document(
    erased: Collection[str],
    facts: Sequence[Fact],
    features: Mapping[str, Features],
    chunks: Mapping[str, Chunk],
) -> dict[str, Vector]:
    staying = [fact for fact in facts if fact.id not in erased]
    if not staying:
        return {}
    near: set[str] = set()
    for position, fact in enumerate(facts):
        if fact.id in erased:
            reach = range(max(position - len(SHARES), 0), min(position + len(SHARES) + 1, len(facts)))
            near |= {facts[other].id for other in reach}
    smoothed = smooth(
        np.stack([features[fact.id].vectors["fact"] for fact in staying]),
        [turn_length(fact, chunks) for fact in staying],
    )
    # Facts that are not near now may have been neighbours when there were fewer: their vector then differs.
    return {
        fact.id: vector
        for fact, vector in zip(staying, smoothed, strict=True)
        if fact.id in near or not is_same_vector(vector, features[fact.id].vectors["context"])
    }
