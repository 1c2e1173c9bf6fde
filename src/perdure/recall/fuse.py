"""Fusion: the channels' ranked lists become one list of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from math import fsum

from perdure.domain.recall import Candidate, ChannelRank, Hit

RRF_K = 60

Places = dict[str, list[tuple[str, int, float]]]
"""Fact id -> where each channel placed it: channel, rank, raw score."""


def reciprocal_rank(ranks: Sequence[int], k: int = RRF_K) -> float:
    """Sum of 1 / (k + rank), exact, so that the order of channels does not matter."""
    return fsum(1.0 / (k + rank) for rank in ranks)


def fuse(hits: Mapping[str, Sequence[Hit]], k: int = RRF_K, limit: int | None = None) -> list[Candidate]:
    """Reciprocal rank fusion, best first, ties by id."""
    places = _places(hits, sorted(hits))
    fused = {
        fact_id: reciprocal_rank([rank for _, rank, _ in found], k) for fact_id, found in places.items()
    }
    return _best(places, fused, limit)


def fuse_stages(hits: Mapping[str, Sequence[Hit]], limit: int | None = None) -> list[Candidate]:
    """abmind: a fact keeps the raw score of the first stage that found it; later stages only confirm."""
    places = _places(hits, list(hits))
    return _best(places, {fact_id: found[0][2] for fact_id, found in places.items()}, limit)


def _places(hits: Mapping[str, Sequence[Hit]], channels: Sequence[str]) -> Places:
    places: Places = {}
    for channel in channels:
        for rank, hit in enumerate(hits[channel], start=1):
            place = (channel, rank, hit.score)
            known = places.get(hit.fact_id)
            if known is None:
                places[hit.fact_id] = [place]
            else:
                known.append(place)
    return places


def _best(places: Places, fused: Mapping[str, float], limit: int | None) -> list[Candidate]:
    """Candidates are made for what goes on only: thousands of hits, hundreds of candidates."""
    ordered = ((-value, fact_id) for fact_id, value in fused.items())
    best = sorted(ordered) if limit is None else nsmallest(limit, ordered)
    return [
        Candidate(
            fact_id=fact_id,
            ranks=tuple(ChannelRank(channel=c, rank=r, score=s) for c, r, s in places[fact_id]),
            fused=-value,
        )
        for value, fact_id in best
    ]
