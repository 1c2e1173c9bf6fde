"""Freshness: which synthesised facts still rest on sources that hold, judged when they are read.

The rows are read at that moment, so that a source which any process ended, changed or erased before counts at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.fact import Fact, FactType
from perdure.domain.filter import Filter, admits
from perdure.domain.observation import OBSERVATION_RECORD, is_fresh, read_fingerprints
from perdure.domain.recall import Candidate
from perdure.ports.notes import NOTE_PREFIX
from perdure.ports.store import Rows
from perdure.recall.components import RecallRun


def stale_observations(rows: Rows, facts: Sequence[Fact], where: Filter) -> frozenset[str]:
    """Ids of the observations among the facts of which a source is gone, over, taken back or changed."""
    observations = [fact for fact in facts if fact.type is FactType.OBSERVATION and fact.source_fact_ids]
    if not observations:
        return frozenset()
    ids = list(dict.fromkeys(source for fact in observations for source in fact.source_fact_ids))
    sources = {fact.id: fact for fact in rows.facts(ids)}
    records = {
        record.id: record for record in rows.records(OBSERVATION_RECORD, [fact.id for fact in observations])
    }
    return frozenset(
        fact.id
        for fact in observations
        if not is_fresh(fact, read_fingerprints(records.get(fact.id)), sources, where)
    )


def drop_stale(run: RecallRun, pool: Sequence[Candidate]) -> list[Candidate]:
    """The pool without observations that no longer hold; their facts are read on the way."""
    observations = [
        candidate
        for candidate in pool
        if candidate.fields.type is FactType.OBSERVATION and not candidate.fact_id.startswith(NOTE_PREFIX)
    ]
    if not observations:
        return list(pool)
    run.read_facts(observations)
    facts = [candidate.fact for candidate in observations if candidate.fact is not None]
    stale = stale_observations(run.reading, facts, run.where)
    stale |= {candidate.fact_id for candidate in observations if candidate.fact is None}
    return [candidate for candidate in pool if candidate.fact_id not in stale]


def admitted_notes(rows: Rows, notes: Sequence[Fact], where: Filter) -> list[Fact]:
    """The lines of notes that the filter admits; those that name facts also need all of them, believed and admitted."""
    ids = list(dict.fromkeys(source for note in notes for source in note.source_fact_ids))
    sources = {fact.id: fact for fact in rows.facts(ids)} if ids else {}
    told = where.changed(types=None, include_ended=True, include_closed=False)
    return [
        note
        for note in notes
        if admits(where, note)
        and all(source in sources and admits(told, sources[source]) for source in note.source_fact_ids)
    ]
