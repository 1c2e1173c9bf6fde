"""Measures of a ranking against the labelled evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean, quantiles
from typing import Any

from perdure.evaluation.data import UNTYPED

CUTOFFS = (1, 3, 5, 10, 20)
TOTAL = "all"
"""The row over every question, whatever its type."""


def recall_at(ranked: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Return the share of the evidence among the first k."""
    return len(evidence.intersection(ranked[:k])) / len(evidence)


def any_at(ranked: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Return 1 if some of the evidence is among the first k."""
    return float(not evidence.isdisjoint(ranked[:k]))


def all_at(ranked: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """Return 1 if all of the evidence is among the first k."""
    return float(evidence.issubset(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], evidence: frozenset[str]) -> float:
    """Return 1 over the rank of the first piece of evidence, 0 if there is none."""
    return next((1.0 / rank for rank, item in enumerate(ranked, start=1) if item in evidence), 0.0)


def ndcg_at(ranked: Sequence[str], evidence: frozenset[str], k: int = 10) -> float:
    """Return discounted cumulative gain over the best possible one (Järvelin and Kekäläinen 2002), with gains of 0 and 1."""
    gain = sum(1.0 / log2(rank + 1) for rank, item in enumerate(ranked[:k], start=1) if item in evidence)
    best = sum(1.0 / log2(rank + 1) for rank in range(1, min(len(evidence), k) + 1))
    return gain / best


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What came back for a question, over items and over sessions."""

    query_id: str
    type: str
    items: tuple[str, ...]
    sessions: tuple[str, ...]
    evidence: frozenset[str]
    evidence_sessions: frozenset[str]
    milliseconds: float


def summarise(rankings: Sequence[Ranking], over: str) -> dict[str, float]:
    """Return the mean of every measure over `items` or `sessions`, without unlabelled questions."""
    pairs = [
        (r.items, r.evidence) if over == "items" else (r.sessions, r.evidence_sessions) for r in rankings
    ]
    labelled = [(ranked, evidence) for ranked, evidence in pairs if evidence]
    if not labelled:
        return {"queries": 0}
    summary: dict[str, float] = {"queries": len(labelled)}
    for name, measure in (("recall", recall_at), ("any", any_at), ("all", all_at)):
        for k in CUTOFFS:
            summary[f"{name}@{k}"] = fmean(measure(ranked, evidence, k) for ranked, evidence in labelled)
    summary["mrr"] = fmean(reciprocal_rank(ranked, evidence) for ranked, evidence in labelled)
    summary["ndcg@10"] = fmean(ndcg_at(ranked, evidence) for ranked, evidence in labelled)
    return summary


def latency(rankings: Sequence[Ranking]) -> dict[str, float]:
    """Return median and 95th percentile of the time of a recall, in milliseconds."""
    times = sorted(r.milliseconds for r in rankings)
    if len(times) < 2:
        return {"p50": times[0] if times else 0.0, "p95": times[0] if times else 0.0}
    cuts = quantiles(times, n=20, method="inclusive")
    return {"p50": cuts[9], "p95": cuts[18]}


@dataclass(frozen=True, slots=True)
class Report:
    """The rankings of an evaluation, and what it was run with."""

    recipe: str
    extractor: str
    rankings: Sequence[Ranking]

    def figures(self) -> dict[str, Any]:
        """Return every measure, per type of question, over items and over sessions; and latency."""
        named = {ranking.type for ranking in self.rankings} - {TOTAL}
        types = sorted(named) if named != {UNTYPED} else []
        rows = {kind: [r for r in self.rankings if r.type == kind] for kind in types}
        return {
            "recipe": self.recipe,
            "extractor": self.extractor,
            "latency_ms": latency(self.rankings),
            **{
                over: {
                    kind: summarise(chosen, over) for kind, chosen in {TOTAL: self.rankings, **rows}.items()
                }
                for over in ("items", "sessions")
            },
        }
