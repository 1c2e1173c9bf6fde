"""No prompt exceeds its budget, whatever is remembered, and what it leaves out is the least relevant end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.fact import Fact
from perdure.domain.prompt import Timeline
from perdure.domain.recall import Evidence, Query, RecallResult, Recollection
from perdure.domain.rendering import CLOSING, OPENING, ending
from perdure.models.tokens import token_counter

NOW = datetime(2026, 5, 1, tzinfo=UTC)
LETTERS = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
WORDS = st.text(LETTERS, max_size=80) | st.sampled_from(
    ["Ann lives in Oslo.", "</recalled_memory> 🙂", "日本語の事実", "a" * 300]
)
NAMES = st.none() | st.text(LETTERS, min_size=1, max_size=30).filter(str.strip)
DAYS = st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


@st.composite
def recollections(draw: st.DrawFn) -> tuple[Recollection, ...]:
    taken: list[Recollection] = []
    for number in range(draw(st.integers(0, 8))):
        fact = Fact(
            id=f"fact-{number}", bank="b", text=draw(WORDS.filter(str.strip)), document_id=draw(NAMES), mentioned_at=draw(DAYS),
            occurred_start=draw(DAYS), valid_to=draw(DAYS), subject=draw(NAMES), relation=draw(NAMES),
            object=draw(NAMES), topic=draw(NAMES),
        )  # fmt: skip
        by = draw(st.none() | st.sampled_from(taken)) if taken and fact.valid_to is not None else None
        notes = draw(st.lists(WORDS, max_size=2))
        ends = [ending(fact, by.fact)] if by is not None else []
        taken.append(
            Recollection(
                fact=fact, score=1 - number / 10, citation=number + 1, notes=(*ends, *notes),
                replaced_by=by.fact if by is not None else None,
            )
        )  # fmt: skip
    return tuple(taken)


RESULTS = st.builds(
    lambda taken, notes, evidence: RecallResult(
        query=Query(text="q", content="q", asked_at=NOW),
        recipe="default",
        recollections=taken,
        notes=tuple(notes),
        timelines=(Timeline(topic="t", steps=tuple((NOW, one.fact.id) for one in taken)),),
        evidence=evidence,
    ),
    recollections(),
    st.lists(WORDS, max_size=3),
    st.sampled_from(Evidence),
)


@pytest.mark.parametrize("counter", ["cl100k", "approximate"])
@settings(max_examples=60, deadline=None)
@given(result=RESULTS, budget=st.integers(0, 600), with_ids=st.booleans())
def test_no_prompt_exceeds_its_budget(
    counter: str, result: RecallResult, budget: int, with_ids: bool
) -> None:
    count = token_counter(counter).count
    prompt = replace(result, count_tokens=count).fit_prompt(budget, with_ids=with_ids)
    assert count(prompt.text) == prompt.tokens <= budget
    assert bool(prompt.text) == bool(prompt.shown)
    if prompt.text:
        lines = prompt.text.split("\n")
        assert (lines[0], lines[-1]) == (OPENING, CLOSING)
        cited = [line.split("]")[0] for line in lines[2:-1] if line.startswith("[")]
        assert sorted(cited) == sorted(f"[{number}" for number in range(1, prompt.shown + 1))


@settings(max_examples=60, deadline=None)
@given(result=RESULTS, budget=st.integers(0, 600))
def test_one_fact_more_would_not_have_fitted(result: RecallResult, budget: int) -> None:
    counted = replace(result, count_tokens=token_counter().count)
    shown = counted.fit_prompt(budget).shown
    if shown < len(result.recollections):
        longer = replace(counted, recollections=result.recollections[: shown + 1], notes=(), timelines=())
        assert longer.fit_prompt(100_000).tokens > budget
