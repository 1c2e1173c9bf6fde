"""Filters as boolean masks; agrees with `perdure.domain.filter.admits`."""

from __future__ import annotations

import numpy as np

from perdure.domain.filter import Filter
from perdure.domain.time import Window
from perdure.stores.sqlite.codec import ALWAYS, NEVER, TIERS, TYPES, digest, micros, pair_hash
from perdure.stores.sqlite.index.snapshot import Admission, Mask, Snapshot

_KEPT = 4


def admitted(index: Snapshot, wanted: Filter) -> Admission:
    """Which rows a filter admits; the channels of one recall share the answer."""
    for known in index.admissions:
        if known.wanted is wanted:
            return known
    mask = _admitted(index, wanted)
    admission = Admission(wanted, mask, {})
    for known in index.admissions:
        if np.array_equal(known.mask, mask):
            admission = Admission(wanted, known.mask, known.hubs)
            break
    index.admissions.insert(0, admission)
    del index.admissions[_KEPT:]
    return admission


def _admitted(index: Snapshot, wanted: Filter) -> Mask:
    columns = index.columns
    mask = index.alive.copy() if wanted.any_time else index.alive & _current(index, wanted)
    if not wanted.include_expired:
        mask &= columns["expires"] > micros(wanted.now, NEVER)
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
    mask: Mask = first != NEVER
    if window.start is not None:
        mask &= last >= micros(window.start, ALWAYS)
    if window.end is not None:
        mask &= first < micros(window.end, NEVER)
    return mask


def _current(index: Snapshot, wanted: Filter) -> Mask:
    columns = index.columns
    valid_at = micros(wanted.as_of.valid or wanted.now, NEVER)
    known_at = micros(wanted.as_of.known or wanted.now, NEVER)
    superseded = columns["superseded"].view(np.bool_)
    retired = columns["retired"] <= known_at
    ended = columns["valid_to"] <= valid_at
    mask: Mask = columns["recorded"] <= known_at
    mask &= columns["valid_from"] <= valid_at
    mask &= ~(retired & ~superseded)
    mask &= ~((~superseded | retired) & ended)
    return mask


def _carrying(index: Snapshot, pair: int) -> Mask:
    mask = np.zeros(index.size, np.bool_)
    mask[index.pair_row[index.pair_hash == np.uint64(pair)]] = True
    return mask
