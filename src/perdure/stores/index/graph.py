"""Spreading activation and PageRank over entity memberships and links."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import LinkKind
from perdure.domain.recall import Hit
from perdure.ports.probe import GraphProbe, PageRankProbe
from perdure.stores.index.rank import best, highest, ranked
from perdure.stores.index.runs import split
from perdure.stores.index.snapshot import Admission, Mask, Snapshot
from perdure.stores.sqlite.codec import KINDS, digest

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


def graph(index: Snapshot, probe: GraphProbe, admission: Admission, limit: int) -> Sequence[Hit]:
    """Activation that spreads from seeds, as GraphProbe states it."""
    seeds, held = _seeds(index, probe, admission.mask)
    found, totals = [seeds], [held]
    rows, held = _strongest(index, seeds, held, probe.breadth)
    given, expanded = _numbered(index, probe.entities), np.zeros(index.size, np.bool_)
    for hop in range(1, probe.hops + 1):
        reached, received = _spread(index, admission, rows, held, given, probe.hub_cap)
        found.append(reached)
        totals.append(received)
        if hop < probe.hops:
            expanded[rows] = True
            fresh = np.flatnonzero((received > 0) & ~expanded.take(reached))
            held = probe.decay * np.minimum(1.0, received.take(fresh))
            rows, held = _strongest(index, reached.take(fresh), held, probe.breadth)
            given = {}
    rows, scores = _added_up(np.concatenate(found), np.concatenate(totals))
    if not probe.include_seeds:
        scores[np.searchsorted(rows, seeds)] = 0.0
    reached = np.flatnonzero(scores > 0)
    return best(index, rows.take(reached), scores.take(reached), limit, digits=9)


def _seeds(index: Snapshot, probe: GraphProbe, mask: Mask) -> tuple[Rows, Scores]:
    rows = index.rows_of(tuple(probe.facts))
    held = np.fromiter(probe.facts.values(), np.float64, len(probe.facts))
    known = np.flatnonzero((rows >= 0) & (held > 0))
    known = known[mask.take(rows.take(known))]
    return rows.take(known), held.take(known)


def _numbered(index: Snapshot, entities: object) -> dict[int, float]:
    assert hasattr(entities, "items")
    known = ((index.entity_of.get(digest(ident)), weight) for ident, weight in entities.items())
    return {number: weight for number, weight in known if number is not None and weight > 0}


def _strongest(index: Snapshot, rows: Rows, held: Scores, breadth: int) -> tuple[Rows, Scores]:
    if len(rows) <= breadth:
        return rows, held
    return ranked(index, rows, held, breadth, digits=12)


def _spread(
    index: Snapshot, admission: Admission, rows: Rows, held: Scores, given: dict[int, float], hub_cap: int
) -> tuple[Rows, Scores]:
    """The rows that one step reaches, each once, and what it brings them."""
    mask = None if admission.everything else admission.mask
    kinds = (LinkKind.SEMANTIC, LinkKind.CAUSAL)
    linked = [_highest_each(*neighbours(index, mask, rows, held, kind)) for kind in kinds]
    far, weight = _added_up(*(np.concatenate(column) for column in zip(*linked, strict=True)))
    sharing, activation = _added_up(*_through_entities(index, admission, rows, held, given, hub_cap))
    received = np.tanh(0.5 * activation)
    if len(sharing) == 0:
        return far, weight
    places = np.minimum(np.searchsorted(sharing, far), len(sharing) - 1)
    both = sharing.take(places) == far
    received[places[both]] += weight[both]
    return np.concatenate([sharing, far[~both]]), np.concatenate([received, weight[~both]])


def _added_up(rows: Rows, values: Scores) -> tuple[Rows, Scores]:
    """Each row once, rising, with the sum of its values."""
    if len(rows) == 0:
        return rows, values
    order, rows, first = _grouped(rows)
    rows = rows[first]
    return rows, summed(np.cumsum(first) - 1, values.take(order), len(rows))


def _highest_each(rows: Rows, values: Scores) -> tuple[Rows, Scores]:
    """Each row once, rising, with the highest of its values."""
    if len(rows) == 0:
        return rows, values
    order, rows, first = _grouped(rows)
    return rows[first], np.maximum.reduceat(values.take(order), np.flatnonzero(first))


def _grouped(rows: Rows) -> tuple[Rows, Rows, Mask]:
    """What puts rows in rising order, the rows in that order, and which are the first of their kind.

    Places are sorted with the rows in one number: numpy sorts numbers three times as fast as it finds their order.
    """
    bits = len(rows).bit_length()
    packed = rows << bits
    packed |= np.arange(len(rows))
    packed.sort()
    order = packed & ((1 << bits) - 1)
    packed >>= bits
    return order, packed, _firsts(packed)


def neighbours(
    index: Snapshot, mask: Mask | None, rows: Rows, held: Scores, kind: LinkKind
) -> tuple[Rows, Scores]:
    """Admitted rows (without a mask, any) that links of a kind join with the given ones, and weight times activation."""
    found = index.links[KINDS[kind]].of_all(rows)
    far = found.tail >> 1
    weight = held.take(found.head) * found.weight
    if mask is None:
        return far, weight
    kept = mask.take(far)
    return far[kept], weight[kept]


def _through_entities(
    index: Snapshot, admission: Admission, rows: Rows, held: Scores, given: dict[int, float], hub_cap: int
) -> tuple[Rows, Scores]:
    """For each excited entity its rows, with the strongest activation from another row that mentions it."""
    head, mentioned = index.mentions.tails(rows)
    entity = np.concatenate([mentioned, np.fromiter(given, np.int64, len(given))])
    activation = np.concatenate([held.take(head), np.fromiter(given.values(), np.float64, len(given))])
    origin = np.concatenate([rows.take(head), np.full(len(given), -1)])
    if len(entity) == 0:
        return entity, activation
    order = np.lexsort((-activation, entity))
    entity, activation, origin = entity.take(order), activation.take(order), origin.take(order)
    starts = np.flatnonzero(_firsts(entity))
    strongest, origin = activation.take(starts), origin.take(starts)
    after = np.minimum(starts + 1, len(entity) - 1)
    several = (entity.take(after) == entity.take(starts)) & (after > starts)
    second = np.where(several, activation.take(after), 0.0)
    place, count, row = _members(index, admission, entity.take(starts), hub_cap)
    brought = np.repeat(strongest.take(place), count)
    itself = np.flatnonzero(row == np.repeat(origin.take(place), count))
    slices = np.searchsorted(np.cumsum(count), itself, side="right")
    brought[itself] = second[place[slices]]
    return row, brought


def _firsts(ordered: Rows) -> Mask:
    """Where runs of equal values start."""
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def _members(index: Snapshot, admission: Admission, entities: Rows, hub_cap: int) -> tuple[Rows, Rows, Rows]:
    """The admitted rows of each entity, of a hub the best-connected: (position of the entity, how many), rows."""
    crowded = index.members.counts(entities) > hub_cap
    normal, hubs = np.flatnonzero(~crowded), np.flatnonzero(crowded)
    place, count, row = index.members.slices(entities[normal])
    if not admission.everything:
        kept = admission.mask[row]
        slices = np.repeat(np.arange(len(count)), count)
        row, count = row[kept], np.bincount(slices[kept], minlength=len(count))
    of_hubs = [hub_rows(index, admission, entity, hub_cap) for entity in entities[hubs].tolist()]
    sizes = np.array([len(rows) for rows in of_hubs], np.int64)
    return (
        np.concatenate([normal[place], hubs]),
        np.concatenate([count, sizes]),
        np.concatenate([row, *of_hubs]),
    )


def hub_rows(index: Snapshot, admission: Admission, entity: int, hub_cap: int) -> Rows:
    """The best-connected admitted rows of an entity."""
    known = admission.hubs.get((entity, hub_cap))
    if known is None:
        known = admission.before.get((entity, hub_cap))
        if known is None:
            known = _best_connected(index, admission, index.members.of(entity)[0], hub_cap)
        elif (touched := index.touched_of(entity)) is not None:
            known = _with_touched(index, admission, known, touched, hub_cap)
        admission.hubs[entity, hub_cap] = known
    return known


def _with_touched(index: Snapshot, admission: Admission, known: Rows, touched: Rows, hub_cap: int) -> Rows:
    """The best-connected rows, of which all but the touched ones are known.

    Rows only gain links: so who was among them before, or was touched since, may be among them now, and no other.
    """
    if len(known) == hub_cap:
        touched = touched[index.degree.take(touched) >= index.degree.take(known).min()]
    if len(touched) == 0 or np.isin(touched, known).all():
        return known
    return _best_connected(index, admission, np.union1d(known, touched), hub_cap)


def _best_connected(index: Snapshot, admission: Admission, rows: Rows, count: int) -> Rows:
    rows = rows[admission.mask[rows]]
    if len(rows) > count:
        rows = rows[highest(index, rows, index.degree[rows].astype(np.float64), count)]
    return rows


def summed(places: Rows, values: Scores, size: int) -> Scores:
    """The sum of the values at each place."""
    if len(places) == 0:
        return np.zeros(size)
    return np.bincount(places, weights=values, minlength=size).astype(np.float64, copy=False)


def pagerank(index: Snapshot, probe: PageRankProbe, admission: Admission, limit: int) -> Sequence[Hit]:
    """Mass walks entity -> fact -> entity and returns to the seeds."""
    entity, row = split(index.members.keys)
    kept = admission.mask[row]
    entity, row = entity[kept], row[kept]
    count = len(index.entity_of)
    out_entity, out_row = _capped(index, admission, entity, row, count, probe.hub_cap)
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
    return best(index, rows, scores[rows], limit, digits=12)


def _capped(
    index: Snapshot, admission: Admission, entity: Rows, row: Rows, count: int, hub_cap: int
) -> tuple[Rows, Rows]:
    """Memberships without those that exceed the cap at an entity."""
    crowded = np.bincount(entity, minlength=count) > hub_cap
    normal = ~crowded[entity]
    entities, rows = [entity[normal]], [row[normal]]
    for hub in np.flatnonzero(crowded).tolist():
        members = hub_rows(index, admission, hub, hub_cap)
        entities.append(np.full(len(members), hub))
        rows.append(members)
    return np.concatenate(entities), np.concatenate(rows)
