"""Channels of a few lines: semantic, fuzzy, signature, relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import FuzzyProbe, RelationProbe, SemanticProbe, SignatureProbe
from perdure.stores.index.rank import best
from perdure.stores.index.snapshot import Mask, Snapshot
from perdure.stores.sqlite.codec import name_hash


def semantic(index: Snapshot, probe: SemanticProbe, mask: Mask, limit: int) -> Sequence[Hit]:
    """Cosine with the vectors of a view."""
    view = index.views[probe.view]
    rows, scores = view.search(probe.vector.astype(np.float32), mask, limit)
    return best(index, rows, scores, limit, probe.min_score)


def fuzzy(index: Snapshot, probe: FuzzyProbe, mask: Mask, limit: int) -> Sequence[Hit]:
    """Mean over the query's words of the best similarity with a word of the fact."""
    assert index.vocabulary is not None
    wanted = list(dict.fromkeys(probe.words))
    total = np.zeros(index.size)
    for word in wanted:
        words, similarity = index.vocabulary.similar(word, probe.threshold)
        found = index.vocabulary.uses.of_all(words)
        nearest = np.zeros(index.size)
        inside = found.tail < index.size
        np.maximum.at(nearest, found.tail[inside], similarity[found.head[inside]])
        total += nearest
    rows = np.flatnonzero(mask & (total > 0))
    return best(index, rows, total[rows] / max(len(wanted), 1), limit, probe.min_score, digits=9)


def signature(index: Snapshot, probe: SignatureProbe, mask: Mask, limit: int) -> Sequence[Hit]:
    """Share of equal bits among facts that carry a signature of that length."""
    held = index.signatures
    if held is None or held.shape[1] != len(probe.signature) + 1 or not probe.signature:
        return []
    rows = np.flatnonzero(mask & (held[:, 0] == 1))
    different = np.bitwise_count(held[rows, 1:] ^ np.frombuffer(probe.signature, np.uint8))
    scores = 1.0 - different.sum(axis=1, dtype=np.int64) / (8.0 * len(probe.signature))
    return best(index, rows, scores, limit, probe.min_score)


def relation(
    index: Snapshot, probe: RelationProbe, names: Mapping[str, float], mask: Mask, limit: int
) -> Sequence[Hit]:
    """Weight of the subject plus weight of the object; `names` are the entities' names in any case."""
    subject, verb, thing = (index.columns[name] for name in ("subject", "relation", "object"))
    wanted = mask & (subject != 0) & (verb != 0) & (thing != 0)
    if probe.relation is not None:
        wanted &= verb == np.uint64(name_hash(probe.relation))
    scores = np.zeros(index.size)
    for name, weight in names.items():
        hashed = np.uint64(name_hash(name))
        scores += weight * (subject == hashed)
        scores += weight * (thing == hashed)
    rows = np.flatnonzero(wanted & (scores > 0))
    return best(index, rows, scores[rows], limit)
