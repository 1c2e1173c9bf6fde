"""What goes from opinions with forgotten facts: their rows, their words, and opinions that rest on nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import Fact
from perdure.domain.opinion import EvidenceLabel, OpinionEvidence
from perdure.ports.store import Rows, Transaction
from perdure.recall.beliefs import (
    EVIDENCE,
    OPINION,
    StoredOpinion,
    evidence_record,
    in_time_order,
    logs_of,
    opinion_record,
    stored_opinions,
)
from perdure.reflect.opinions.rows import opinion_fact, opinion_features, stated_strength


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left of an opinion."""

    stored: StoredOpinion
    log: list[OpinionEvidence]


def opinions_resting_on(rows: Rows, fact_ids: Collection[str] | None) -> frozenset[str]:
    """Ids of the opinions of which one of the facts is evidence, or which are among them; None: of all opinions."""
    logs = logs_of(rows)
    if fact_ids is None:
        return frozenset(logs)
    return frozenset(_resting(logs, fact_ids)) | (logs.keys() & set(fact_ids))


def _resting(logs: Mapping[str, Sequence[OpinionEvidence]], fact_ids: Collection[str]) -> list[str]:
    return [opinion_id for opinion_id, log in logs.items() if any(row.fact_id in fact_ids for row in log)]


def scrub_opinions(tx: Transaction, erased: Mapping[str, Fact]) -> frozenset[str]:
    """Take facts that are about to be deleted out of all opinions; returns the opinions' facts that lost their vectors.

    An opinion that other facts state too is worded anew in their words. One that nothing states any longer goes; so does the
    fact of one whose rest makes no belief, with the erased facts that it is synthesised from.
    """
    logs = logs_of(tx)
    touched = {
        opinion_id: [row for row in logs[opinion_id] if row.fact_id not in erased]
        for opinion_id in _resting(logs, erased)
    }
    gone = [opinion_id for opinion_id in erased if opinion_id in logs]
    if not touched and not gone:
        return frozenset()
    stored = stored_opinions(tx)
    facts = {
        fact.id: fact for fact in tx.facts(sorted({row.fact_id for log in touched.values() for row in log}))
    }
    left: dict[str, _Left] = {}
    for opinion_id, rows in touched.items():
        log = [row for row in rows if row.fact_id in facts]
        worded = _worded_anew(stored[opinion_id], log, facts) if opinion_id in stored else None
        if worded is None or opinion_id in erased:
            gone.append(opinion_id)
        else:
            left[opinion_id] = _Left(worded, log)
    _delete(tx, stored, left, gone)
    # What nothing states any longer is synthesised from what is erased, and deleted with it.
    tx.update_facts(
        [replace(fact, source_fact_ids=tuple(erased)) for fact in tx.facts(gone) if fact.id not in erased]
    )
    tx.put_records([opinion_record(one.stored) for one in left.values()])
    tx.put_records([evidence_record(one.stored.bank, one.stored.id, one.log) for one in left.values()])
    return _put_facts(tx, left, facts)


def _worded_anew(
    stored: StoredOpinion, log: Sequence[OpinionEvidence], facts: Mapping[str, Fact]
) -> StoredOpinion | None:
    """Return the opinion in the words of the first fact that still states it; None when none does."""
    for row in in_time_order(log, facts):
        fact = facts[row.fact_id]
        if row.label is EvidenceLabel.SUPPORTING and stated_strength(fact) is not None:
            return replace(stored, statement=fact.text)
    return None


def _delete(
    tx: Transaction, stored: Mapping[str, StoredOpinion], left: dict[str, _Left], gone: Sequence[str]
) -> None:
    """Delete opinions, and take them off the lists of their rivals."""
    tx.delete_records(OPINION, gone)
    tx.delete_records(EVIDENCE, gone)
    bereft = [one for one in stored.values() if one.id not in gone and not set(one.rivals).isdisjoint(gone)]
    for one in bereft:
        rivals = tuple(rival for rival in one.rivals if rival not in gone)
        if one.id in left:
            left[one.id] = replace(left[one.id], stored=replace(left[one.id].stored, rivals=rivals))
        else:
            tx.put_records([opinion_record(replace(one, rivals=rivals))])


def _put_facts(tx: Transaction, left: Mapping[str, _Left], facts: Mapping[str, Fact]) -> frozenset[str]:
    """Rewrite the facts of opinions that are still beliefs; the others go with what they were made from."""
    rewritten: dict[str, Fact] = {}
    for before in tx.facts(list(left)):
        one = left[before.id]
        after = opinion_fact(tx, one.stored, one.log, facts, before)
        if after is not None:
            rewritten[before.id] = after
    tx.update_facts(list(rewritten.values()))
    tx.put_features({fact.id: opinion_features(fact, None) for fact in rewritten.values()})
    return frozenset(rewritten)
