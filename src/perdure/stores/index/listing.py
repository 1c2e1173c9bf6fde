"""Pages of facts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from perdure.domain.time import Window
from perdure.ports.store import Order, Selection
from perdure.stores.index.arrays import Mask, Rows
from perdure.stores.index.feed import FactNos
from perdure.stores.index.masks import dated_in
from perdure.stores.index.packing import digest, name_hash
from perdure.stores.index.table import FactTable

_DATED = (Order.LATEST_DATED, Order.EARLIEST_DATED)
_DESCENDING = (Order.LATEST_DATED, Order.NEWEST_RECORDED)


def list_page(
    table: FactTable, selection: Selection, mask: Mask, among: Collection[int] | None
) -> tuple[list[int], int]:
    """Return numbers of the facts of a page in order, and how many facts the selection has in all."""
    rows = _selected(table, selection, mask, among)
    first, last = selection.offset, min(selection.offset + selection.limit, len(rows))
    if last <= first:
        return [], len(rows)
    if selection.order in _DESCENDING:
        # The reverse of the page at the other end of the ascending order.
        first, last = len(rows) - last, len(rows) - first
    if selection.order in _DATED:
        page = _by_date(table, rows, first, last)
    else:
        page = np.sort(table.numbers.take(rows), kind="stable")[first:last]
    numbers: list[int] = page.tolist()
    return numbers[::-1] if selection.order in _DESCENDING else numbers, len(rows)


def _selected(table: FactTable, selection: Selection, mask: Mask, among: Collection[int] | None) -> Rows:
    mask = mask.copy()
    for name in ("subject", "relation", "speaker"):
        value = getattr(selection, name)
        if value is not None:
            mask &= table.columns[name] == np.uint64(name_hash(value))
    if selection.entity_id is not None:
        mask &= _at(table, table.members.of(digest(selection.entity_id))[0])
    if among is not None:
        numbers = np.fromiter(among, np.int64, len(among))
        rows = table.row_of.take(numbers[numbers < len(table.row_of)])
        mask &= _at(table, rows[rows >= 0])
    if selection.dated is not None or selection.order in _DATED:
        mask &= dated_in(table, selection.dated or Window())
    return np.flatnonzero(mask)


def _at(table: FactTable, rows: Rows) -> Mask:
    mask = np.zeros(table.size, np.bool_)
    mask[rows] = True
    return mask


def _by_date(table: FactTable, rows: Rows, first: int, last: int) -> FactNos:
    """Return the facts from `first` to `last` in the order of date, ordinal and number."""
    # Only what lies between the first and the last date of the page is sorted.
    dates = table.columns["dated"].take(rows)
    low, high = np.partition(dates, (first, last - 1))[[first, last - 1]]
    earlier = int(np.count_nonzero(dates < low))
    near = rows[(dates >= low) & (dates <= high)]
    numbers = table.numbers.take(near)
    keys = (numbers, table.columns["ordinal"].take(near), table.columns["dated"].take(near))
    page: FactNos = numbers.take(np.lexsort(keys)[first - earlier : last - earlier])
    return page
