"""Filters as boolean masks over rows; they agree with `perdure.domain.filter.admits`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import fields
from threading import Lock

import numpy as np

from perdure.domain.fact import FOREIGN, Origin
from perdure.domain.filter import Filter
from perdure.domain.time import Window
from perdure.stores.index.arrays import Array, Mask, Rows
from perdure.stores.index.packing import NEVER, TIER_CODES, TYPE_CODES, digest, micros, origin_hash, pair_hash
from perdure.stores.index.table import FactTable

_KEPT = 4
"""Filters whose masks are remembered: the channels of a recall share one."""


class FilterMask:
    """Which rows a filter admits, and what the graph channels remember about them."""

    __slots__ = ("hubs", "lock", "mask")

    def __init__(self, mask: Mask) -> None:
        self.mask = mask
        self.hubs: dict[tuple[int, int], Rows] = {}
        """(Entity, cap) -> its best-connected admitted rows; guarded by `lock`."""
        self.lock = Lock()


class FilterMasks:
    """The masks of the last filters that a table was asked with; safe for any thread."""

    def __init__(self, table: FactTable) -> None:
        self._table = table
        self._lock = Lock()
        self._masks: OrderedDict[Hashable, FilterMask] = OrderedDict()

    def get(self, where: Filter) -> FilterMask:
        """Return which rows a filter admits."""
        key = _key(where)
        with self._lock:
            if key in self._masks:
                self._masks.move_to_end(key)
                return self._masks[key]
        mask = admitted(self._table, where)
        with self._lock:
            # Filters of another present mostly admit the same rows, and share what is remembered about them.
            same = (one for one in self._masks.values() if np.array_equal(one.mask, mask))
            admitting = self._masks[key] = next(same, None) or FilterMask(mask)
            if len(self._masks) > _KEPT:
                self._masks.popitem(last=False)
            return admitting


def _key(where: Filter) -> Hashable:
    """Return a filter's value; the filter itself cannot be hashed, as its metadata is a mapping."""
    values = (getattr(where, field.name) for field in fields(where))
    return tuple(frozenset(value.items()) if isinstance(value, Mapping) else value for value in values)


def admitted(table: FactTable, where: Filter) -> Mask:
    """Return which rows a filter admits."""
    columns = table.columns
    mask = table.alive.copy()
    if not where.include_closed:
        mask &= _current(table, where)
    if not where.include_expired:
        ending = np.flatnonzero(columns["expires"] != NEVER)
        if len(ending):
            mask[ending] &= columns["expires"].take(ending) > micros(where.judged_at)
    if not where.questions:
        mask &= columns["question"] == 0
    if not where.foreign:
        mask &= ~_from(table, FOREIGN)
    if where.origins is not None:
        mask &= _from(table, where.origins)
    if where.types is not None:
        mask &= np.isin(columns["type"], [TYPE_CODES[kind] for kind in where.types])
    for expression in where.tags:
        passing = np.fromiter(map(expression.admits, table.tag_sets), np.bool_, len(table.tag_sets))
        mask &= passing.take(table.tag_code)
    for key, value in where.metadata.items():
        carrying = np.zeros(table.size, np.bool_)
        carrying[table.pairs.of(pair_hash(key, value))[0]] = True
        mask &= carrying
    if where.topic is not None:
        mask &= columns["topic"] == digest(where.topic)
    if where.tier is not None:
        mask &= columns["tier"] == TIER_CODES[where.tier]
    if where.max_classification is not None:
        mask &= columns["classification"] <= where.max_classification
    if where.document_ids is not None:
        hashes = np.array([digest(document_id) for document_id in where.document_ids], np.uint64)
        mask &= np.isin(columns["document"], hashes)
    if where.during is not None:
        said, unsure = dated_in(table, where.during), table.columns["unsure"].view(np.bool_)
        mask &= np.where(unsure, said, happened_during(table, where.during))
    return mask


def _from(table: FactTable, origins: Collection[Origin]) -> Mask:
    mask = np.zeros(table.size, np.bool_)
    for origin in origins:
        mask[table.pairs.of(origin_hash(origin))[0]] = True
    return mask


def _current(table: FactTable, where: Filter) -> Mask:
    """Evaluate `perdure.domain.filter.is_current` for all rows."""
    columns = table.columns
    if where.as_of.valid is None:
        # The present is not before a fact was recorded.
        valid_at = np.maximum(columns["recorded"], micros(where.judged_at))
    else:
        valid_at = np.full(table.size, micros(where.as_of.valid))
    known_at = NEVER - 1 if where.as_of.known is None else micros(where.as_of.known)
    begun = (columns["recorded"] <= known_at) & (columns["valid_from"] <= valid_at)
    believed: Mask = begun & (columns["retired"] > known_at)
    if where.include_ended:
        return believed
    # An end that no other fact made known was stated with the fact itself.
    end_known = (columns["end_recorded"] <= known_at) | (columns["end_recorded"] == NEVER)
    ended = (columns["valid_to"] <= valid_at) & end_known
    current: Mask = believed & ~ended
    return current


def happened_during(table: FactTable, window: Window) -> Mask:
    """Return which facts happened (undated ones: were said) in the window, guesses included."""
    return _overlap(table.columns["first"], table.columns["last"], window)


def dated_in(table: FactTable, window: Window) -> Mask:
    """Return which facts have their one date in the window."""
    return _overlap(table.columns["dated"], table.columns["dated"], window)


def _overlap(first: Array, last: Array, window: Window) -> Mask:
    mask: Mask = first < (NEVER if window.end is None else micros(window.end))
    if window.start is not None:
        mask &= last >= micros(window.start)
    return mask
