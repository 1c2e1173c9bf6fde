"""Refinement end to end: rules first, a scripted model later, with history and without doubling or reopening anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perdure import AsOf, Fact, Filter, InvalidInput, Link, LinkKind, LlmBusy, LlmRequest, Operation, Perdure
from perdure.llm.prompt import load
from tests.support.memory_store import MemoryStore
from tests.support.scripted_llm import ScriptedLlm, Step

MONDAY = datetime(2026, 5, 4, 10, tzinfo=UTC)
LIGHT = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate"}
WORDINGS = {
    "I adopted a greyhound called Pixel.": "Ann adopted Pixel, a greyhound.",
    "Pixel sleeps on my sofa.": "Pixel, Ann's greyhound, sleeps on her sofa.",
    "I live in Oslo.": "Ann's home is in Oslo.",
}
EVERYTHING = Filter(include_closed=True, include_expired=True)


class Clock:
    """Goes on by a second with every look."""

    def __init__(self) -> None:
        self.now = MONDAY + timedelta(days=100)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def turns_of(request: LlmRequest) -> list[tuple[int, str]]:
    lines = [line for line in request.messages[-1].text.splitlines() if line[:1].isdigit() and ': "' in line]
    return [(int(line.split()[0]), json.loads(line[line.index('"') :])) for line in lines]


def reword(request: LlmRequest) -> Step:
    """Facts for the turns that have a wording."""
    return {
        "facts": [
            {"turn": number, "text": WORDINGS[text]} for number, text in turns_of(request) if text in WORDINGS
        ]
    }


def open_memory(
    script: Callable[[LlmRequest], Step] = reword, store: MemoryStore | None = None, **options: object
) -> tuple[Perdure, ScriptedLlm]:
    model = ScriptedLlm(script)
    fields = {**LIGHT, "extractor": "refine", "refine_after": None, **options}
    memory = Perdure.open(store=store or MemoryStore(), llm=model, clock=Clock(), **fields)  # type: ignore[arg-type]
    return memory, model


def tell(memory: Perdure, *texts: str, day: int = 0, document: str = "d", **fields: object) -> list[str]:
    turns = [{"speaker": "Ann", "content": text} for text in texts]
    when = MONDAY + timedelta(days=day)
    return list(memory.retain("b", turns, timestamp=when, document_id=document, **fields).fact_ids)  # type: ignore[arg-type]


def refine(memory: Perdure) -> Operation:
    work = memory.operations.get("b", memory.documents.refine("b").id, wait=30)
    assert work.finished
    return work


def texts(memory: Perdure) -> list[str]:
    return sorted(fact.text for fact in memory.facts.iterate("b"))


def every_fact(memory: Perdure) -> dict[str, Fact]:
    return {fact.id: fact for fact in memory.facts.iterate("b", where=EVERYTHING)}


def test_rules_answer_at_once_and_a_model_rewrites_later_many_turns_a_call() -> None:
    memory, model = open_memory()
    with memory:
        old = tell(memory, "I adopted a greyhound called Pixel.", "Pixel sleeps on my sofa.")
        assert len(old) == 2
        assert not model.requests
        work = refine(memory)
        assert work.kind == "refine"
        assert work.result == {"turns": 2, "failed_turns": 0, "retired": 2, "facts": 2}
        assert len(model.requests) == 1
        assert texts(memory) == [
            "Ann adopted Pixel, a greyhound.",
            "Pixel, Ann's greyhound, sleeps on her sofa.",
        ]
        assert "sofa" in memory.recall("b", "Where does Pixel sleep?").recollections[0].text


def test_rewritten_facts_keep_their_history_and_point_to_what_replaced_them() -> None:
    memory, _ = open_memory()
    with memory:
        (old,) = tell(
            memory, "I adopted a greyhound called Pixel.", tags=["dogs"], trust=3, metadata={"k": "v"}
        )
        before = memory.clock()
        refine(memory)
        retired = memory.facts.get("b", old)
        assert retired.is_reworded
        new = memory.facts.get("b", retired.superseded_by or "")
        assert new.made_by == load("refine").version
        assert (new.tags, new.trust, new.metadata) == (frozenset({"dogs"}), 3, {"k": "v"})
        assert (new.speaker, new.mentioned_at, new.chunk_id) == ("Ann", MONDAY, retired.chunk_id)
        known_then = memory.recall("b", "What did Ann adopt?", as_of=AsOf(known=before))
        assert [one.fact.id for one in known_then.recollections] == [old]


def test_refining_again_does_nothing_and_asks_nothing() -> None:
    memory, model = open_memory()
    with memory:
        tell(memory, "I adopted a greyhound called Pixel.", "I own a kayak.")
        refine(memory)
        once = every_fact(memory)
        refine(memory)
        assert every_fact(memory).keys() == once.keys()
        assert len(model.requests) == 1


@pytest.mark.parametrize("how", ["restated", "pinned", "invalidated"])
def test_what_a_person_changed_is_left_alone(how: str) -> None:
    memory, model = open_memory()
    with memory:
        (first,) = tell(memory, "I adopted a greyhound called Pixel. My sofa is green.")
        if how == "restated":
            memory.facts.update("b", first, text="Ann adopted a whippet.")
        elif how == "pinned":
            memory.facts.update("b", first, tier="core")
        else:
            memory.facts.invalidate("b", first, "never happened")
        before = texts(memory)
        refine(memory)
        assert texts(memory) == before
        assert not model.requests


def test_turns_on_which_the_model_fails_keep_their_facts_until_a_retry() -> None:
    answers: list[Step] = [LlmBusy("overloaded", retry_after=1_000.0)]

    def script(request: LlmRequest) -> Step:
        return answers.pop() if answers else reword(request)

    memory, _ = open_memory(script)
    with memory:
        tell(memory, "I adopted a greyhound called Pixel.")
        failed = refine(memory)
        assert failed.status == "failed"
        assert "overloaded" in (failed.error or "")
        assert texts(memory) == ["I adopted a greyhound called Pixel."]
        memory.operations.retry("b", failed.id)
        assert memory.operations.get("b", failed.id, wait=30).status == "completed"
        assert texts(memory) == ["Ann adopted Pixel, a greyhound."]


def test_long_histories_are_rewritten_in_steps_and_new_ones_only_once() -> None:
    memory, model = open_memory()
    with memory:
        for day in range(12):
            tell(
                memory,
                f"I read book {day} about rivers. " + "It was a long story about water. " * 80,
                document=f"d{day}",
            )
        first = refine(memory)
        calls = len(model.requests)
        assert calls == 2
        assert first.total == 12
        tell(memory, "I adopted a greyhound called Pixel.", document="new")
        refine(memory)
        assert len(model.requests) == calls + 1
        assert [text for _, text in turns_of(model.requests[-1])] == ["I adopted a greyhound called Pixel."]


def test_forgetting_a_rewritten_fact_takes_its_earlier_wording_along() -> None:
    memory, _ = open_memory()
    with memory:
        (old,) = tell(memory, "I adopted a greyhound called Pixel.")
        refine(memory)
        new = memory.facts.get("b", old).superseded_by or ""
        memory.forget("b", fact_id=new)
        assert not every_fact(memory)


def test_what_follows_from_a_rewritten_fact_is_not_doubted_and_rests_on_the_new_wording() -> None:
    store = MemoryStore()
    memory, _ = open_memory(store=store)
    with memory:
        cause, effect = tell(memory, "I live in Oslo.", "My commute takes 20 minutes.")
        with store.transaction("b") as tx:
            tx.put_links([Link(cause, effect, LinkKind.CAUSAL, 0.8)])
        refine(memory)
        new = memory.facts.get("b", cause).superseded_by
        assert new is not None
        assert (new, effect) in {(one.source, one.target) for one in memory.facts.links("b", [new])}
        recalled = memory.recall("b", "How long is the commute?").recollections
        assert effect in {one.fact.id for one in recalled}
        assert not any(one.doubt for one in recalled)
        memory.facts.invalidate("b", new)
        assert any(one.doubt for one in memory.recall("b", "How long is the commute?").recollections)


def test_what_was_changed_while_the_model_worked_is_not_overwritten() -> None:
    first: list[str] = []

    def script(request: LlmRequest) -> Step:
        if first:
            memory.facts.update("b", first.pop(), text="Ann adopted a whippet.")
        return reword(request)

    memory, _ = open_memory(script)
    with memory:
        first += tell(memory, "I adopted a greyhound called Pixel.")
        refine(memory)
        assert texts(memory) == ["Ann adopted a whippet."]


def test_a_run_goes_on_after_the_process_ended(tmp_path: Path) -> None:
    fields = {**LIGHT, "extractor": "refine", "refine_after": None}
    with Perdure.open(tmp_path / "m.db", llm=ScriptedLlm(reword), **fields) as memory:  # type: ignore[arg-type]
        tell(memory, "I adopted a greyhound called Pixel.")
        plan = memory._background._refine_job.plan("b")  # type: ignore[union-attr]
        memory.jobs.submit("b", plan, not_before=datetime.now(UTC) + timedelta(seconds=1))
    with Perdure.open(tmp_path / "m.db", llm=ScriptedLlm(reword), **fields) as memory:  # type: ignore[arg-type]
        (operation,) = memory.operations.list("b")
        assert memory.operations.get("b", operation.id, wait=30).status == "completed"
        assert texts(memory) == ["Ann adopted Pixel, a greyhound."]


def test_refining_needs_a_model() -> None:
    with Perdure.open(store=MemoryStore(), **LIGHT) as memory, pytest.raises(InvalidInput, match="llm"):  # type: ignore[arg-type]
        memory.documents.refine("b")
    with pytest.raises(InvalidInput, match="extractor"):
        Perdure.open(store=MemoryStore(), extractor="refine", **LIGHT)  # type: ignore[arg-type]


def test_a_document_that_is_added_to_after_it_was_done_is_looked_at_again_but_only_what_is_new() -> None:
    memory, model = open_memory()
    with memory:
        tell(memory, "I adopted a greyhound called Pixel.", "I own a kayak.")
        refine(memory)
        refine(memory)
        tell(memory, "Pixel sleeps on my sofa.", day=1, update_mode="append")
        refine(memory)
        assert "Pixel, Ann's greyhound, sleeps on her sofa." in texts(memory)
        assert len(model.requests) == 2
        assert turns_of(model.requests[1]) == [(1, "Pixel sleeps on my sofa.")]
        assert '- Ann: "I own a kayak."' in model.requests[1].messages[-1].text
