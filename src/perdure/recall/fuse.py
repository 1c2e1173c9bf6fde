"""Fusion: the channels' ranked lists become one list of candidates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from perdure.domain.recall import Candidate, ChannelRank, Hit
from perdure.domain.revise import made
from perdure.ports.hits import FactIds, sharing_ids

RRF_K = 60
_WHOLE = 2.0**52
"""Shares are summed as whole numbers of this part of one, so that the order of channels does not matter."""

Places = NDArray[np.int64]
Fused = NDArray[np.float64]


class Pool(list[Candidate]):
    """Fused candidates, best first."""

    def __init__(self, candidates: Iterable[Candidate] = (), ids: Sequence[str] = ()) -> None:
        super().__init__(candidates)
        self.ids = ids
        """Of their facts, in a form that the store may know them by sooner."""


def fuse(hits: Mapping[str, Sequence[Hit]], k: int = RRF_K, limit: int | None = None) -> Pool:
    """Reciprocal rank fusion, the sum of 1 / (k + rank), best first, ties by id."""
    found = _side_by_side(hits, sorted(hits))
    if found is None:
        return Pool()
    shares = _shares(k, max(map(len, hits.values())))
    return _best(found, np.add.reduceat(shares.take(found.rank - 1), found.starts) / _WHOLE, limit)


def fuse_stages(hits: Mapping[str, Sequence[Hit]], limit: int | None = None) -> Pool:
    """abmind: a fact keeps the raw score of the first stage that found it; later stages only confirm."""
    found = _side_by_side(hits, list(hits))
    return Pool() if found is None else _best(found, found.score.take(found.starts), limit)


@lru_cache(maxsize=64)
def _shares(k: int, count: int) -> Places:
    """What the first ranks are worth, in parts of one."""
    return np.rint(_WHOLE / (k + np.arange(1, 1 + count))).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The hits of all channels, those of one fact side by side in the order of the channels."""

    all_ids: Sequence[str]
    fact: Places
    """For each hit the place of its fact among all ids."""
    channels: Sequence[str]
    channel: Places
    rank: Places
    score: Fused
    starts: Places
    """Where the hits of each fact start."""
    counts: Places
    """How many these are."""

    def ids(self, which: Places) -> FactIds:
        """The ids of some of the facts."""
        return FactIds(self.all_ids, self.fact.take(self.starts.take(which)))

    def ranks(self, which: Places) -> list[tuple[ChannelRank, ...]]:
        """Where the channels placed some of the facts."""
        counts = self.counts.take(which)
        until = np.cumsum(counts)
        hits = np.arange(until[-1]) + np.repeat(self.starts.take(which) - until + counts, counts)
        ranks = iter(
            made(
                ChannelRank,
                channel=map(self.channels.__getitem__, self.channel.take(hits).tolist()),
                rank=self.rank.take(hits).tolist(),
                score=self.score.take(hits).tolist(),
            )
        )
        return [tuple(islice(ranks, count)) for count in counts.tolist()]


def _side_by_side(hits: Mapping[str, Sequence[Hit]], channels: Sequence[str]) -> _Found | None:
    """None when no channel found anything."""
    channels = [name for name in channels if hits[name]]
    if not channels:
        return None
    columns = sharing_ids([hits[name] for name in channels])
    sizes = [len(column) for column in columns]
    facts = np.concatenate([column.places for column in columns])
    order = np.argsort(facts, kind="stable")
    facts = facts.take(order)
    first = np.ones(len(facts), np.bool_)
    np.not_equal(facts[1:], facts[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return _Found(
        all_ids=columns[0].all_ids,
        fact=facts,
        channels=channels,
        channel=np.repeat(np.arange(len(channels)), sizes).take(order),
        rank=np.concatenate([np.arange(1, 1 + size) for size in sizes]).take(order),
        score=np.concatenate([column.scores for column in columns]).take(order),
        starts=starts,
        counts=np.append(starts[1:], len(facts)) - starts,
    )


def _best(found: _Found, fused: Fused, limit: int | None) -> Pool:
    """Candidates are made for what goes on only: thousands of hits, hundreds of candidates."""
    which = np.arange(len(fused))
    if limit is not None and limit < len(fused):
        if limit < 1:
            return Pool()
        which = np.flatnonzero(fused >= np.partition(fused, -limit)[-limit])
    ids, scores = list(found.ids(which)), fused.take(which).tolist()
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    order = sorted(by_id, key=scores.__getitem__, reverse=True)[:limit]
    chosen = which.take(order)
    candidates = made(
        Candidate,
        fact_id=[ids[place] for place in order],
        ranks=found.ranks(chosen),
        fused=[scores[place] for place in order],
    )
    return Pool(candidates, found.ids(chosen))
