"""Fusion: the channels' ranked lists become one list of candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum

from perdure.domain.recall import Candidate, ChannelRank, Hit

ChannelHits = Mapping[str, Sequence[Hit]]
"""Channel -> its hits, best first; the channels in the order of the recipe."""
Fusion = Callable[[ChannelHits, int], list[Candidate]]
"""The channels' hits and how many candidates to make of them, best first, ties by id."""
RRF_K = 60


def fuse_by_reciprocal_rank(hits: ChannelHits, limit: int, k: int = RRF_K) -> list[Candidate]:
    """Sum of 1 / (k + rank) over the channels (Cormack, Clarke and Büttcher, SIGIR 2009; k = 60 as in Hindsight).

    `fsum` rounds once, at the end, so that the order of the channels makes no difference.
    """
    shares: dict[str, list[float]] = {}
    for ranked in hits.values():
        for rank, (fact_id, _) in enumerate(ranked, start=1):
            shares.setdefault(fact_id, []).append(1.0 / (k + rank))
    fused = {fact_id: fsum(own) for fact_id, own in shares.items()}
    return _best(hits, sorted(hits), fused, limit)


def fuse_by_first_channel(hits: ChannelHits, limit: int) -> list[Candidate]:
    """A fact keeps the raw score of the first channel that found it; later channels only confirm it (abmind)."""
    fused: dict[str, float] = {}
    for ranked in hits.values():
        for fact_id, score in ranked:
            fused.setdefault(fact_id, score)
    return _best(hits, hits, fused, limit)


def _best(
    hits: ChannelHits, channels: Iterable[str], fused: Mapping[str, float], limit: int
) -> list[Candidate]:
    """The candidates with the highest fused scores; their ranks in the order of the channels."""
    by_id = sorted(fused)
    order = sorted(by_id, key=fused.__getitem__, reverse=True)[:limit]
    ranks: dict[str, list[ChannelRank]] = {fact_id: [] for fact_id in order}
    for channel in channels:
        for rank, (fact_id, score) in enumerate(hits[channel], start=1):
            if fact_id in ranks:
                ranks[fact_id].append(ChannelRank(channel, rank, score))
    return [
        Candidate(fact_id=fact_id, ranks=tuple(ranks[fact_id]), fused=fused[fact_id]) for fact_id in order
    ]
