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
    ranks = _ranks_by_fact(hits, sorted(hits))
    fused = {fact_id: fsum([1.0 / (k + one.rank) for one in placed]) for fact_id, placed in ranks.items()}
    return _best(ranks, fused, limit)


def fuse_by_first_channel(hits: ChannelHits, limit: int) -> list[Candidate]:
    """A fact keeps the raw score of the first channel that found it; later channels only confirm it (abmind)."""
    ranks = _ranks_by_fact(hits, hits)
    return _best(ranks, {fact_id: placed[0].score for fact_id, placed in ranks.items()}, limit)


def _ranks_by_fact(hits: ChannelHits, channels: Iterable[str]) -> dict[str, list[ChannelRank]]:
    ranks: dict[str, list[ChannelRank]] = {}
    for channel in channels:
        for rank, hit in enumerate(hits[channel], start=1):
            ranks.setdefault(hit.fact_id, []).append(ChannelRank(channel, rank, hit.score))
    return ranks


def _best(
    ranks: Mapping[str, Sequence[ChannelRank]], fused: Mapping[str, float], limit: int
) -> list[Candidate]:
    order = sorted(ranks, key=lambda fact_id: (-fused[fact_id], fact_id))[:limit]
    return [
        Candidate(fact_id=fact_id, ranks=tuple(ranks[fact_id]), fused=fused[fact_id]) for fact_id in order
    ]
