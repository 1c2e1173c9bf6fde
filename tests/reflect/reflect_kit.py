"""Recalled facts for tests of thinking: a statement per line, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence, Query, RecallResult, Recollection
from perdure.domain.time import Window
from perdure.reflect.answer import compose
from perdure.reflect.reflection import Reflection

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


def fact(text: str, number: int = 1, **fields: object) -> Fact:
    """A fact said on 10 June 2026."""
    base = Fact(id=f"f{number}", bank="b", text=text, mentioned_at=NOW, source_text=text)
    return replace(base, **fields)  # type: ignore[arg-type]


def recalled(
    question: str, facts: Sequence[Fact | str], evidence: Evidence = Evidence.STRONG, asker: str | None = None
) -> RecallResult:
    """A recall that gave these facts, in this order."""
    rows = [one if isinstance(one, Fact) else fact(one, place) for place, one in enumerate(facts, start=1)]
    return RecallResult(
        query=Query(text=question, content=question, asked_at=NOW, asker=asker),
        recipe="default",
        recollections=tuple(
            Recollection(fact=one, score=0.97 - 0.05 * place, citation=place + 1, evidence=evidence)
            for place, one in enumerate(rows)
        ),
        evidence=evidence,
    )


def answered(question: str, *facts: Fact | str) -> Reflection:
    """What reflect answers from these facts alone."""
    return compose(recalled(question, facts))


def day(year: int, month: int, number: int) -> Window:
    """One day."""
    start = datetime(year, month, number, tzinfo=UTC)
    return Window(start, start.replace(hour=0) + (datetime(2000, 1, 2) - datetime(2000, 1, 1)))
