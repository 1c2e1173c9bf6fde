"""Spreading activation and PageRank over entity memberships and links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import LinkKind
from perdure.domain.recall import Hit
from perdure.ports.probe import GraphProbe, PageRankProbe
from perdure.stores.sqlite.codec import KINDS, digest
from perdure.stores.sqlite.index.rank import best, best_rows
from perdure.stores.sqlite.index.runs import split
from perdure.stores.sqlite.index.snapshot import Mask, Snapshot

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


def graph(index: Snapshot, probe: GraphProbe, mask: Mask, limit: int) -> list[Hit]:
    """Activation that spreads from seeds, as GraphProbe states it."""
    rows, held = _seeds(index, probe, mask)
    seeds = rows
    totals = np.zeros(index.size)
    totals[rows] = held
    expanded = np.zeros(index.size, np.bool_)
    given = _numbered(index, probe.entities)
    for _ in range(probe.hops):
        rows, held = _strongest(index, rows, held, probe.breadth)
        expanded[rows] = True
        received = _spread(index, mask, rows, held, given, probe.hub_cap)
        totals += received
        rows = np.flatnonzero((received > 0) & ~expanded)
        held = probe.decay * np.minimum(1.0, received[rows])
        given = {}
    if not probe.include_seeds:
        totals[seeds] = 0.0
    found = np.flatnonzero(totals > 0)
    return best(index, found, np.round(totals[found], 9), limit)


def _seeds(index: Snapshot, probe: GraphProbe, mask: Mask) -> tuple[Rows, Scores]:
    seeds = [
        (row, held)
        for ident, held in probe.facts.items()
        if held > 0 and (row := index.row(ident)) is not None and mask[row]
    ]
    rows = np.array([row for row, _ in seeds], np.int64)
    return rows, np.array([held for _, held in seeds], np.float64)


def _numbered(index: Snapshot, entities: object) -> dict[int, float]:
    assert hasattr(entities, "items")
    known = ((index.entity_of.get(digest(ident)), weight) for ident, weight in entities.items())
    return {number: weight for number, weight in known if number is not None and weight > 0}


def _strongest(index: Snapshot, rows: Rows, held: Scores, breadth: int) -> tuple[Rows, Scores]:
    if len(rows) <= breadth:
        return rows, held
    kept = best_rows(index, rows, np.round(held, 12), breadth)
    return np.array([row for row, _ in kept], np.int64), np.array([score for _, score in kept])


def _spread(
    index: Snapshot, mask: Mask, rows: Rows, held: Scores, given: dict[int, float], hub_cap: int
) -> Scores:
    """What one step brings to each row."""
    received = _through_entities(index, mask, rows, held, given, hub_cap)
    touched = np.flatnonzero(received)
    received[touched] = np.tanh(0.5 * received[touched])
    for kind in (LinkKind.SEMANTIC, LinkKind.CAUSAL):
        far, weight = neighbours(index, mask, rows, held, kind)
        strongest = np.zeros(index.size)
        np.maximum.at(strongest, far, weight)
        received += strongest
    return received


def neighbours(index: Snapshot, mask: Mask, rows: Rows, held: Scores, kind: LinkKind) -> tuple[Rows, Scores]:
    """Admitted rows that links of a kind join with the given ones, and link weight times activation."""
    found = index.links[KINDS[kind]].of_all(rows)
    far = found.tail >> 1
    inside = far < index.size
    far, head, weight = far[inside], found.head[inside], found.weight[inside]
    kept = mask[far]
    return far[kept], held[head[kept]] * weight[kept]


def _through_entities(
    index: Snapshot, mask: Mask, rows: Rows, held: Scores, given: dict[int, float], hub_cap: int
) -> Scores:
    """Sum over a row's entities of the strongest activation that reaches the entity from another row."""
    found = index.mentions.of_all(rows)
    entity = np.concatenate([found.tail, np.fromiter(given, np.int64, len(given))])
    activation = np.concatenate([held[found.head], np.fromiter(given.values(), np.float64, len(given))])
    origin = np.concatenate([rows[found.head], np.full(len(given), -1)])
    if len(entity) == 0:
        return np.zeros(index.size)
    order = np.lexsort((-activation, entity))
    entity, activation, origin = entity[order], activation[order], origin[order]
    starts = np.flatnonzero(np.r_[True, entity[1:] != entity[:-1]])
    ends = np.r_[starts[1:], len(entity)]
    second = np.where(ends - starts > 1, activation[np.minimum(starts + 1, len(entity) - 1)], 0.0)
    place, row = _members(index, mask, entity[starts], hub_cap)
    itself = row == origin[starts][place]
    brought = np.where(itself, second[place], activation[starts][place])
    return summed(row, brought, index.size)


def _members(index: Snapshot, mask: Mask, entities: Rows, hub_cap: int) -> tuple[Rows, Rows]:
    """(position of the entity, row) for the admitted rows of each; of a hub the best-connected."""
    found = index.members.of_all(entities)
    inside = found.tail < index.size
    place, row = found.head[inside], found.tail[inside]
    kept = mask[row]
    return cap_hubs(index, place[kept], row[kept], len(entities), hub_cap)


def cap_hubs(index: Snapshot, place: Rows, row: Rows, count: int, hub_cap: int) -> tuple[Rows, Rows]:
    """Without the pairs that exceed `hub_cap` at a place, the best-connected rows kept."""
    crowds = np.flatnonzero(np.bincount(place, minlength=count) > hub_cap)
    if len(crowds) == 0:
        return place, row
    normal = ~np.isin(place, crowds)
    places, rows = [place[normal]], [row[normal]]
    for hub in crowds.tolist():
        crowd = row[place == hub]
        kept = best_rows(index, crowd, index.degree[crowd].astype(np.float64), hub_cap)
        rows.append(np.array([one for one, _ in kept], np.int64))
        places.append(np.full(len(kept), hub))
    return np.concatenate(places), np.concatenate(rows)


def summed(places: Rows, values: Scores, size: int) -> Scores:
    """The sum of the values at each place."""
    if len(places) == 0:
        return np.zeros(size)
    return np.bincount(places, weights=values, minlength=size).astype(np.float64, copy=False)


def pagerank(index: Snapshot, probe: PageRankProbe, mask: Mask, limit: int) -> list[Hit]:
    """Mass walks entity -> fact -> entity and returns to the seeds."""
    entity, row = split(index.members.keys)
    inside = row < index.size
    entity, row = entity[inside], row[inside]
    kept = mask[row]
    entity, row = entity[kept], row[kept]
    count = len(index.entity_of)
    out_entity, out_row = cap_hubs(index, entity, row, count, probe.hub_cap)
    leaving = np.bincount(out_entity, minlength=count)
    home = np.zeros(count)
    for number, weight in _numbered(index, probe.entities).items():
        home[number] = weight if leaving[number] else 0.0
    if home.sum() <= 0:
        return []
    home /= home.sum()
    share = np.maximum(leaving, 1)
    held_by = np.maximum(np.bincount(row, minlength=index.size), 1)
    mass = home
    for _ in range(probe.sweeps):
        on_facts = summed(out_row, (mass / share)[out_entity], index.size) / held_by
        mass = (1 - probe.damping) * home + probe.damping * summed(entity, on_facts[row], count)
    scores = summed(row, mass[entity], index.size)
    rows = np.flatnonzero(scores > 0)
    return best(index, rows, np.round(scores[rows], 12), limit)
