"""The relation channel: facts that state something of an entity, as subject or object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.probe import RelationProbe
from perdure.stores.index.arrays import Mask
from perdure.stores.index.packing import name_hash
from perdure.stores.index.rank import best, hits
from perdure.stores.index.table import FactTable


def search_relation(
    table: FactTable, probe: RelationProbe, names: Mapping[str, Sequence[str]], mask: Mask, limit: int
) -> list[Hit]:
    """Score by the weights of subject and object; `names` are names and aliases by entity id."""
    weights: dict[int, float] = {}
    for entity, weight in probe.entities.items():
        for name in (entity, *names.get(entity, ())):
            hashed = name_hash(name)
            weights[hashed] = max(weight, weights.get(hashed, 0.0))
    subject, relation, thing = (table.columns[name] for name in ("subject", "relation", "object"))
    stated = mask & (subject != 0) & (relation != 0) & (thing != 0)
    if probe.relation is not None:
        stated &= relation == np.uint64(name_hash(probe.relation))
    scores = np.zeros(table.size)
    for hashed, weight in weights.items():
        scores += weight * (subject == np.uint64(hashed))
        scores += weight * (thing == np.uint64(hashed))
    rows = np.flatnonzero(stated & (scores > 0))
    return hits(table, best(table, rows, scores.take(rows), limit))
