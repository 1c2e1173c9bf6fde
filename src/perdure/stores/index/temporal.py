"""The temporal channel: facts of a window of time, then those linked with them."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from perdure.domain.recall import Hit
from perdure.ports.embedder import Vector
from perdure.ports.probe import TemporalProbe
from perdure.stores.index.arrays import Mask, Positions, Rows, Scores
from perdure.stores.index.graph import neighbours
from perdure.stores.index.masks import happened_during
from perdure.stores.index.packing import EPOCH, micros
from perdure.stores.index.rank import NumberedRows, best, hits
from perdure.stores.index.table import FactTable
from perdure.stores.index.vectors import RESCORED, VectorView, likeliest

_MICROSECOND = timedelta(microseconds=1)


def search_temporal(
    table: FactTable, probe: TemporalProbe, view: VectorView | None, mask: Mask, limit: int
) -> list[Hit]:
    """Let slices of the window take turns, and fill the rest with linked facts outside it."""
    inside = mask & happened_during(table, probe.window)
    rows = np.flatnonzero(inside)
    if len(rows) == 0:
        return []
    dates = table.columns["first"].take(rows)
    start = int(dates.min()) if probe.window.start is None else micros(probe.window.start)
    end = int(dates.max()) if probe.window.end is None else micros(probe.window.end)
    slices = time_slices(dates, start, end, probe.slices)
    if probe.vector is None or view is None:
        scores = nearness(dates, probe, start, end)
    else:
        per_slice = max(limit, RESCORED // probe.slices)
        query = probe.vector.astype(np.float32)
        rows, slices, scores = _similarity(table, query, view, rows, slices, per_slice)
    rows, scores = take_turns(table, rows, scores, slices, limit)
    ranked = hits(table, (rows, scores))
    if len(ranked) < limit:
        ranked += hits(table, _linked(table, probe, mask & ~inside, rows, scores, limit - len(ranked)))
    return ranked


def time_slices(dates: Positions, start: int, end: int, count: int) -> Positions:
    """Return which of `count` equal parts of the window each date lies in."""
    width = slice_width(start, end, count)
    if width <= 0:
        return np.zeros(len(dates), np.int64)
    return np.clip((dates - start) // width, 0, count - 1)


def slice_width(start: int, end: int, count: int) -> int:
    """Return microseconds of each of `count` equal parts of a window."""
    return timedelta(microseconds=end - start) / count // _MICROSECOND


def nearness(dates: Positions, probe: TemporalProbe, start: int, end: int) -> Scores:
    """Return 1 at the window's centre, falling to 0 at its ends, or from its only bound on."""
    middle, reach = centre_and_reach(probe, start, end)
    if reach <= 0:
        return np.ones(len(dates))
    distance = np.abs(dates - middle)
    nearness: Scores = np.round(1.0 - np.minimum(distance / reach, 1.0), 9)
    return nearness


def centre_and_reach(probe: TemporalProbe, start: int, end: int) -> tuple[int, int]:
    """Return where nearness is 1, and how far from there it is 0."""
    centre = probe.window.centre
    one_sided = probe.window.is_open and centre is not None
    middle = EPOCH + timedelta(microseconds=start) + timedelta(microseconds=end - start) / 2
    reach = end - start if one_sided else timedelta(microseconds=end - start) / 2 // _MICROSECOND
    return micros(centre or middle), reach


def _similarity(
    table: FactTable, query: Vector, view: VectorView, rows: Rows, slices: Positions, per_slice: int
) -> tuple[Rows, Positions, Scores]:
    """Return rows, slices and cosines, 0 without a vector; in a large view each slice's likeliest."""
    # Position of the vector of each row, -1 for rows without one: shape (rows,).
    position_of = np.full(max(table.size, int(view.rows.max(initial=-1)) + 1), -1)
    position_of[view.rows] = np.arange(len(view.rows))
    positions = position_of.take(rows)
    with_vector = np.flatnonzero(positions >= 0)
    likeness = view.likeness(query) if len(with_vector) > 2 * RESCORED else None
    if likeness is not None:
        of_slices = [with_vector[slices.take(with_vector) == one] for one in np.unique(slices)]
        chosen = [some.take(likeliest(likeness.take(positions.take(some)), per_slice)) for some in of_slices]
        kept = np.concatenate([np.flatnonzero(positions < 0), *chosen])
        rows, slices, positions = rows.take(kept), slices.take(kept), positions.take(kept)
        with_vector = np.flatnonzero(positions >= 0)
    scores = np.zeros(len(rows))
    scores[with_vector] = view.cosines(query, positions.take(with_vector))
    return rows, slices, scores


def take_turns(
    table: NumberedRows, rows: Rows, scores: Scores, slices: Positions, limit: int
) -> tuple[Rows, Scores]:
    """Return first the best of each slice by falling score, then the second best of each, and so on."""
    of_slices = [np.flatnonzero(slices == one) for one in np.unique(slices)]
    ranked = [best(table, rows.take(some), scores.take(some), limit) for some in of_slices]
    rows, scores = (np.concatenate(column) for column in zip(*ranked, strict=True))
    turn = np.concatenate([np.arange(len(some)) for some, _ in ranked])
    order = np.lexsort((table.numbers.take(rows), -scores, turn))[:limit]
    return rows.take(order), scores.take(order)


def _linked(
    table: FactTable, probe: TemporalProbe, mask: Mask, rows: Rows, scores: Scores, limit: int
) -> tuple[Rows, Scores]:
    """Return masked rows linked with `rows`, each with its best link weight times the score there."""
    strongest = np.full(table.size, -1.0)
    for kind in probe.spread:
        far, strength = neighbours(table, mask, rows, np.maximum(scores, 0.0), kind)
        np.maximum.at(strongest, far, strength)
    reached = np.flatnonzero(strongest >= 0)
    return best(table, reached, strongest.take(reached), limit, digits=9)
