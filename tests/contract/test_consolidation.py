"""Consolidation on every store: observations, their freshness, marks of change, questions, and what erasure takes with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure import (
    Conflict,
    Fact,
    FactType,
    NotFound,
    Observation,
    Operation,
    OperationStatus,
    Perdure,
)
from perdure.ports.store import NewFact, Store
from perdure.reflect import consolidate as consolidating
from perdure.retain.commit import FactChanges, commit
from perdure.retain.features import features_of_edited
from tests.support.ending import end_fact

START = datetime(2026, 11, 16, 9, tzinfo=UTC)
BANK = "b"


class Clock:
    """A clock that goes on by a second per look."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(any_store: Store, clock: Clock, tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(
        store=any_store, clock=clock, embedder="hashing", reranker="none", tagger="rules",
        notes_folder=tmp_path / "notes",
    ) as engine:  # fmt: skip
        yield engine


def tell(memory: Perdure, *texts: str, speaker: str = "Ann", **fields: Any) -> list[str]:
    return [
        fact_id for text in texts for fact_id in memory.retain(BANK, text, speaker=speaker, **fields).fact_ids
    ]


def move(memory: Perdure, home: str) -> None:
    """Say that Ann lives elsewhere now, which ends the statement of her home."""
    (moved,) = tell(memory, "I live in Lisbon now.")
    end_fact(memory, BANK, home, moved, memory.clock())


def consolidate(memory: Perdure, **options: Any) -> Operation:
    operation = memory.operations.get(BANK, memory.consolidate(BANK, **options).id, wait=60)
    assert operation.status is OperationStatus.COMPLETED, operation.error
    return operation


def profile(memory: Perdure, name: str = "Ann", **options: Any) -> Observation:
    (one,) = memory.observations.list(BANK, name=name, **options)
    return one


def recalled(memory: Perdure, query: str = "Ann", **options: Any) -> set[str]:
    result = memory.recall(BANK, query, track=False, types=["observation"], **options)
    beside = memory.recall(BANK, query, track=False, **options).observations
    return {one.text for one in (*result, *beside)}


STATEMENTS = ("I live in Berlin.", "I work at Zalando.", "I have a dog named Rex.")


def test_an_entity_with_three_facts_has_a_profile_of_its_statements(memory: Perdure) -> None:
    ids = tell(memory, *STATEMENTS)
    consolidate(memory)
    one = profile(memory)
    assert {f'2026-11-16 Ann: "{said}"' for said in STATEMENTS} == {clause.text for clause in one.clauses}
    assert set(one.source_fact_ids) == set(ids)
    fact = memory.facts.get(BANK, one.id)
    assert (fact.type, fact.proof_count, fact.source_fact_ids) == (
        FactType.OBSERVATION,
        3,
        one.source_fact_ids,
    )
    assert one.text in recalled(memory)


def test_a_second_run_finds_nothing_new_and_changes_nothing(memory: Perdure) -> None:
    tell(memory, *STATEMENTS)
    consolidate(memory)
    before = memory.observations.list(BANK)
    again = consolidate(memory)
    assert (again.result or {})["facts"] == 0
    assert memory.observations.list(BANK) == before
    assert memory.observations.status(BANK).pending == 0


