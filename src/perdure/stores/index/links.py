"""Links in both directions, as one run of postings a kind."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from perdure.stores.index.growing import Array
from perdure.stores.index.runs import Postings, Run, join
from perdure.stores.sqlite import codec

_KIND_SHIFT = np.uint64(62)
"""Rows take less than 30 bits."""


def link_runs(near: Array, far: Array, kind: Array, outgoing: Array, weight: Array) -> list[Run]:
    """A run for each kind: row -> other row << 1 | outgoing."""
    counts = 2 * np.bincount(kind, minlength=len(codec.KIND_OF))
    links = _Links((near, far, kind, outgoing, weight))
    return [Run(int(count), partial(links.of_kind, code)) for code, count in enumerate(counts)]


class _Links:
    """Links that are put in order when one kind of them is first asked for, and then let go."""

    __slots__ = ("_given", "_ordered")

    def __init__(self, given: tuple[Array, Array, Array, Array, Array]) -> None:
        self._given: tuple[Array, Array, Array, Array, Array] | None = given
        self._ordered: list[Postings] | None = None

    def of_kind(self, code: int) -> Postings:
        """The postings of a kind; threads that come here at once make the same."""
        ordered, given = self._ordered, self._given
        if ordered is None:
            ordered = _postings(*given) if given is not None else self._ordered
            assert ordered is not None
            self._ordered = ordered
            self._given = None
        return ordered[code]


def _postings(near: Array, far: Array, kind: Array, outgoing: Array, weight: Array) -> list[Postings]:
    """All kinds are sorted at once: the kind stands above the row in the key."""
    above = kind.astype(np.uint64) << _KIND_SHIFT
    keys = np.empty(2 * len(near), np.uint64)
    there, back = keys[: len(near)], keys[len(near) :]
    np.bitwise_or(above, join(near, far << 1 | outgoing), out=there)
    np.bitwise_or(above, join(far, near << 1 | ~outgoing), out=back)
    order = np.argsort(keys)
    keys, weights = keys.take(order), np.concatenate([weight, weight]).take(order)
    codes = np.arange(len(codec.KIND_OF) + 1, dtype=np.uint64)
    borders = np.searchsorted(keys, codes << _KIND_SHIFT).tolist()
    return [
        (keys[start:end] - (np.uint64(code) << _KIND_SHIFT), weights[start:end].copy())
        for code, (start, end) in enumerate(pairwise(borders))
    ]
