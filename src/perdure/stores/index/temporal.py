"""Facts of a window of time, and those linked with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Hit
from perdure.ports.probe import TemporalProbe
from perdure.stores.index.graph import neighbours
from perdure.stores.index.masks import during
from perdure.stores.index.rank import as_hits, in_order, ranked
from perdure.stores.index.snapshot import Mask, Snapshot
from perdure.stores.index.vectors import RESCORED, likeliest
from perdure.stores.sqlite.codec import EPOCH, micros

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]


def temporal(index: Snapshot, probe: TemporalProbe, mask: Mask, limit: int) -> Sequence[Hit]:
    """Slices of the window take turns; what room is left goes to linked facts outside it."""
    inside = mask & during(index, probe.window)
    rows = np.flatnonzero(inside)
    if len(rows) == 0:
        return []
    dates = index.columns["dated"].take(rows)
    start = int(dates.min()) if probe.window.start is None else micros(probe.window.start, 0)
    end = int(dates.max()) if probe.window.end is None else micros(probe.window.end, 0)
    slices = _slices(dates, start, end, probe.slices)
    if probe.vector is None:
        scores = _nearness(dates, probe, start, end)
    else:
        rows, slices, scores = _similar(index, probe, rows, slices, limit)
    rows, scores = _take_turns(index, rows, scores, slices, limit)
    if len(rows) < limit:
        more, strengths = _linked(index, probe, mask & ~inside, rows, scores, limit - len(rows))
        rows, scores = np.concatenate([rows, more]), np.concatenate([scores, strengths])
    return as_hits(index, rows, scores)


def _slices(dates: Rows, start: int, end: int, count: int) -> Rows:
    width = timedelta(microseconds=end - start) / count // timedelta(microseconds=1)
    if width <= 0:
        return np.zeros(len(dates), np.int64)
    return np.clip(np.floor((dates - start) / width), 0, count - 1).astype(np.int64)


def _nearness(dates: Rows, probe: TemporalProbe, start: int, end: int) -> Scores:
    centre = probe.window.centre
    one_sided = probe.window.is_open and centre is not None
    middle = EPOCH + timedelta(microseconds=start) + timedelta(microseconds=end - start) / 2
    at = micros(centre or middle, 0)
    reach = end - start if one_sided else timedelta(microseconds=end - start) / 2 // timedelta(microseconds=1)
    if reach <= 0:
        return np.ones(len(dates))
    return np.round(1.0 - np.minimum(np.abs(dates - at) / reach, 1.0), 9)


def _similar(
    index: Snapshot, probe: TemporalProbe, rows: Rows, slices: Rows, limit: int
) -> tuple[Rows, Rows, Scores]:
    """Cosines; in a large view only of each slice's likeliest."""
    assert probe.vector is not None
    query = probe.vector.astype(np.float32)
    scores = np.zeros(len(rows))
    view = index.views[probe.view]
    places = view.places(rows, index.size)
    held = np.flatnonzero(places >= 0)
    if view.codes is not None and len(held) > 2 * RESCORED:
        likeness = view.likeness(query)[places[held]]
        wanted = max(limit, RESCORED // probe.slices)
        kept = []
        for one in range(probe.slices):
            of_slice = np.flatnonzero(slices[held] == one)
            kept.append(held[of_slice][likeliest(likeness[of_slice], wanted)])
        held = np.concatenate(kept)
        rows, slices, places = rows[held], slices[held], places[held]
        scores = view.cosines(query, places)
        return rows, slices, scores
    scores[held] = view.cosines(query, places.take(held))
    return rows, slices, scores


def _take_turns(index: Snapshot, rows: Rows, scores: Scores, slices: Rows, limit: int) -> tuple[Rows, Scores]:
    """First the best of each slice by falling score, then the second best of each, and so on."""
    counts = np.bincount(slices)
    shown = np.minimum(counts[:, None], np.arange(1, limit + 1)).sum(axis=0)
    turns = min(int(np.searchsorted(shown, limit)) + 1, limit)
    near = _leaders(scores, slices, counts, turns)
    order = near.take(in_order(index, rows.take(near), scores.take(near), slices.take(near)))
    rows, scores, slices = rows.take(order), scores.take(order), slices.take(order)
    counts = np.bincount(slices)
    turn = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.flatnonzero(turn < turns)
    order = kept.take(in_order(index, rows.take(kept), scores.take(kept), turn.take(kept))[:limit])
    return rows.take(order), scores.take(order)


def _leaders(scores: Scores, slices: Rows, counts: Rows, turns: int) -> Rows:
    """Places of the `turns` best scores of each slice, and of those that tie with the last of them."""
    # Scores lie between -1 and 1: so all slices are sorted at once.
    order = np.argsort(4.0 * slices - scores)
    starts = np.cumsum(counts) - counts
    last = np.minimum(starts + np.minimum(counts, turns) - 1, len(order) - 1)
    border = scores.take(order.take(last))
    return np.flatnonzero(scores >= border.take(slices))


def _linked(
    index: Snapshot, probe: TemporalProbe, mask: Mask, rows: Rows, scores: Scores, room: int
) -> tuple[Rows, Scores]:
    held = np.maximum(scores, 0.0)
    strongest = np.full(index.size, -1.0)
    for kind in probe.spread:
        far, weight = neighbours(index, mask, rows, held, kind)
        np.maximum.at(strongest, far, weight)
    found = np.flatnonzero(strongest >= 0)
    return ranked(index, found, strongest[found], room, digits=9)