Change = Callable[[Perdure, str], object]
CHANGES: dict[str, Change] = {
    "forgotten": lambda memory, fact_id: memory.forget(BANK, fact_id=fact_id),
    "declared wrong": lambda memory, fact_id: memory.facts.invalidate(BANK, fact_id),
    "restated": lambda memory, fact_id: memory.facts.update(BANK, fact_id, text="Ann lives in Bonn."),
    "ended": lambda memory, fact_id: move(memory, fact_id),
    "tagged": lambda memory, fact_id: memory.facts.update(BANK, fact_id, tags=["private"]),
    "classified": lambda memory, fact_id: memory.facts.update(BANK, fact_id, classification=3),
    "of others": lambda memory, fact_id: memory.facts.set_entities(BANK, fact_id, ["Bob"]),
    "expiring": lambda memory, fact_id: memory.facts.update(BANK, fact_id, expires_at=START),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_observation_is_not_recalled_once_a_source_changed(memory: Perdure, change: str) -> None:
    berlin, *_ = tell(memory, *STATEMENTS)
    consolidate(memory)
    old = profile(memory).text
    assert old in recalled(memory)
    CHANGES[change](memory, berlin)
    assert not any("Berlin" in text for text in recalled(memory))
    assert memory.observations.list(BANK, name="Ann") == []
    consolidate(memory)
    for one in memory.observations.list(BANK):
        sources = memory.facts.get_many(BANK, one.source_fact_ids)
        assert all(source.is_open and source.tags == one.tags for source in sources)
        assert memory.facts.get(BANK, one.id).classification == max(
            source.classification for source in sources
        )
    assert memory.observations.status(BANK).pending == 0


def test_a_rewritten_profile_supersedes_the_old_one_which_stays_for_its_time(
    memory: Perdure, clock: Clock
) -> None:
    berlin, *_ = tell(memory, *STATEMENTS)
    consolidate(memory)
    old, before = profile(memory), clock()
    clock.now += timedelta(days=3)
    move(memory, berlin)
    consolidate(memory)
    new = profile(memory)
    assert "Lisbon" in new.text
    assert memory.facts.get(BANK, old.id).superseded_by == new.id
    assert recalled(memory) == {new.text}
    assert old.text in recalled(memory, as_of=before)
    assert [one.id for one in memory.observations.versions(BANK, new.id)] == [old.id, new.id]


def test_a_profile_whose_facts_became_too_few_is_closed(memory: Perdure) -> None:
    ids = tell(memory, *STATEMENTS)
    consolidate(memory)
    memory.facts.invalidate(BANK, ids[0])
    consolidate(memory)
    assert memory.observations.list(BANK, name="Ann", stale=True) == []


def test_an_observation_of_facts_that_stay_holds_again_when_its_successor_was_erased(memory: Perdure) -> None:
    tell(memory, *STATEMENTS)
    consolidate(memory)
    first = profile(memory).text
    (extra,) = tell(memory, "I drive a Volvo.")
    consolidate(memory)
    assert "Volvo" in profile(memory).text
    memory.forget(BANK, fact_id=extra)
    assert profile(memory).text == first
    consolidate(memory)
    assert profile(memory).text == first


def test_nothing_of_an_erased_fact_is_left_in_any_thought(
    memory: Perdure, any_store: Store, tmp_path: Path
) -> None:
    _, secret, _, _ = tell(memory, STATEMENTS[0], "I have a cat named Quuxcorp.", *STATEMENTS[1:])
    consolidate(memory)
    tell(memory, "I drive a Volvo.")
    consolidate(memory)
    assert "Quuxcorp" in str([memory.observations.list(BANK, stale=True), notes_text(tmp_path)])
    memory.forget(BANK, fact_id=secret)
    kinds = [
        "observation", "observation_subject", "consolidation", "consolidation_pending", "consolidation_subject", "note",
        "note_pending", "question",
    ]  # fmt: skip
    records = [memory.records.list(kind, bank=BANK) for kind in kinds]
    facts = list(memory.facts.iterate(BANK))
    assert "quuxcorp" not in str([records, facts, notes_text(tmp_path)]).lower()


def notes_text(folder: Path) -> str:
    return "".join(path.read_text() for path in sorted((folder / "notes").rglob("*.md")))


def test_forgetting_an_entity_takes_its_profile_and_its_statements(memory: Perdure) -> None:
    tell(memory, *STATEMENTS)
    consolidate(memory)
    one = profile(memory)
    memory.forget(BANK, entity_id=one.subject.key)
    with pytest.raises(NotFound):
        memory.observations.get(BANK, one.id)
    assert memory.facts.list(BANK).total == 0


def test_scopes_keep_tags_apart(memory: Perdure) -> None:
    tell(memory, *STATEMENTS, tags=["work"])
    tell(memory, "I like tea.", "I like rain.", "I drive a Volvo.", tags=["home"])
    consolidate(memory)
    by_scope = {tuple(one.tags): one.text for one in memory.observations.list(BANK, name="Ann")}
    assert by_scope.keys() == {("work",), ("home",)}
    assert "Volvo" not in by_scope["work",]
    assert "Zalando" not in by_scope["home",]
    assert dict(memory.observations.scopes(BANK))["work",] >= 1


def test_a_run_over_scopes_looks_only_at_facts_of_these_tags(memory: Perdure) -> None:
    tell(memory, *STATEMENTS, tags=["work"])
    tell(memory, "I like tea.", "I like rain.", "I drive a Volvo.", tags=["home"])
    assert (consolidate(memory, observation_scopes=[["home"]]).result or {})["facts"] == 3
    assert {tuple(one.tags) for one in memory.observations.list(BANK, name="Ann")} == {("home",)}
    assert (consolidate(memory).result or {})["facts"] == 6


def test_a_run_under_way_is_returned_instead_of_a_second_one(memory: Perdure) -> None:
    tell(memory, *STATEMENTS)
    first, second = memory.consolidate(BANK), memory.consolidate(BANK)
    done = memory.operations.get(BANK, first.id, wait=60)
    assert second.id == first.id or done.finished


def test_a_poisoned_fact_is_set_aside_named_and_tried_again(
    memory: Perdure, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, poison = tell(memory, *STATEMENTS, "I drive a Volvo.")
    touched = consolidating.touched_subjects

    def choking(reading: Any, facts: Any, rules: Any) -> Any:
        if any(fact.id == poison for fact in facts):
            raise ValueError("cannot be read")
        return touched(reading, facts, rules)

    monkeypatch.setattr(consolidating, "touched_subjects", choking)
    result = consolidate(memory).result or {}
    assert result["failed_fact_ids"] == [poison]
    assert memory.observations.status(BANK).failed == (poison,)
    assert poison not in profile(memory).source_fact_ids
    monkeypatch.undo()
    assert (consolidate(memory).result or {})["facts"] == 0
    assert memory.observations.recover(BANK) == 1
    assert memory.observations.recover(BANK) == 0
    consolidate(memory)
    assert "Volvo" in profile(memory).text
    assert memory.observations.status(BANK).failed == ()


def test_facts_come_before_the_watermark_is_found_again_after_an_erasure(memory: Perdure) -> None:
    ids = tell(memory, *(f"I like {thing}." for thing in "tea jazz rain maps figs chess rugby opera".split()))
    consolidate(memory)
    for fact_id in (*ids[:2], ids[-1]):
        memory.forget(BANK, fact_id=fact_id)
    tell(memory, "I drive a Volvo.")
    assert memory.observations.status(BANK).pending >= 1
    consolidate(memory)
    assert "Volvo" in profile(memory).text
    assert memory.observations.status(BANK).pending == 0


def state(memory: Perdure, store: Store, value: str, *, trust: int = 2, speaker: str = "Tom") -> str:
    """A statement of where Bob lives, stored without a retain that might decide something."""
    now = memory.clock()
    fact = Fact(
        id=f"{speaker}-{value}", bank=BANK, text=f"Bob lives in {value}.", subject="Bob", relation="lives_in",
        object=value, trust=trust, speaker=speaker, mentioned_at=now, recorded_at=now,
    )  # fmt: skip
    commit(store, FactChanges(bank=BANK, facts=[NewFact(fact, features_of_edited(fact, None))]))
    return fact.id


def test_an_undecided_conflict_is_asked_once(memory: Perdure, any_store: Store) -> None:
    rome, paris = state(memory, any_store, "Rome"), state(memory, any_store, "Paris", speaker="Eva")
    consolidate(memory)
    consolidate(memory)
    (question,) = memory.questions.list(BANK)
    assert {option.fact_id for option in question.options} == {rome, paris}
    assert "Rome" in question.text
    assert "Paris" in question.text


@pytest.mark.parametrize("by_id", [True, False])
def test_an_answer_takes_the_other_value_back_and_is_remembered(
    memory: Perdure, any_store: Store, by_id: bool
) -> None:
    rome, paris = state(memory, any_store, "Rome"), state(memory, any_store, "Paris", speaker="Eva")
    consolidate(memory)
    (question,) = memory.questions.list(BANK)
    answered = memory.questions.answer(BANK, question.id, rome if by_id else "rome")
    assert answered.answer == rome
    assert memory.facts.get(BANK, paris).superseded_by == rome
    assert memory.facts.get(BANK, paris).retired_at is not None
    consolidate(memory)
    assert memory.questions.list(BANK) == []
    assert [one.answer for one in memory.questions.list(BANK, answered=True)] == [rome]


def test_an_answer_that_nobody_stated_becomes_a_fact(memory: Perdure, any_store: Store) -> None:
    state(memory, any_store, "Rome")
    state(memory, any_store, "Paris", speaker="Eva")
    consolidate(memory)
    (question,) = memory.questions.list(BANK)
    answered = memory.questions.answer(BANK, question.id, "Oslo")
    fact = memory.facts.get(BANK, answered.answer or "")
    assert (fact.subject, fact.relation, fact.object) == ("Bob", "lives_in", "Oslo")
    assert [one.object for one in memory.facts.list(BANK, subject="Bob").facts] == ["Oslo"]


def test_a_question_goes_with_the_facts_that_it_is_about(memory: Perdure, any_store: Store) -> None:
    rome, _ = state(memory, any_store, "Rome"), state(memory, any_store, "Paris", speaker="Eva")
    consolidate(memory)
    (question,) = memory.questions.list(BANK)
    memory.forget(BANK, fact_id=rome)
    assert memory.questions.list(BANK, answered=True) == []
    with pytest.raises((NotFound, Conflict)):
        memory.questions.answer(BANK, question.id, "both")
