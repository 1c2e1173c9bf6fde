"""Observations beside the facts: they take no fact's place, and have a small budget of tokens of their own.

A recall that names its types ranks observations with the others. Otherwise the facts are ranked among themselves, as if there
were no observations, and the profiles nearest to the question stand beside them (docs/consolidation.md has the figures).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from perdure.domain.fact import FactType
from perdure.domain.recall import Candidate, Evidence, Hit, Recollection
from perdure.errors import TRY_AGAIN, public_message
from perdure.ports.probe import KeywordProbe, SemanticProbe
from perdure.recall.components import RecallRun
from perdure.recall.freshness import drop_stale
from perdure.recall.fuse import fuse_by_reciprocal_rank
from perdure.recall.question import ParsedQuestion

CONSIDERED = 12
"""Observations of each channel that are looked at."""
MOST_BESIDE = 2
"""Observations that stand beside the facts at most."""
log = logging.getLogger(__name__)

FACT_TYPES = frozenset(FactType) - {FactType.OBSERVATION}


def observations_beside(run: RecallRun, question: ParsedQuestion, first: int) -> tuple[Recollection, ...]:
    """The observations nearest to the question that hold, by reciprocal rank of meaning and words; cited from `first` on."""
    if not run.request.include.observations or run.request.where.types is not None:
        return ()
    try:
        return _nearest(run, question, first)
    except TRY_AGAIN:
        raise
    except Exception as error:
        log.warning("observations failed", exc_info=error)
        run.trace.failed("observations", public_message(error))
        return ()


def _nearest(run: RecallRun, question: ParsedQuestion, first: int) -> tuple[Recollection, ...]:
    profiles = run.where.changed(types=frozenset({FactType.OBSERVATION}), include_ended=False)
    run = replace(run, where=profiles)
    hits: dict[str, list[Hit]] = {}
    dead = {part.part for part in run.trace.degraded}
    if question.vector is not None and "semantic" not in dead:
        hits["semantic"] = run.reading.search(SemanticProbe(question.vector), profiles, CONSIDERED)
    has_none = "semantic" in hits and not hits["semantic"]
    if question.query.terms and "keyword" not in dead and not has_none:
        hits["keyword"] = run.reading.search(KeywordProbe(question.query.terms), profiles, CONSIDERED)
    pool = run.read_ranking_fields(fuse_by_reciprocal_rank(hits, CONSIDERED))
    return _within(run, drop_stale(run, pool), run.request.include.max_observation_tokens, first)


def _within(
    run: RecallRun, pool: Sequence[Candidate], max_tokens: int, first: int
) -> tuple[Recollection, ...]:
    """The first few that fit."""
    taken: list[Recollection] = []
    for candidate in pool:
        if candidate.fact is None:
            continue
        size = run.components.tokens.count(candidate.fact.text)
        if size > max_tokens:
            break
        max_tokens -= size
        candidate.score = candidate.fused
        taken.append(
            Recollection(
                fact=candidate.fact,
                score=candidate.fused,
                citation=first + len(taken),
                tokens=size,
                evidence=Evidence.WEAK,
                candidate=candidate if run.request.explain else None,
            )
        )
        if len(taken) == MOST_BESIDE:
            break
    return tuple(taken)
