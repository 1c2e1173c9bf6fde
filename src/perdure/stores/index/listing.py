"""What listings and counts read from an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perdure.domain.fact import FactType, Link
from perdure.ports.store import BankStats, Selection
from perdure.stores.index.masks import admitted, dated
from perdure.stores.index.rank import in_order, ranked
from perdure.stores.index.runs import split
from perdure.stores.index.snapshot import Snapshot
from perdure.stores.sqlite.codec import KIND_OF, TYPES, digest, name_hash

Rows = NDArray[np.int64]
Ordinals = Callable[[Sequence[int]], Sequence[int]]
"""Reads the ordinals of facts by their numbers: the index does not hold them."""


def selected(index: Snapshot, selection: Selection) -> Rows:
    """Rows of a selection, but for its text."""
    mask = admitted(index, selection.wanted).mask.copy()
    for name in ("subject", "relation", "speaker"):
        wanted = getattr(selection, name)
        if wanted is not None:
            mask &= index.columns[name] == np.uint64(name_hash(wanted))
    if selection.entity_id is not None:
        member = np.zeros(index.size, np.bool_)
        number = index.entity_of.get(digest(selection.entity_id))
        if number is not None:
            rows, _ = index.members.of(number)
            member[rows[rows < index.size]] = True
        mask &= member
    if selection.by_date is not None:
        mask &= dated(index, selection.by_date)
    return np.flatnonzero(mask)


def page(index: Snapshot, rows: Rows, selection: Selection, ordinals: Ordinals) -> list[int]:
    """Numbers of the facts of a page, in order."""
    if selection.by_date is not None:
        return _page_by_date(index, rows, selection, ordinals)
    recorded = index.columns["recorded"][rows].astype(np.float64)
    order = -recorded if selection.oldest_first else recorded
    chosen, _ = ranked(index, rows, order, selection.offset + selection.limit)
    numbers: list[int] = index.numbers[chosen[selection.offset :]].tolist()
    return numbers


def _page_by_date(index: Snapshot, rows: Rows, selection: Selection, ordinals: Ordinals) -> list[int]:
    """Sorts only what lies between the first and the last date of the page."""
    first, last = selection.offset, min(selection.offset + selection.limit, len(rows))
    if last <= first:
        return []
    if not selection.oldest_first:
        first, last = len(rows) - last, len(rows) - first
    dates = index.columns["dated"][rows]
    low, high = np.partition(dates, (first, last - 1))[[first, last - 1]]
    earlier = int(np.count_nonzero(dates < low))
    near = (dates >= low) & (dates <= high)
    rows, dates = rows[near], dates[near]
    rows = rows[in_order(index, rows, -_ordinals_of_tied(index, rows, dates, ordinals), dates)]
    numbers: list[int] = index.numbers[rows[first - earlier : last - earlier]].tolist()
    return numbers if selection.oldest_first else numbers[::-1]


def _ordinals_of_tied(index: Snapshot, rows: Rows, dates: Rows, ordinals: Ordinals) -> NDArray[np.float64]:
    """Ordinals of the rows that share their date with another; 0 for the others, where none is needed."""
    _, group, sizes = np.unique(dates, return_inverse=True, return_counts=True)
    tied = sizes[group] > 1
    held = np.zeros(len(rows))
    held[tied] = ordinals(index.numbers[rows[tied]].tolist())
    return held


def links(index: Snapshot, ids: Sequence[str]) -> list[Link]:
    """The links that start or end at one of the facts."""
    found: dict[tuple[str, str, str], Link] = {}
    known = {row for ident in ids if (row := index.row(ident)) is not None}
    for kind, runs in zip(KIND_OF, index.links, strict=True):
        for row in known:
            tails, weights = runs.of(row)
            for tail, weight in zip(tails.tolist(), weights.tolist(), strict=True):
                far, outgoing = tail >> 1, tail & 1
                if far < index.size and index.alive[far]:
                    near_id, far_id = index.ids[row], index.ids[far]
                    source, target = (near_id, far_id) if outgoing else (far_id, near_id)
                    found[source, target, kind] = Link(source, target, kind, round(weight, 6))
    return [found[key] for key in sorted(found)]


def count(index: Snapshot, counted: BankStats) -> BankStats:
    """The counts that the index knows, added to the others."""
    types = np.bincount(index.columns["type"][index.alive], minlength=len(TYPES)).tolist()
    kinds = {}
    for kind, runs in zip(KIND_OF, index.links, strict=True):
        head, tail = split(runs.keys)
        far = tail >> 1
        known = (tail & 1 == 1) & (head < index.size) & (far < index.size)
        kinds[str(kind)] = int((index.alive[head[known]] & index.alive[far[known]]).sum())
    return replace(
        counted,
        facts=int(index.alive.sum()),
        current_facts=index.open.count,
        facts_by_type={str(kind): types[code] for code, kind in enumerate(FactType) if types[code]},
        links_by_kind={kind: number for kind, number in kinds.items() if number},
    )
