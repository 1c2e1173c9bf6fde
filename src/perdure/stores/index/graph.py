"""The graph channels: spreading activation over entities and links, and PageRank over entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from perdure.domain.fact import LinkKind
from perdure.domain.recall import Hit
from perdure.ports.probe import GraphProbe, PageRankProbe
from perdure.stores.index.arrays import Hashes, Mask, Positions, Rows, Scores, kth_highest, run_starts
from perdure.stores.index.masks import FilterMask
from perdure.stores.index.packing import digest
from perdure.stores.index.rank import best, hits
from perdure.stores.index.table import FactTable


def search_graph(table: FactTable, probe: GraphProbe, admitting: FilterMask, limit: int) -> list[Hit]:
    """Spread activation from seeds, as GraphProbe states it."""
    seeds, activation = _seeds(table, probe, admitting)
    totals, expanded = np.zeros(table.size), np.zeros(table.size, np.bool_)
    totals[seeds] = activation
    entities = probe.entities
    frontier = seeds
    for _ in range(probe.hops):
        frontier, activation = best(table, frontier, activation, probe.breadth, digits=12)
        expanded[frontier] = True
        received = _spread(table, admitting, frontier, activation, entities, probe.hub_cap)
        totals += received
        frontier = np.flatnonzero((received > 0) & ~expanded)
        activation = probe.decay * np.minimum(1.0, received.take(frontier))
        entities = {}
    if not probe.include_seeds:
        totals[seeds] = 0.0
    reached = np.flatnonzero(totals > 0)
    return hits(table, best(table, reached, totals.take(reached), limit, digits=9))


def _seeds(table: FactTable, probe: GraphProbe, admitting: FilterMask) -> tuple[Rows, Scores]:
    rows = table.rows(tuple(probe.facts))
    activation = np.fromiter(probe.facts.values(), np.float64, len(probe.facts))
    there = np.flatnonzero((rows >= 0) & (activation > 0))
    there = there[admitting.mask.take(rows.take(there))]
    return rows.take(there), activation.take(there)


def _spread(
    table: FactTable,
    admitting: FilterMask,
    rows: Rows,
    activation: Scores,
    entities: Mapping[str, float],
    hub_cap: int,
) -> Scores:
    """Return what one step brings to each row of the table; shape (rows of the table,)."""
    received = _shared_entities(table, admitting, rows, activation, entities, hub_cap)
    reached = np.flatnonzero(received > 0)
    received[reached] = saturated(received.take(reached))
    for kind in (LinkKind.SEMANTIC, LinkKind.CAUSAL):
        far, strength = neighbours(table, admitting.mask, rows, activation, kind)
        strongest = np.zeros(table.size)
        np.maximum.at(strongest, far, strength)
        received += strongest
    return received


def saturated(shared: Scores) -> Scores:
    """Return tanh(0.5 x activation over shared entities) (`perdure.ports.probe.GraphProbe`)."""
    return np.tanh(0.5 * shared)


def neighbours(
    table: FactTable, mask: Mask, rows: Rows, activation: Scores, kind: LinkKind
) -> tuple[Rows, Scores]:
    """Return admitted rows linked with `rows` by a kind, and weight times activation of each link."""
    position, far, weights = table.linked(rows, kind)
    kept = np.flatnonzero(mask.take(far))
    return far.take(kept), activation.take(position.take(kept)) * weights.take(kept)


def _shared_entities(
    table: FactTable,
    admitting: FilterMask,
    rows: Rows,
    activation: Scores,
    entities: Mapping[str, float],
    hub_cap: int,
) -> Scores:
    """Return per row the sum over its entities of the strongest activation from another row."""
    # One line per mention of an entity by a row, or by the question (origin -1): entity, activation, origin.
    position, mentioned = table.entities(rows)
    named = [(digest(entity), weight) for entity, weight in entities.items() if weight > 0]
    entity = np.concatenate([mentioned, np.array([hashed for hashed, _ in named], np.uint64)])
    strength = np.concatenate([activation.take(position), np.array([weight for _, weight in named])])
    origin = np.concatenate([rows.take(position), np.full(len(named), -1)])
    strongest = StrongestActivation.of(entity, strength, origin)
    # One line per admitted member of these entities; none excites itself.
    position, member = _members(table, admitting, strongest.entities, hub_cap)
    return summed(member, strongest.brought(position, member), table.size)


@dataclass(frozen=True, slots=True, eq=False)
class StrongestActivation:
    """Per distinct entity: its strongest activation, whose it is, and the second strongest."""

    entities: Hashes
    strength: Scores
    origin: Rows
    second: Scores

    @classmethod
    def of(cls, entity: Hashes, strength: Scores, origin: Rows) -> StrongestActivation:
        """Build it from one line per mention."""
        order = np.lexsort((-strength, entity))
        entity, strength, origin = entity.take(order), strength.take(order), origin.take(order)
        starts = run_starts(entity)
        following = np.minimum(starts + 1, max(len(entity) - 1, 0))
        shared = (following > starts) & (entity.take(following) == entity.take(starts))
        second = np.where(shared, strength.take(following), 0.0)
        return cls(entity.take(starts), strength.take(starts), origin.take(starts), second)

    def brought(self, position: Positions, member: Rows) -> Scores:
        """Return what the entity at each position brings to the member there; none excites itself."""
        itself = member == self.origin.take(position)
        brought: Scores = np.where(itself, self.second.take(position), self.strength.take(position))
        return brought


def _members(
    table: FactTable, admitting: FilterMask, entities: Hashes, hub_cap: int
) -> tuple[Positions, Rows]:
    """Return pairs of an entity's position and an admitted row, of a hub the best-connected."""
    crowded = table.members.counts(entities) > hub_cap
    few = np.flatnonzero(~crowded)
    position, member, _ = table.members.of_all(entities.take(few))
    kept = np.flatnonzero(admitting.mask.take(member))
    positions, members = [few.take(position.take(kept))], [member.take(kept)]
    for hub in np.flatnonzero(crowded).tolist():
        rows = _hub_members(table, admitting, int(entities[hub]), hub_cap)
        positions.append(np.full(len(rows), hub))
        members.append(rows)
    return np.concatenate(positions), np.concatenate(members)


