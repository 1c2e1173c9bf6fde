"""What opinions must be: the fold of their logs over the facts that count, written out once more."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from perdure import AsOf, Fact, Perdure
from perdure.domain.record import Record
from perdure.recall.beliefs import EVIDENCE, OPINION

ALPHA, DELTA, GAMMA = 0.2, 0.1, 0.5


def rows_of(record: Record) -> list[dict[str, Any]]:
    rows = record.body["rows"]
    assert isinstance(rows, list)
    return rows


def is_believed(fact: Fact, said_at: datetime, as_of: AsOf, now: datetime) -> bool:
    """Said and recorded by then, not taken back by then, and not over then as far as was known."""
    valid, known_at = as_of.valid or now, as_of.known or now
    ended = fact.valid_to is not None and fact.valid_to <= valid
    end_known = fact.end_recorded_at is None or fact.end_recorded_at <= known_at
    return (
        (as_of.valid is None or said_at <= valid)
        and (fact.recorded_at or now) <= known_at
        and (fact.retired_at is None or fact.retired_at > known_at)
        and not (ended and end_known)
    )


def folded(rows: list[tuple[datetime, str, float]]) -> float | None:
    """The formulas, written out once more."""
    supporting = [row for row in rows if row[1] == "supporting"]
    starts = [row for row in supporting if row[2] >= 0.6] or (supporting if len(supporting) > 1 else [])
    if not starts:
        return None
    c = starts[0][2]
    for row in rows:
        if row is starts[0]:
            continue
        if row[1] == "supporting":
            c = c + ALPHA * (1 - c)
        elif row[1] == "weak":
            c = c - DELTA * c
        else:
            c = c * GAMMA
    return c


def believed(
    engine: Perdure, bank: str, facts: dict[str, Fact], as_of: AsOf, now: datetime
) -> dict[str, float]:
    """Opinion id -> confidence, of those that are held: surer than every rival, or as sure and older."""
    standing: dict[str, tuple[float, float, str]] = {}
    for record in engine.records.list(EVIDENCE, bank=bank):
        counting = [
            (datetime.fromisoformat(row["at"]), facts[row["fact"]], row)
            for row in rows_of(record)
            if is_believed(facts[row["fact"]], datetime.fromisoformat(row["at"]), as_of, now)
        ]
        counting.sort(key=lambda one: (one[0], one[1].recorded_at, one[1].id))
        c = folded([(at, row["label"], row["strength"]) for at, _, row in counting])
        if c is not None:
            standing[record.id] = (round(c, 9), -counting[0][0].timestamp(), record.id)
    confidence_of: dict[str, float] = {}
    for record in engine.records.list(OPINION, bank=bank):
        rivals = record.body["rivals"]
        assert isinstance(rivals, list)
        if record.id in standing and all(standing[record.id] > standing[r] for r in rivals if r in standing):
            confidence_of[record.id] = standing[record.id][0]
    return confidence_of
