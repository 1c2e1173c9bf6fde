"""What rests on something that is over, or never was so, is shown as doubtful."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from perdure import Fact, Filter, InvalidInput, Link, LinkKind, Recollection
from perdure.domain.time import AsOf
from perdure.ports.store import Features, NewFact
from perdure.recall.doubt import doubts
from perdure.recall.recipes.default import DEFAULT, FAST
from perdure.retain.commit import Closure, FactChanges, commit
from tests.reflect.thinking import BANK, Thinking, day
from tests.support.ending import end_fact
from tests.support.memory_store import MemoryStore

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def commute(bank: Thinking, as_of: AsOf | datetime | None = None) -> Recollection:
    recalled = bank.engine.recall(BANK, "How long is Ann's commute?", as_of=as_of, explain=True)
    return next(one for one in recalled if "commute" in one.text)


@pytest.fixture
def moved() -> Thinking:
    bank = Thinking()
    (home,) = bank.say(1, "I live in Lisbon.")
    (commute,) = bank.say(1, "My commute takes 20 minutes.")
    with bank.engine._store.transaction(BANK) as tx:
        tx.put_links([Link(home, commute, LinkKind.CAUSAL, 0.65)])
    (moving,) = bank.say(30, "I moved to Porto.")
    end_fact(bank.engine, BANK, home, moving, day(30))
    return bank


def test_what_follows_from_something_that_ended_is_doubtful(moved: Thinking) -> None:
    one = commute(moved)
    assert one.doubt == "rests on “I live in Lisbon”, which ended 2026-01-31"
    assert f"⚠ doubtful: {one.doubt}" in moved.engine.prompt(
        BANK, "How long is Ann's commute?", precision="search"
    )
    assert one.candidate is not None
    assert one.candidate.boosts["doubt"] == DEFAULT.doubt


def test_what_is_restored_clears_the_doubt(moved: Thinking) -> None:
    (porto,) = (fact for fact in moved.engine.facts.iterate(BANK) if "Porto" in fact.text)
    moved.engine.facts.invalidate(BANK, porto.id)
    assert commute(moved).doubt is None
    moved.engine.facts.restore(BANK, porto.id)
    assert commute(moved).doubt is not None


def test_what_rests_on_a_wrong_fact_is_doubtful(moved: Thinking) -> None:
    (lisbon,) = (
        f for f in moved.engine.facts.iterate(BANK, where=Filter(include_closed=True)) if "Lisbon" in f.text
    )
    moved.engine.facts.invalidate(BANK, lisbon.id)
    assert commute(moved).doubt == "rests on “I live in Lisbon”, which was wrong"


def test_a_forgotten_ground_leaves_no_word_of_itself(moved: Thinking) -> None:
    (lisbon,) = (
        f for f in moved.engine.facts.iterate(BANK, where=Filter(include_closed=True)) if "Lisbon" in f.text
    )
    moved.engine.forget(BANK, fact_id=lisbon.id)
    assert commute(moved).doubt is None


def test_doubt_lowers_the_score_and_recipes_may_leave_it_out(moved: Thinking) -> None:
    def score(recipe: object) -> float:
        recalled = moved.engine.recall(BANK, "How long is Ann's commute?", recipe=recipe)  # type: ignore[arg-type]
        return next(one.score for one in recalled if "commute" in one.text)

    assert score(FAST) < score(replace(FAST, doubt=1.0))
    with pytest.raises(InvalidInput, match=r"recipe\.doubt"):
        replace(FAST, doubt=0.0)


def stored(*facts: Fact, links: tuple[tuple[str, str], ...] = (), ended: tuple[str, ...] = ()) -> MemoryStore:
    store = MemoryStore(lambda: NOW)
    causal = [Link(cause, effect, LinkKind.CAUSAL, 0.9) for cause, effect in links]
    closures = [Closure(fact_id=one, valid_to=NOW, superseded_by="new") for one in ended]
    new = Fact(id="new", bank=BANK, text="Something else.")
    rows = [NewFact(fact, Features()) for fact in (*facts, new)]
    commit(store, FactChanges(bank=BANK, now=NOW, facts=rows, links=causal, closures=closures))
    return store


def doubtful(store: MemoryStore) -> set[str]:
    with store.reading(BANK) as reading:
        facts = reading.facts(["a", "b", "c", "d"])
        return set(doubts(reading, facts, Filter().at(NOW)))


def fact(fact_id: str, text: str, **fields: object) -> Fact:
    return Fact(id=fact_id, bank=BANK, text=text, **fields)  # type: ignore[arg-type]


def test_doubt_is_passed_on_to_what_follows_from_what_follows() -> None:
    chain = stored(
        fact("a", "Ann works at Feedzai."),
        fact("b", "Ann lives in Lisbon."),
        fact("c", "Ann's commute takes 20 minutes."),
        links=(("a", "b"), ("b", "c")),
        ended=("a",),
    )
    assert doubtful(chain) == {"b", "c"}


def test_what_happened_is_not_undone_by_the_end_of_its_cause() -> None:
    store = stored(
        fact("a", "Ann works at Feedzai."),
        fact("b", "Ann bought a flat.", occurred_start=NOW, occurred_end=NOW),
        links=(("a", "b"),),
        ended=("a",),
    )
    assert doubtful(store) == set()


def test_an_opinion_is_doubtful_when_a_support_of_it_was_taken_back() -> None:
    bank = Thinking()
    bank.say(1, "I prefer tea.")
    (second,) = bank.say(2, "I love tea.")
    bank.engine.facts.invalidate(BANK, second)
    (one,) = bank.engine.recall(BANK, "tea", types=["opinion"])
    assert one.doubt == "rests on “I love tea”, which was wrong"
