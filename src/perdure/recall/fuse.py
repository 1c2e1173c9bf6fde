"""Fusion: the channels' ranked lists become one list of candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from math import fsum

from perdure.domain.recall import Candidate, ChannelRank, Hit
from perdure.domain.revise import made

RRF_K = 60


def reciprocal_rank(ranks: Sequence[int], k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank), in which the order of channels does not matter."""
    return fsum([1.0 / (k + rank) for rank in ranks])


@lru_cache(maxsize=64)
def _shares(k: int, count: int) -> tuple[float, ...]:
    """What the first ranks are worth."""
    return tuple(reciprocal_rank([rank], k) for rank in range(1, 1 + count))


def fuse(hits: Mapping[str, Sequence[Hit]], k: int = RRF_K, limit: int | None = None) -> list[Candidate]:
    """Reciprocal rank fusion, best first, ties by id."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    by_rank = _shares(k, max(map(len, hits.values()), default=0))
    for found in hits.values():
        for hit, share in zip(found, by_rank, strict=False):
            shares[hit.fact_id].append(share)
    fused = dict(zip(shares, map(fsum, shares.values()), strict=True))
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
    best = _highest(fused, limit)
    ranks: dict[str, list[ChannelRank]] = {fact_id: [] for fact_id in best}
    for channel in channels:
        placed = [(rank, hit) for rank, hit in enumerate(hits[channel], start=1) if hit.fact_id in ranks]
        if not placed:
            continue
        numbers, kept = zip(*placed, strict=True)
        scores = [hit.score for hit in kept]
        for hit, place in zip(
            kept, made(ChannelRank, channel=repeat(channel), rank=numbers, score=scores), strict=True
        ):
            ranks[hit.fact_id].append(place)
    return made(Candidate, fact_id=best, ranks=map(tuple, ranks.values()), fused=map(fused.__getitem__, best))


def _highest(fused: Mapping[str, float], limit: int | None) -> list[str]:
    """The ids of the highest scores, best first, ties by id; only those near the top are put in order."""
    held: Iterable[str] = fused
    if limit is not None and 0 < limit < len(fused):
        border = sorted(fused.values(), reverse=True)[limit - 1]
        held = [fact_id for fact_id, score in fused.items() if score >= border]
    return sorted(sorted(held), key=fused.__getitem__, reverse=True)[:limit]
