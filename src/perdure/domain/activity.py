"""Activity: what was recalled, put into prompts and retained, for people who ask why an assistant said something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import uuid4

from perdure.domain.item import RetainResult
from perdure.domain.recall import Evidence, Precision, RecallResult

ACTIVITY = "activity"
"""Kind of the records."""
SETTING = "activity_log"
"""The bank's setting; on unless it is false."""
MAX_QUERY, MAX_IN, MAX_BELOW = 500, 50, 20
"""Characters of a question, and ids of facts that went in or stayed below the floor, that an entry keeps."""


class ActivityKind(StrEnum):
    """What was done."""

    RECALL = "recall"
    PROMPT = "prompt"
    RETAIN = "retain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One recall, prompt or retain. It names facts by id; of texts it keeps the question alone."""

    id: str
    bank: str
    kind: ActivityKind
    at: datetime
    milliseconds: float = 0.0
    query: str = ""
    fact_ids: tuple[str, ...] = ()
    """Facts that were returned, or made by a retain."""
    below_ids: tuple[str, ...] = ()
    """Facts below the floor, best first."""
    evidence: str = ""
    abstained: str = ""
    """Why nothing went into the prompt."""
    document_ids: tuple[str, ...] = ()
    closed: int = 0
    """Facts that a retain superseded."""
    skipped: int = 0
    """Facts that were stored already, and parts that were passed over."""


def recall_activity(
    bank: str, precision: Precision, query: str, result: RecallResult, dropped: Iterable[str], at: datetime
) -> Activity:
    """Return the entry of a recall; `query` is the question without secrets, `dropped` are the facts that an injection left out."""
    below = [one.fact.id for one in result.recollections if one.evidence is Evidence.NONE]
    return Activity(
        id=str(uuid4()),
        bank=bank,
        kind=ActivityKind.PROMPT if precision is Precision.INJECT else ActivityKind.RECALL,
        at=at,
        milliseconds=result.timings[-1].milliseconds if result.timings else 0.0,
        query=query[:MAX_QUERY],
        fact_ids=tuple(one.fact.id for one in result.recollections if one.evidence is not Evidence.NONE)[
            :MAX_IN
        ],
        below_ids=(*below, *dropped)[:MAX_BELOW],
        evidence=result.evidence.value,
        abstained=result.abstained_because or "",
    )


def retain_activity(result: RetainResult, at: datetime) -> Activity:
    """Return the entry of a retain."""
    return Activity(
        id=str(uuid4()),
        bank=result.bank,
        kind=ActivityKind.RETAIN,
        at=at,
        milliseconds=result.timings[-1].milliseconds if result.timings else 0.0,
        fact_ids=result.fact_ids[:MAX_IN],
        document_ids=result.document_ids[:MAX_BELOW],
        closed=len(result.superseded),
        skipped=result.unchanged + len(result.merged) + len(result.passed_over),
    )