def _hub_members(table: FactTable, admitting: FilterMask, entity: int, hub_cap: int) -> Rows:
    """Return the best-connected admitted rows of an entity, ties as recorded; kept with the mask."""
    with admitting.lock:
        rows = admitting.hubs.get((entity, hub_cap))
    if rows is None:
        rows, _ = table.members.of(entity)
        rows = rows.take(np.flatnonzero(admitting.mask.take(rows)))
        if len(rows) > hub_cap:
            # Distinct values that rise with the degree, and fall with the number where that is equal.
            order = (table.degree.take(rows) << 32) - table.numbers.take(rows)
            rows = rows.take(np.flatnonzero(order >= kth_highest(order, hub_cap)))
        with admitting.lock:
            admitting.hubs[entity, hub_cap] = rows
    return rows


def search_pagerank(table: FactTable, probe: PageRankProbe, admitting: FilterMask, limit: int) -> list[Hit]:
    """Rank by personalised PageRank over entities (Page et al. 1999; HippoRAG, Gutiérrez et al. 2024)."""
    # One line per admitted membership: the entity's position among all entities, and the row.
    entities, position, row = table.members.entries()
    kept = np.flatnonzero(admitting.mask.take(row))
    position, row = position.take(kept), row.take(kept)
    out_position, out_row = _capped(table, probe, admitting, entities, position, row)
    home = np.zeros(len(entities))
    for entity, weight in probe.entities.items():
        at = int(np.searchsorted(entities, np.uint64(digest(entity))))
        if at < len(entities) and entities[at] == digest(entity):
            home[at] += max(weight, 0.0)
    scores = pagerank(probe, home, (position, row), (out_position, out_row), table.size)
    rows = np.flatnonzero(scores > 0)
    return hits(table, best(table, rows, scores.take(rows), limit, digits=12))


Memberships = tuple[Positions, Rows]
"""One line per membership: the entity's position among all entities, and the row."""


def pagerank(
    probe: PageRankProbe, home: Scores, members: Memberships, leaving_by: Memberships, size: int
) -> Scores:
    """Return the mass of each row's entities after some sweeps, of `size` rows.

    `home` is the weight of each entity as a seed; `leaving_by` are the memberships by which mass leaves an
    entity. Seeds that none leaves are left out.
    """
    (position, row), (out_position, out_row) = members, leaving_by
    leaving = np.bincount(out_position, minlength=len(home))
    home = np.where(leaving > 0, home, 0.0)
    if home.sum() <= 0:
        return np.zeros(size)
    home = home / home.sum()
    per_row = np.maximum(np.bincount(row, minlength=size), 1)
    mass = home
    for _ in range(probe.sweeps):
        # Entities share their mass among their facts, facts theirs among their entities.
        share = (mass / np.maximum(leaving, 1)).take(out_position)
        on_facts = summed(out_row, share, size) / per_row
        arriving = summed(position, on_facts.take(row), len(home))
        mass = damped(home, arriving, probe.damping)
    return summed(row, mass.take(position), size)


def summed(positions: Positions, values: Scores, size: int) -> Scores:
    """Return the sum of the values at each position; shape (size,)."""
    return np.bincount(positions, weights=values, minlength=size).astype(np.float64, copy=False)


def damped(home: Scores, arriving: Scores, damping: float) -> Scores:
    """Return (1 - d) home + d arriving: one sweep of personalised PageRank."""
    return (1 - damping) * home + damping * arriving


def _capped(
    table: FactTable,
    probe: PageRankProbe,
    admitting: FilterMask,
    entities: Hashes,
    position: Positions,
    row: Rows,
) -> tuple[Positions, Rows]:
    """Return memberships without those beyond the cap of an entity."""
    crowded = np.bincount(position, minlength=len(entities)) > probe.hub_cap
    few = np.flatnonzero(~crowded.take(position))
    positions, rows = [position.take(few)], [row.take(few)]
    for hub in np.flatnonzero(crowded).tolist():
        members = _hub_members(table, admitting, int(entities[hub]), probe.hub_cap)
        positions.append(np.full(len(members), hub))
        rows.append(members)
    return np.concatenate(positions), np.concatenate(rows)
