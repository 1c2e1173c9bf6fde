"""Judging: how likely each candidate helps, and for injection which of them are returned at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.recall import Candidate, Evidence, Precision, Query, QuestionSignals
from perdure.recall.components import RecallRun
from perdure.recall.current import is_hearsay, is_over
from perdure.recall.evidence import Calibrations, Judgement, judge, read_calibrations
from perdure.recall.signals import JUDGED, read_signals

BESIDE, MOST_BESIDE = 1 / 3, 5
"""Share of the floor from which on further facts go in next to one that reaches it, and the number of facts up to which they do."""
IN_WINDOW = 1.0
"""Relevance of a fact of the window, where a question asks for nothing but a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPool:
    """The candidates that may be returned, best first, and what is known of their worth."""

    pool: Sequence[Candidate]
    signals: QuestionSignals
    judgement: Judgement
    dropped: Sequence[Candidate] = ()
    """What injection leaves out."""
    abstained_because: str | None = None
    hearsay: frozenset[str] = frozenset()
    """Ids of facts that are weak evidence at best: what tools and web pages say about the user."""

    @property
    def evidence(self) -> Evidence:
        """Return the level of the answer; weak if injection keeps facts that probably help."""
        level = self.judgement.level
        if level is Evidence.STRONG and self.pool and self.pool[0].fact_id in self.hearsay:
            return Evidence.WEAK
        return Evidence.WEAK if level is Evidence.NONE and self.dropped and self.pool else level

    def relevance(self, candidate: Candidate) -> float:
        """The probability that a candidate helps; of those that were not judged the lowest of the judged."""
        return self.judgement.relevances.get(candidate.fact_id, self.judgement.lowest)

    def level(self, candidate: Candidate) -> Evidence:
        """The level of a candidate's relevance."""
        level = self.judgement.calibration.level(self.relevance(candidate))
        return Evidence.WEAK if level is Evidence.STRONG and candidate.fact_id in self.hearsay else level


def judge_pool(
    run: RecallRun, query: Query, pool: Sequence[Candidate], calibrations: Calibrations | None = None
) -> JudgedPool:
    """Judge the best candidates; for injection, drop those below the calibrated floor."""
    run.read_facts(pool[:JUDGED])
    head = [candidate for candidate in pool[:JUDGED] if candidate.fact is not None]
    is_past = query.is_past or run.where.as_of.valid is not None
    over = {c.fact_id for c in head if not is_past and c.fact is not None and is_over(c.fact, run.where)}
    signals = read_signals(query, head, over)
    calibration = (calibrations or read_calibrations()).choose(signals)
    judgement = judge(signals, calibration, [candidate.fact_id for candidate in head])
    hearsay = frozenset(c.fact_id for c in head if is_hearsay(c.fact, query, run.where))
    judged = JudgedPool(pool=pool, signals=signals, judgement=judgement, hearsay=hearsay)
    return judged if run.request.precision is Precision.SEARCH else _for_injection(judged, head)


def admit_window(run: RecallRun, query: Query, pool: Sequence[Candidate]) -> JudgedPool:
    """What lies in the window that alone was asked for is what was asked for: nothing is judged by its words."""
    signals = read_signals(query, pool, frozenset())
    relevances = {candidate.fact_id: IN_WINDOW for candidate in pool}
    judgement = Judgement(
        calibration=read_calibrations().choose(signals),
        relevances=relevances,
        confidence=IN_WINDOW if pool else 0.0,
    )
    nothing = "memory holds nothing of that time" if run.request.precision is Precision.INJECT else None
    return JudgedPool(
        pool=pool, signals=signals, judgement=judgement, abstained_because=None if pool else nothing
    )


def _for_injection(judged: JudgedPool, head: Sequence[Candidate]) -> JudgedPool:
    """Keep what reaches the floor and a few facts next to it, which may touch further aspects; nothing if no fact reaches it."""
    judgement, calibration = judged.judgement, judged.judgement.calibration
    reason: str | None = None
    kept = [candidate for candidate in head if judged.relevance(candidate) >= calibration.floor]
    if not head:
        reason = "memory holds nothing on this"
    elif not kept:
        best = max(judgement.relevances.values())
        reason = f"the best fact helps with probability {best:.2f}, which is below the floor of {calibration.floor:.2f}"
    if kept:
        beside = [
            candidate
            for candidate in head
            if BESIDE * calibration.floor <= judged.relevance(candidate) < calibration.floor
        ]
        passed = {candidate.fact_id for candidate in (*kept, *beside[: max(0, MOST_BESIDE - len(kept))])}
        kept = [candidate for candidate in head if candidate.fact_id in passed]
    else:
        passed = set()
    dropped = [candidate for candidate in judged.pool if candidate.fact_id not in passed]
    for candidate in dropped:
        candidate.cut = f"below the floor of {calibration.floor:.2f}"
    return JudgedPool(
        pool=kept, signals=judged.signals, judgement=judgement, dropped=dropped, abstained_because=reason
    )
