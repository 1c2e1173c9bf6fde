"""What a memory did with a selection, and the figures of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import stdev
from typing import Any

from bench.peers.selection import Selection
from perdure.evaluation.measures import Ranking, latency, recall_at, summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The events of a driver, or the reason why there are none."""

    versions: Mapping[str, str] = field(default_factory=dict)
    retained: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """Texts and seconds of each bank."""
    ranked: Mapping[str, tuple[Sequence[str], float]] = field(default_factory=dict)
    """Items and milliseconds of each question."""
    megabytes: float = 0.0
    load: float = 0.0
    """Of the machine, before the run."""
    failure: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the cache."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_events(cls, events: Sequence[Mapping[str, Any]], megabytes: float, load: float) -> Outcome:
        """Put together what a driver has written."""
        named = [(event["event"], event) for event in events]
        return cls(
            versions=next(dict(e["versions"]) for name, e in named if name == "opened"),
            retained={e["bank"]: (e["texts"], e["seconds"]) for name, e in named if name == "retained"},
            ranked={e["query"]: (e["ranked"], e["ms"]) for name, e in named if name == "ranking"},
            megabytes=megabytes,
            load=load,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A row of the table."""

    quality: Mapping[str, float]
    p50: float
    p95: float
    texts_a_second: float
    recall_error: float
    """The standard error of recall@5."""


def figures(outcome: Outcome, selection: Selection) -> Figures:
    """Measure the rankings against the labels; a question that did not come back is an error."""
    rankings = [
        Ranking(
            query_id=query.id,
            type=query.type,
            items=tuple(outcome.ranked[query.id][0]),
            sessions=(),
            evidence=query.evidence,
            evidence_sessions=frozenset(),
            milliseconds=outcome.ranked[query.id][1],
        )
        for bank in selection.banks
        for query in bank.queries
    ]
    times = latency(rankings)
    recalls = [recall_at(ranking.items, ranking.evidence, 5) for ranking in rankings]
    seconds = sum(spent for _, spent in outcome.retained.values())
    return Figures(
        quality=summarise(rankings, "items"),
        p50=times["p50"],
        p95=times["p95"],
        texts_a_second=sum(texts for texts, _ in outcome.retained.values()) / seconds,
        recall_error=stdev(recalls) / len(recalls) ** 0.5 if len(recalls) > 1 else 0.0,
    )
