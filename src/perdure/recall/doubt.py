"""Doubt: what rests on something that is over, or never was so, may be so no longer.

    lives in Lisbon  ── causes ──►  the commute takes 20 minutes
    until May, then Porto           doubtful: rests on "Ann lives in Lisbon", which ended 2026-05-01

A fact rests on the causes that were stated with it, a synthesised one on its sources, an opinion on its evidence. Nothing is
stored: whether a ground holds is read from its own row, at the moment asked for. So what is restored clears the doubt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from perdure.domain.fact import Fact, FactType, LinkKind
from perdure.domain.filter import Filter, is_current
from perdure.domain.opinion import EvidenceLabel
from perdure.domain.recall import Candidate
from perdure.domain.rendering import iso_day, one_line, shortened
from perdure.ports.store import Rows
from perdure.recall.beliefs import held_opinions
from perdure.recall.components import RecallRun
from perdure.recall.score import multiply_odds

LEAST_CAUSAL = 0.6
"""Weight of a causal link from which an effect rests on its cause."""
MAX_STEPS = 3
"""How far doubt is passed on: from what ended to what follows from what follows from it."""
ENDED, WRONG = "ended", "was wrong"


def doubts(rows: Rows, facts: Sequence[Fact], where: Filter) -> dict[str, str]:
    """Fact id -> why it is doubtful, of those facts that hold at the filter's `as_of` themselves."""
    present = where.changed(include_ended=False, include_closed=False)
    current = [fact for fact in facts if is_current(fact, present)]
    opinions = [fact for fact in current if fact.type is FactType.OPINION]
    reasons = _Grounds(rows, present).reasons([fact for fact in current if fact.type is not FactType.OPINION])
    return reasons | _of_opinions(rows, opinions, present) if opinions else reasons


def _of_opinions(rows: Rows, opinions: Sequence[Fact], where: Filter) -> dict[str, str]:
    """Opinions that are held, though some of what supported them is over or was wrong."""
    beliefs = held_opinions(rows, where, [fact.id for fact in opinions])
    lost = {
        row.fact_id: opinion.id
        for opinion in beliefs
        for row in opinion.left_out
        if row.label is EvidenceLabel.SUPPORTING
    }
    reasons: dict[str, str] = {}
    for ground in rows.facts(list(lost)):
        ending = _ending(ground, where)
        if ending is not None:
            reasons.setdefault(lost[ground.id], _reason(ground, ending[0]))
    return reasons


class _Grounds:
    """What facts rest on, read step by step."""

    def __init__(self, rows: Rows, where: Filter) -> None:
        self._rows, self._where = rows, where

    def reasons(self, facts: Sequence[Fact], steps: int = MAX_STEPS) -> dict[str, str]:
        grounds_of = self._grounds_of(facts)
        if not grounds_of:
            return {}
        ids = sorted({ground for grounds in grounds_of.values() for ground in grounds})
        grounds = {ground.id: ground for ground in self._rows.facts(ids)}
        endings = {ground.id: _ending(ground, self._where) for ground in grounds.values()}
        holding = [ground for ground in grounds.values() if endings[ground.id] is None]
        passed_on = self.reasons(holding, steps - 1) if steps > 1 else {}
        reasons: dict[str, str] = {}
        for fact in facts:
            for ground_id in grounds_of.get(fact.id, ()):
                ending = endings.get(ground_id)
                if ending is not None and self._is_shaken(fact, *ending):
                    reasons.setdefault(fact.id, _reason(grounds[ground_id], ending[0]))
                elif ground_id in passed_on and is_lasting(fact):
                    reasons.setdefault(fact.id, passed_on[ground_id])
        return reasons

    def _grounds_of(self, facts: Sequence[Fact]) -> dict[str, list[str]]:
        """Fact id -> the facts that it rests on."""
        grounds: defaultdict[str, list[str]] = defaultdict(list)
        ids = {fact.id for fact in facts}
        for link in self._rows.links(sorted(ids), LinkKind.CAUSAL) if ids else ():
            if link.target in ids and link.weight >= LEAST_CAUSAL:
                grounds[link.target].append(link.source)
        for fact in facts:
            grounds[fact.id] += [source for source in fact.source_fact_ids if source != fact.id]
        return {fact_id: own for fact_id, own in grounds.items() if own}

    def _is_shaken(self, fact: Fact, how: str, since: datetime) -> bool:
        """Whether the end of a ground touches a fact: not one that was said or proven after it, nor what has happened.

        What was synthesised from a ground, or follows from one that never was so, is always touched.
        """
        if fact.source_fact_ids or how == WRONG:
            return True
        if fact.mentioned_at is not None and fact.mentioned_at >= since:
            return False
        if fact.proof_count > 1:
            proofs = self._rows.proofs([fact.id]).get(fact.id, ())
            if any(proof.seen_at is not None and proof.seen_at >= since for proof in proofs):
                return False
        return is_lasting(fact)


def _ending(ground: Fact, where: Filter) -> tuple[str, datetime] | None:
    """(how a ground ceased to hold, since when), as far as the filter knows; None while it holds or is not known yet."""
    valid_at, known_at = where.as_of.valid or where.judged_at, where.as_of.known
    if ground.recorded_at is not None and known_at is not None and ground.recorded_at > known_at:
        return None
    if ground.is_reworded:
        return None
    if ground.retired_at is not None and (known_at is None or ground.retired_at <= known_at):
        return WRONG, ground.retired_at
    is_end_known = ground.end_recorded_at is None or known_at is None or ground.end_recorded_at <= known_at
    if ground.valid_to is not None and ground.valid_to <= valid_at and is_end_known:
        return ENDED, ground.valid_to
    return None


def _reason(ground: Fact, how: str) -> str:
    when = f" {iso_day(ground.valid_to)}" if how == ENDED else ""
    return f"rests on “{shortened(one_line(ground.text).rstrip('.'))}”, which {how}{when}"


def is_lasting(fact: Fact) -> bool:
    """Whether a fact says how things are; what happened at a stated time stays so, whatever became of its cause."""
    return fact.occurred is None or fact.is_planned


def lower_doubtful(run: RecallRun, pool: Sequence[Candidate], factor: float, depth: int) -> list[Candidate]:
    """Return the pool with the doubtful ones of its head, whose facts are read, marked and scored lower; best first."""
    doubtful = judge_doubts(run, pool[:depth])
    if not doubtful or factor == 1.0:
        return list(pool)
    for candidate in doubtful:
        multiply_odds(candidate, "doubt", factor)
    return sorted(pool, key=lambda candidate: (-candidate.score, candidate.fact_id))


def judge_doubts(run: RecallRun, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Say of each candidate whose fact is read why it is doubtful, unless that is known; return those that are."""
    unjudged = [one for one in candidates if one.fact is not None and one.doubt is None]
    reasons = doubts(run.reading, [one.fact for one in unjudged if one.fact is not None], run.where)
    for candidate in unjudged:
        candidate.doubt = reasons.get(candidate.fact_id, "")
    return [one for one in candidates if one.doubt]
