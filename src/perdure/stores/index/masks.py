"""Filters as boolean masks; agrees with `perdure.domain.filter.admits`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from perdure.domain.filter import Filter
from perdure.domain.time import Window
from perdure.stores.index.snapshot import Admission, Mask, Rows, Snapshot
from perdure.stores.sqlite.codec import ALWAYS, NEVER, TIERS, TYPES, digest, micros, pair_hash

_KEPT = 4


def admitted(index: Snapshot, wanted: Filter) -> Admission:
    """Which rows a filter admits; the channels of one recall share the answer."""
    for known in index.admissions:
        if known.wanted is wanted:
            return known
    mask = _admitted(index, wanted)
    for known in index.admissions:
        if np.array_equal(known.mask, mask):
            admission = replace(known, wanted=wanted)
            break
    else:
        admission = Admission(wanted, mask, bool(mask.all()), {}, _before(index, mask))
    index.admissions.insert(0, admission)
    del index.admissions[_KEPT:]
    return admission


def _before(index: Snapshot, mask: Mask) -> dict[tuple[int, int], Rows]:
    """The hubs of an earlier filter that admitted the same of the rows that were there."""
    for known in index.earlier:
        if np.array_equal(known.mask, mask[: len(known.mask)]):
            return {**known.before, **known.hubs}
    return {}


def _admitted(index: Snapshot, wanted: Filter) -> Mask:
    columns = index.columns
    mask = index.alive.copy()
    if not wanted.any_time:
        _keep_current(index, wanted, mask)
    if not wanted.include_expired:
        ending = index.timeline.ending
        mask[ending] &= columns["expires"][ending] > micros(wanted.now, NEVER)
    if wanted.types is not None:
        mask &= np.isin(columns["type"], [TYPES[kind] for kind in wanted.types])
    for expression in wanted.tags:
        passing = np.array([expression.admits(tags) for tags in index.tag_sets], np.bool_)
        mask &= passing[index.tag_code]
    for key, value in wanted.metadata.items():
        mask &= _carrying(index, pair_hash(key, value))
    if wanted.topic is not None:
        mask &= columns["topic"] == digest(wanted.topic)
    if wanted.tier is not None:
        mask &= columns["tier"] == TIERS[wanted.tier]
    if wanted.max_classification is not None:
        mask &= columns["classification"] <= wanted.max_classification
    if wanted.document_ids is not None:
        hashes = np.array([digest(ident) for ident in wanted.document_ids], np.uint64)
        mask &= np.isin(columns["document"], hashes)
    if wanted.during is not None:
        mask &= during(index, wanted.during)
    return mask


def during(index: Snapshot, window: Window) -> Mask:
    """Which facts happened (undated ones: were said) in the window."""
    first, last = index.columns["first"], index.columns["last"]
    mask: Mask = first < (NEVER if window.end is None else micros(window.end, NEVER))
    if window.start is not None:
        mask &= last >= micros(window.start, ALWAYS)
    return mask


def dated(index: Snapshot, window: Window) -> Mask:
    """Which facts have their one date in the window."""
    dates = index.columns["dated"]
    mask: Mask = dates < (NEVER if window.end is None else micros(window.end, NEVER))
    if window.start is not None:
        mask &= dates >= micros(window.start, ALWAYS)
    return mask


def _keep_current(index: Snapshot, wanted: Filter, mask: Mask) -> None:
    """Take out of the mask what was not known or not valid; only times that can differ are compared."""
    columns, timeline = index.columns, index.timeline
    valid_at = micros(wanted.as_of.valid or wanted.now, NEVER)
    known_at = micros(wanted.as_of.known, NEVER - 1)
    least = columns["recorded"] if wanted.as_of.valid is None else np.full(index.size, ALWAYS)
    if known_at < timeline.recorded:
        mask &= columns["recorded"] <= known_at
    if valid_at < timeline.valid_from:
        mask &= columns["valid_from"] <= np.maximum(least, valid_at)
    ending = timeline.ending
    if len(ending) == 0:
        return
    superseded = columns["superseded"].view(np.bool_)[ending]
    retired = columns["retired"][ending] <= known_at
    ended = columns["valid_to"][ending] <= np.maximum(least[ending], valid_at)
    mask[ending] &= ~(retired & ~superseded) & ~((~superseded | retired) & ended)


def _carrying(index: Snapshot, pair: int) -> Mask:
    mask = np.zeros(index.size, np.bool_)
    mask[index.pair_row[index.pair_hash == np.uint64(pair)]] = True
    return mask
