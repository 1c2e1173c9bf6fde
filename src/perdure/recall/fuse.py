"""Fusion: the channels' ranked lists become one list of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from perdure.domain.recall import Candidate, ChannelRank, Hit

RRF_K = 60


def reciprocal_rank(ranks: Sequence[int], k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank), exact, so that the order of channels does not matter."""
    return fsum(1.0 / (k + rank) for rank in ranks)


def fuse(hits: Mapping[str, Sequence[Hit]], k: int = RRF_K) -> list[Candidate]:
    """Reciprocal rank fusion, best first, ties by id."""
    ranks = _ranks_by_fact(hits)
    candidates = [
        Candidate(fact_id=fact_id, ranks=found, fused=reciprocal_rank([r.rank for r in found], k))
        for fact_id, found in ranks.items()
    ]
    return sorted(candidates, key=lambda c: (-c.fused, c.fact_id))


def fuse_stages(hits: Mapping[str, Sequence[Hit]]) -> list[Candidate]:
    """abmind: a fact keeps the raw score of the first stage that found it; later stages only confirm."""
    ranks = _ranks_by_fact(hits, ordered=True)
    candidates = [
        Candidate(fact_id=fact_id, ranks=found, fused=found[0].score) for fact_id, found in ranks.items()
    ]
    return sorted(candidates, key=lambda c: (-c.fused, c.fact_id))


def _ranks_by_fact(
    hits: Mapping[str, Sequence[Hit]], *, ordered: bool = False
) -> dict[str, tuple[ChannelRank, ...]]:
    found: dict[str, list[ChannelRank]] = {}
    for channel in hits if ordered else sorted(hits):
        for rank, hit in enumerate(hits[channel], start=1):
            found.setdefault(hit.fact_id, []).append(
                ChannelRank(channel=channel, rank=rank, score=hit.score)
            )
    return {fact_id: tuple(ranks) for fact_id, ranks in found.items()}
