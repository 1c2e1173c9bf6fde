"""Fusion: the channels' ranked lists become one list of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from perdure.domain.recall import Candidate, ChannelRank, Hit

RRF_K = 60


def reciprocal_rank(ranks: Sequence[int], k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank), in which the order of channels does not matter."""
    return _total([1.0 / (k + rank) for rank in ranks])


def _total(shares: Sequence[float]) -> float:
    """Three and more summands are added exactly; two give the same either way, and that takes half the time."""
    return sum(shares) if len(shares) < 3 else fsum(shares)


def fuse(hits: Mapping[str, Sequence[Hit]], k: int = RRF_K, limit: int | None = None) -> list[Candidate]:
    """Reciprocal rank fusion, best first, ties by id."""
    shares: dict[str, list[float]] = {}
    by_rank = [reciprocal_rank([rank], k) for rank in range(1, 1 + max(map(len, hits.values()), default=0))]
    for found in hits.values():
        for hit, share in zip(found, by_rank, strict=False):
            shares.setdefault(hit.fact_id, []).append(share)
    fused = {fact_id: _total(found) for fact_id, found in shares.items()}
    return _best(hits, sorted(hits), fused, limit)


def fuse_stages(hits: Mapping[str, Sequence[Hit]], limit: int | None = None) -> list[Candidate]:
    """abmind: a fact keeps the raw score of the first stage that found it; later stages only confirm."""
    fused: dict[str, float] = {}
    for found in hits.values():
        for hit in found:
            fused.setdefault(hit.fact_id, hit.score)
    return _best(hits, list(hits), fused, limit)


def _best(
    hits: Mapping[str, Sequence[Hit]], channels: Sequence[str], fused: Mapping[str, float], limit: int | None
) -> list[Candidate]:
    """Candidates are made for what goes on only: thousands of hits, hundreds of candidates."""
    best = sorted(sorted(fused), key=fused.__getitem__, reverse=True)[:limit]
    places: dict[str, list[ChannelRank]] = {fact_id: [] for fact_id in best}
    for channel in channels:
        for rank, hit in enumerate(hits[channel], start=1):
            if hit.fact_id in places:
                places[hit.fact_id].append(ChannelRank(channel=channel, rank=rank, score=hit.score))
    return [
        Candidate(fact_id=fact_id, ranks=tuple(places[fact_id]), fused=fused[fact_id]) for fact_id in best
    ]
